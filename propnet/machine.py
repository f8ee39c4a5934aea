"""The propnet as a `StateMachine`: states as values, through the same kernels as the simulator.

Convenient rather than fast: each call sweeps 512 lanes, also to learn about one state; who has many
states asks for all at once.  The native search does not use it, but only what is `compiled`; the
match manager, perft and the conformance tests do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from gdl.errors import ReasonerError
from gdl.grounding import GROUNDER_BYTES, ground
from gdl.rules import RuleSheet, Term, write_term
from gdl.state_machine import MAX_GOAL, JointMove, Move, State, StateMachine
from propnet import kernels
from propnet.compiling import Compilation, compile_in_background
from propnet.layout import U64, layout_of, new_lanes, pack, unpack
from propnet.network import Network, compile_network
from propnet.vectors import LANES, WORDS

T = TypeVar("T")


class PropnetStateMachine(StateMachine):
    """`gdl.state_machine.StateMachine` over a network; a state is the bytes of a packed state."""

    speed = 1

    def __init__(self, network: Network) -> None:
        self.network = network
        self.layout = layout_of(network)
        self._compilation: Compilation | None = None
        self._asked_for_code = False
        self._lanes = new_lanes(self.layout, seed=0)
        self._goals = np.zeros((len(network.roles), LANES), np.uint8)
        self._legal = np.zeros((len(network.legal), WORDS), np.uint64)
        self._moves = [{move: i for i, move in enumerate(moves)} for moves in network.moves]
        self._fluents = {fluent: i for i, fluent in enumerate(network.fluents)}
        self._seen: Sequence[State] = ()

    @classmethod
    def from_rules(
        cls, rule_sheet: RuleSheet, *, seconds: float | None = None, memory: int = GROUNDER_BYTES
    ) -> PropnetStateMachine:
        """Ground a rule sheet and compile it (see `gdl.grounding.ground` for the errors)."""
        return cls(compile_network(ground(rule_sheet, seconds=seconds, memory=memory)))

    def compile(self) -> Compilation | None:
        """Machine code for all who use `layout`, made in the background from the first call on.

        None where it isn't worth its price.
        """
        if not self._asked_for_code:
            self._compilation = compile_in_background(self.network, self.layout)
            self._asked_for_code = True
        return self._compilation

    @cached_property
    def compiled(self) -> CompiledModel:
        """See `ForwardModel.compiled`."""
        network = self.network
        return CompiledModel(
            layout=self.layout,
            moves=tuple(tuple(moves) for moves in network.moves),
            best_rewards=tuple(max((0, *v)) / MAX_GOAL for v in network.goal_values),
            chance_role=self.chance_role,
            write_move=self.write_move,
        )

    @property
    def roles(self) -> tuple[Term, ...]:
        """See `StateMachine.roles`."""
        return self.network.roles

    @property
    def initial_state(self) -> State:
        """See `StateMachine.initial_state`."""
        return self.layout.initial.tobytes()

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        """See `StateMachine.legal_moves`."""
        return self.legal_moves_of([state], role)[0]

    def next_state(
        self, state: State, joint_move: JointMove, random: Random | None = None
    ) -> State:
        """See `StateMachine.next_state`."""
        return self.next_states([state], [joint_move])[0]

    def is_terminal(self, state: State) -> bool:
        """See `StateMachine.is_terminal`."""
        return self.are_terminal([state])[0]

    def goals(self, state: State) -> tuple[int, ...]:
        """See `StateMachine.goals`."""
        return self._goals_of([state])[0]

    def legal_moves_of(self, states: Sequence[State], role: int) -> list[tuple[Move, ...]]:
        """See `ForwardModel.legal_moves_of`."""
        found: list[tuple[Move, ...]] = []
        low, high = self.layout.span[role : role + 2]
        moves = self.network.moves[role]
        for some in _lanefuls(states):
            self._see(some)
            legal = _lanes_of(self._legal[low:high], len(some))
            names = [moves[number] for number in np.nonzero(legal.T)[1].tolist()]
            ends = np.cumsum(legal.sum(axis=0)).tolist()
            found += (tuple(names[i:j]) for i, j in pairwise([0, *ends]))
        return found

    def next_states(
        self,
        states: Sequence[State],
        joint_moves: Sequence[JointMove],
        random: Random | None = None,
    ) -> list[State]:
        """See `StateMachine.next_states`."""
        following: list[State] = []
        for some in _lanefuls(list(zip(states, joint_moves, strict=True))):
            numbers = np.array([self._numbers(joint_move) for _, joint_move in some], np.int32)
            following += self._advance([state for state, _ in some], numbers)
        return following

    def are_terminal(self, states: Sequence[State]) -> list[bool]:
        """See `ForwardModel.are_terminal`."""
        found: list[bool] = []
        literal = self.layout.terminal
        for some in _lanefuls(states):
            self._see(some)
            holds = _lanes_of(self._lanes.values[literal >> 1], len(some))
            found += (holds ^ bool(literal & 1)).tolist()
        return found

    def rewards_of(self, states: Sequence[State]) -> list[tuple[float, ...]]:
        """See `ForwardModel.rewards_of`."""
        return [tuple(goal / MAX_GOAL for goal in goals) for goals in self._goals_of(states)]

    def fluents(self, state: State) -> frozenset[Term]:
        """See `StateMachine.fluents`."""
        bits = unpack(self._packed([state]), len(self.network.fluents))[0]
        return frozenset(self.network.fluents[i] for i in np.flatnonzero(bits))

    def state_from(self, fluents: Iterable[Term]) -> State:
        """See `StateMachine.state_from`; a fluent that play can't reach is an error."""
        bits = np.zeros((1, len(self.network.fluents)), np.bool_)
        for fluent in fluents:
            if fluent not in self._fluents:
                raise ReasonerError(f"{write_term(fluent)} is no fluent that play can reach")
            bits[0, self._fluents[fluent]] = True
        return pack(bits).tobytes()

    def _goals_of(self, states: Sequence[State]) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for some in _lanefuls(states):
            self._see(some)
            kernels.read_goals(self.layout, self._lanes, self._goals)
            found += map(tuple, self._goals[:, : len(some)].T.tolist())
        return found

    def _advance(self, states: Sequence[State], numbers: NDArray[np.int32]) -> list[State]:
        """The states that follow by joint moves (n, R) of move numbers; no more than LANES."""
        self._see(states)
        kernels.set_moves(self.layout, self._lanes, numbers, len(states))
        self._lanes.active[:] = kernels.ALL
        kernels.advance(self.layout, self._lanes)
        self._seen = ()
        following = np.zeros((len(states), len(self.layout.initial)), np.uint64)
        kernels.save_states(self.layout, self._lanes, following, len(states))
        return [row.tobytes() for row in following]

    def _packed(self, states: Sequence[State]) -> U64:
        assert all(isinstance(state, bytes) for state in states)
        words = np.frombuffer(b"".join(states), np.uint64)  # type: ignore[arg-type]
        return words.reshape(len(states), -1).copy()  # writable, or numba takes it for another type

    def _see(self, states: Sequence[State]) -> None:
        """Evaluate positions, no more than LANES."""
        if states == self._seen:
            return
        kernels.load_states(self.layout, self._lanes, self._packed(states), len(states))
        kernels.see_position(self.layout, self._lanes)
        kernels.legal_rows(self.layout, self._lanes, self._legal)
        self._seen = states

    def _numbers(self, joint_move: JointMove) -> list[int]:
        try:
            return [known[move] for known, move in zip(self._moves, joint_move, strict=True)]
        except KeyError:  # for the error's text
            pairs = zip(range(len(self.roles)), joint_move, strict=True)
            return [self._number(role, move) for role, move in pairs]

    def _number(self, role: int, move: Move) -> int:
        number = self._moves[role].get(move)
        if number is None:
            raise ReasonerError(
                f"{write_term(move)} is never a move of {write_term(self.roles[role])}"
            )
        return number


def _lanefuls(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in lists of no more than LANES; these are not the caller's, who may change his."""
    for first in range(0, len(items), LANES):
        yield list(items[first : first + LANES])


def _lanes_of(rows: U64, count: int) -> NDArray[np.bool_]:
    """(..., WORDS) rows as (..., count) truth values of the first lanes."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little")[..., :count].astype(np.bool_)
