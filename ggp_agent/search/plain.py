"""The search in plain Python over any `ForwardModel`: the reference that can be read in a minute.

It is what the native search does with one simulation in flight and one playout a leaf, but for
proven scores, decisive moves and learnt evaluations.  It also plays what the native search can't:
rule sheets that only Prolog can handle, and games that are not written in GDL, with rewards on any
scale, chance in every step, values of states that are not over, and roles that can't see
everything.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from forward_model.model import AnyModel
from ggp_agent.agents import Agent
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.plain_tree import (
    JointMove,
    Move,
    PlainTree,
    Position,
    RewardRange,
    Simulation,
    State,
    joint_move,
)
from ggp_agent.search.selection import VO, T
from ggp_agent.search.settings import FixedSettings, Tuner, new_settings
from ggp_agent.search.stopping import Interrupted, Progress, is_to_stop, stop_reasons
from ggp_agent.search.strategies import dispatch
from ggp_agent.search.strategies.move_history import PlainMoveHistory
from ggp_agent.search.strategies.plain import PlainGame, draw_among_best
from ggp_agent.search.trace import Trace

ONLY_ROW, ONE = np.zeros(1, np.int32), np.ones(1, np.int32)
"""The row of settings of the only simulation in flight, and how many there are."""


class PlainSearch:
    """A `Thinker`: decoupled MCTS, one simulation after the other."""

    def __init__(
        self,
        model: AnyModel,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
    ) -> None:
        self._model, self._role, self._agent = model, role, agent
        self._roles, self._chance_role = range(len(model.role_names)), model.chance_role
        self._random = random.Random(seed)
        self.tuner: Tuner = tuner or FixedSettings(agent)
        self._settings = new_settings(1, len(self._roles))
        self._keeps_history = dispatch.options_of(agent, -1).history
        self._limit = int(agent.number("depth"))
        self.enter(model.initial_state, None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; of the state, nothing is kept but what our role can tell."""
        if joint_move is not None:
            self._leave_state()
        self.tuner.ask_move(self._settings.of_move)
        self.tuner.ask_batch(self._settings.of_batch)
        if joint_move is None:
            self._begin_game()
        else:
            self._tree.next_step()
            self.history.forget_after_move(self._settings.of_move)
        self._root = self._drawn_root(state)
        self._totals = np.zeros(len(self._roles))
        self._simulations = self._edges = self._deepest = self._transitions = 0
        self._seconds = 0.0

    def _begin_game(self) -> None:
        bounds = self._model.reward_bounds
        self._ranges = [RewardRange(*bounds) for _ in self._roles]
        self.history = PlainMoveHistory(self._ranges)
        game = PlainGame(self._agent, self._ranges, self._settings, self.history)
        self._playout = dispatch.PLAYOUTS[str(self._agent["playout"])](game)
        self._selection = dispatch.SELECTIONS[str(self._agent["selection"])](game)
        self._tree = PlainTree(self._model)

    def _leave_state(self) -> None:
        """The game goes on by a real move."""
        if self.tuner.watches_batches and self._simulations:
            self.tuner.tell_move(self._totals, self._simulations)
        self.tuner.new_move()

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; one simulation may overrun the deadline, so half of one is kept."""
        reasons = stop_reasons(self._agent, deadline, interrupted)
        progress = Progress(time.monotonic(), self._seconds, simulations=self._simulations)
        progress.is_open = self._root.rewards is None
        while not is_to_stop(reasons, progress) and self._simulate(deadline):
            before, progress.now = progress.now, time.monotonic()
            self._seconds += progress.now - before
            progress.seconds, progress.simulations = self._seconds, self._simulations
            progress.next_seconds = max(progress.next_seconds, progress.now - before)

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return choose_move(self.root_moves(), str(self._agent["final"]), self._random)

    def root_moves(self) -> list[RootMove]:
        """What is known of our role's moves at the root."""
        node, normalise = self._root.nodes[self._role], self._ranges[self._role].normalise
        pairs = zip(node.moves, node.statistics, strict=True)
        return [RootMove(move, int(a.count), normalise(a.total, a.count)) for move, a in pairs]

    def root_statistics(self) -> tuple[list[Move], list[int], list[float]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        moves = self.root_moves()
        return [m.move for m in moves], [m.visits for m in moves], [m.total for m in moves]

    def trace(self) -> Trace:
        """What the thinking in the present state found."""
        moves = self.root_moves() if self._root.rewards is None else []
        return replace(self.counts(), moves=moves)

    def counts(self) -> Trace:
        """The same without the root's moves."""
        return Trace(
            simulations=self._simulations,
            playouts=self._simulations,
            visited_nodes=self._edges + self._transitions,
            seconds=self._seconds,
            tree_nodes=len(self._tree.nodes[self._role]),
            recycled=0,
            memory=0,
            root_visits=self._root.nodes[self._role].visits,
            mean_depth=self._edges / max(1, self._simulations),
            deepest=self._deepest,
            low=0,
            high=100,
        )

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {**self.trace().as_json(self._model.write_move), **self.tuner.report()}

    def _drawn_root(self, state: State) -> Position:
        """A root that to our role looks like this state."""
        return self._tree.visit(self._model.determinize(state, self._role, self._random))[0]

    # 1. selection, 2. expansion

    def _simulate(self, deadline: float) -> bool:
        """One simulation; False where the time ran out in it."""
        self.tuner.ask(ONLY_ROW, ONE, self._settings.values)
        if self.tuner.watches_batches:
            self.tuner.ask_batch(self._settings.of_batch)
        simulation = Simulation(self._settings.values[0])
        position, new = self._drawn_root(self._root.state), False
        self._selection.begin(position)
        while True:
            self._selection.arrive(position, simulation.settings)
            if position.rewards is not None or new or len(simulation.path) >= self._limit:
                break
            picks = tuple(self._select(simulation, position, role) for role in self._roles)
            simulation.path.append((position, picks))
            joint = joint_move(position, picks)
            state = self._model.next_state(position.state, joint, self._random)
            position, new = self._tree.visit(state)
        rewards = position.rewards or self._play_out(simulation, position, deadline)
        if rewards is None:
            return False
        self._back_up(simulation, position, rewards)
        pairs = zip(self._ranges, rewards, strict=True)
        shares = np.array([scale.normalise(reward) for scale, reward in pairs])
        self.tuner.tell(ONLY_ROW, shares[np.newaxis], ONE)
        self._totals += shares
        if self.tuner.watches_batches:
            self.tuner.tell_batch(shares, 1)
        return True

    def _select(self, simulation: Simulation, position: Position, role: int) -> int:
        settings, node = simulation.settings[role], position.nodes[role]
        if len(node.moves) == 1:
            return 0
        if role == self._chance_role:
            return self._random.randrange(len(node.moves))
        if node.visits < settings[T]:
            move = self._playout.choose(role, node.moves, settings, self._random)
            return node.moves.index(move)
        places = range(len(node.moves))
        values = [self._selection.value(role, node, place, settings) for place in places]
        return draw_among_best(values, float(settings[VO]), self._random)

    # 3. playout

    def _play_out(
        self, simulation: Simulation, leaf: Position, deadline: float
    ) -> tuple[float, ...] | None:
        """The rewards at the end of a playout; None where the time ran out in it."""
        state, model = leaf.state, self._model
        for _ in range(self._limit - len(simulation.path)):
            if model.is_terminal(state):
                return model.rewards(state)
            if time.monotonic() >= deadline:
                return None
            moves = [model.legal_moves(state, role) for role in self._roles]
            if not all(moves):
                return model.rewards(state)
            joint = [self._played(role, moves[role], simulation) for role in self._roles]
            simulation.playout.append(joint)
            state = model.next_state(state, joint, self._random)
        value = None if model.is_terminal(state) else model.heuristic(state)
        return model.rewards(state) if value is None else value

    def _played(self, role: int, moves: tuple[Move, ...], simulation: Simulation) -> Move:
        if role == self._chance_role:
            return self._random.choice(moves)
        return self._playout.choose(role, moves, simulation.settings[role], self._random)

    # 4. backpropagation

    def _back_up(self, simulation: Simulation, leaf: Position, rewards: tuple[float, ...]) -> None:
        path, moves = simulation.path, simulation.moves()
        for scale, reward in zip(self._ranges, rewards, strict=True):
            scale.widen(reward)
        for level, position in enumerate([*(position for position, _ in path), leaf]):
            for node in position.nodes:
                node.visits += 1
            self._selection.learn(position, level, moves, rewards)
        for position, picks in path:
            for role, pick in enumerate(picks):
                position.nodes[role].statistics[pick].add(rewards[role])
        if self._keeps_history:
            self.history.learn(moves, rewards)
        self._simulations += 1
        self._edges += len(path)
        self._deepest = max(self._deepest, len(path))
        self._transitions += len(simulation.playout)
