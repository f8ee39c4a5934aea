"""The native search: batches of simulations over the bit-parallel simulator.

This is the checked Python side of the kernels in `ggp_agent.search.simulation`: the tree, the
states that the game comes to, and the choice of a move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.search.final import choose_move
from ggp_agent.search.root import bounds_after, root_node
from ggp_agent.search.search_thread import SearchThread
from ggp_agent.search.settings import F32, Tuner
from ggp_agent.search.stopping import Interrupted, stop_reasons
from ggp_agent.search.strategies import dispatch, evaluation
from ggp_agent.search.trace import Trace, principal_variation
from ggp_agent.search.tree import (
    EVER,
    MOST_RECYCLED,
    OPEN,
    SOLVED,
    STEP,
    TERMINAL,
    clear,
    go_on,
)


class NativeSearch(SearchThread):
    """A `Thinker` that searches with decoupled MCTS, as its agent's parameters say.

    The same seed and one simulation in flight give the same tree.
    """

    def __init__(
        self,
        game: CompiledModel,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
    ) -> None:
        super().__init__(game, role, agent, seed, tuner)
        self._random = np.random.Generator(np.random.PCG64([seed, 2]))
        self.enter(self._layout.initial.tobytes(), None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; keeps what the tree knows of the new state."""
        assert isinstance(state, bytes)
        self._begin(joint_move is not None)
        bounds = None
        if joint_move is not None and self._solves:
            bounds = bounds_after(self._tree, self._game, self._root, joint_move)
        if joint_move is None or self._tree.counters[EVER] > MOST_RECYCLED:
            clear(self._tree)
        if joint_move is None:
            dispatch.forget_all(self._arrays)
        else:
            go_on(self._tree)
            dispatch.forget_after_move(self._layout, self._arrays)
        self._root = root_node(self._layout, self._lanes, self._tree, self._arrays, state)
        if bounds is not None:
            scores = self._tree.scores[self._root]
            scores[:, 0] = np.maximum(scores[:, 0], bounds[:, 0])
            scores[:, 1] = np.minimum(scores[:, 1], bounds[:, 1])
        self._go_to_root()
        self._record["step"] = self._tree.counters[STEP]
        if self._record["kind"] == SOLVED and not self._knows_a_move():
            self._record["kind"] = OPEN
        self._is_open = bool(self._record["kind"] == OPEN)

    def evaluate_by(self, weights: F32, bias: F32) -> None:
        """Evaluate states by these weights (R, F) and biases (R,); the search begins anew."""
        evaluation.learn(self._arrays.evaluation, weights, bias)
        self.enter(self._tree.states[self._root].tobytes(), None)

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        self.think_until(stop_reasons(self._agent, deadline, interrupted))

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return choose_move(self.root_moves(), str(self._agent["final"]), self._random)

    def root_statistics(self) -> tuple[list[Move], NDArray[np.int32], NDArray[np.float64]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        moves = self.root_moves()
        visits = np.array([move.visits for move in moves], np.int32)
        return [m.move for m in moves], visits, np.array([m.total for m in moves])

    def trace(self) -> Trace:
        """What the thinking in the present state found."""
        variation = principal_variation(self._tree, self._game, self._root)
        return replace(self.counts(), moves=self.root_moves(), variation=variation)

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return self.report_of(self.trace())

    def report_of(self, trace: Trace, others: Sequence[Tuner] = ()) -> Mapping[str, object]:
        """A trace as JSON values, with what our tuner has learned together with others."""
        return {**trace.as_json(self._game.write_move), **self.tuner.report(others)}

    @property
    def is_over(self) -> bool:
        """Whether the present state is the end of the game."""
        return bool(self._record["kind"] == TERMINAL)
