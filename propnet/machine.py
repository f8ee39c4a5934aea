"""The propnet as a `StateMachine`: single states, through the same kernels as the simulator.

Convenient rather than fast: each call sweeps 512 lanes to learn about one state.  The search does
not use it; the match manager, perft and the conformance tests do.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gdl.errors import ReasonerError
from gdl.grounding import GROUNDER_BYTES, ground
from gdl.rules import RuleSheet, Term, write_term
from gdl.state_machine import JointMove, Move, State
from propnet import kernels
from propnet.compiling import Compilation, compile_in_background
from propnet.layout import U64, layout_of, new_lanes, pack, unpack
from propnet.network import Network, compile_network
from propnet.vectors import LANES, WORDS


class PropnetStateMachine:
    """`gdl.state_machine.StateMachine` over a network; a state is the bytes of a packed state."""

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
        self._seen: State = None

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
        self._see(state)
        low, high = self.layout.span[role : role + 2]
        legal = self._legal[low:high, 0] & np.uint64(1)
        moves = self.network.moves[role]
        return tuple(moves[i] for i in np.flatnonzero(legal))

    def next_state(self, state: State, joint_move: JointMove) -> State:
        """See `StateMachine.next_state`."""
        self._see(state)
        moves = zip(range(len(self.roles)), joint_move, strict=True)
        numbers = np.array([[self._number(role, move) for role, move in moves]], np.int32)
        kernels.set_moves(self.layout, self._lanes, numbers, 1)
        self._lanes.active[:] = kernels.ALL
        kernels.advance(self.layout, self._lanes)
        self._seen = None
        following = np.zeros((1, len(self.layout.initial)), np.uint64)
        kernels.save_states(self.layout, self._lanes, following, 1)
        return following.tobytes()

    def is_terminal(self, state: State) -> bool:
        """See `StateMachine.is_terminal`."""
        self._see(state)
        literal = self.layout.terminal
        return bool((int(self._lanes.values[literal >> 1, 0]) ^ literal) & 1)

    def goals(self, state: State) -> tuple[int, ...]:
        """See `StateMachine.goals`."""
        self._see(state)
        kernels.read_goals(self.layout, self._lanes, self._goals)
        return tuple(int(goal) for goal in self._goals[:, 0])

    def fluents(self, state: State) -> frozenset[Term]:
        """See `StateMachine.fluents`."""
        bits = unpack(self._packed(state), len(self.network.fluents))[0]
        return frozenset(self.network.fluents[i] for i in np.flatnonzero(bits))

    def state_from(self, fluents: Iterable[Term]) -> State:
        """See `StateMachine.state_from`; a fluent that play can't reach is an error."""
        bits = np.zeros((1, len(self.network.fluents)), np.bool_)
        for fluent in fluents:
            if fluent not in self._fluents:
                raise ReasonerError(f"{write_term(fluent)} is no fluent that play can reach")
            bits[0, self._fluents[fluent]] = True
        return pack(bits).tobytes()

    def close(self) -> None:
        """See `StateMachine.close`; there is nothing to release."""

    def _packed(self, state: State) -> U64:
        assert isinstance(state, bytes)
        return np.frombuffer(state, np.uint64)[
            np.newaxis
        ].copy()  # numba: not another type of array

    def _see(self, state: State) -> None:
        if state == self._seen:
            return
        kernels.load_states(self.layout, self._lanes, self._packed(state), 1)
        kernels.see_position(self.layout, self._lanes)
        kernels.legal_rows(self.layout, self._lanes, self._legal)
        self._seen = state

    def _number(self, role: int, move: Move) -> int:
        number = self._moves[role].get(move)
        if number is None:
            raise ReasonerError(
                f"{write_term(move)} is never a move of {write_term(self.roles[role])}"
            )
        return number
