"""The one interface to a game's dynamics; what a reasoner has to offer.

Two reasoners implement it, `gdl.prolog.PrologStateMachine` (the slow and obvious oracle) and
`propnet.machine.PropnetStateMachine`; both pass the same conformance test on every rule sheet.

States are opaque, immutable and hashable values that only make sense to the machine that made
them; `fluents` and `state_from` translate.  Moves are terms.  Roles are numbered in the order of
the sheet's `role` facts, and a joint move has one move per role in that order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol

from gdl.rules import Term

State = Hashable
Move = Term
JointMove = Sequence[Move]

MAX_GOAL = 100

CHANCE_ROLE = "random"
"""A role of this name stands for chance: its moves are drawn uniformly (ggp.org's convention)."""


class StateMachine(Protocol):
    """A game as a machine that goes from state to state by joint moves.

    All methods raise `gdl.errors.ReasonerError` when the reasoner behind them fails.
    """

    @property
    def roles(self) -> tuple[Term, ...]:
        """The roles, in the order of the rule sheet."""

    @property
    def initial_state(self) -> State:
        """The state described by `init`."""

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        """The moves of role number `role` in a non-terminal state, sorted by `order`."""

    def next_state(self, state: State, joint_move: JointMove) -> State:
        """The state that follows when every role makes its legal move."""

    def is_terminal(self, state: State) -> bool:
        """Whether the game has ended in this state."""

    def goals(self, state: State) -> tuple[int, ...]:
        """Every role's goal value, 0 to 100 (see `goal_value` for sheets that leave it open)."""

    def fluents(self, state: State) -> frozenset[Term]:
        """What is true in a state, as terms without `true`."""

    def state_from(self, fluents: Iterable[Term]) -> State:
        """The state in which exactly these fluents are true."""

    def close(self) -> None:
        """Release what the machine holds (processes, memory); it must not be used afterwards."""


def goal_value(values: Iterable[Term]) -> int:
    """The goal of a role for which `goal` holds with these values.

    GDL wants exactly one integer from 0 to 100.  Where a sheet gives none, or nothing that is such
    an integer, the goal counts as 0; where it gives several, the highest counts.
    """
    integers = (int(v) for v in values if isinstance(v, str) and v.isascii() and v.isdigit())
    return max((value for value in integers if value <= MAX_GOAL), default=0)


def order(term: Term) -> tuple[int, str, tuple[object, ...]]:
    """Sort key that orders terms alike in every reasoner: constants first, numbers by value."""
    if isinstance(term, str):
        return (0, f"{term.zfill(12)} {term}" if term.isdigit() else term, ())
    return (1, term[0] if isinstance(term[0], str) else "", tuple(order(t) for t in term[1:]))
