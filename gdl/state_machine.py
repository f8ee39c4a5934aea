"""A game described in GDL as a forward model; what a reasoner has to offer.

Two reasoners implement it, `gdl.prolog.PrologStateMachine` (the slow and obvious oracle) and
`propnet.machine.PropnetStateMachine`; both pass the same conformance test on every rule sheet.

States are opaque, immutable and hashable values that only make sense to the machine that made
them; `fluents` and `state_from` translate.  Moves are terms.  Roles are numbered in the order of
the sheet's `role` facts, and a joint move has one move per role in that order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from random import Random

from forward_model.model import ForwardModel
from gdl.rules import Term, read_term, write_term

State = Hashable
Move = Term
JointMove = Sequence[Move]

MAX_GOAL = 100

CHANCE_ROLE = "random"
"""A role of this name stands for chance: its moves are drawn uniformly (ggp.org's convention)."""


class StateMachine(ForwardModel[State, Move]):
    """A game described in GDL: a `ForwardModel` whose states can be translated to fluents.

    It is deterministic (chance is a role) with perfect information; rewards are goals / 100.  All
    methods raise `gdl.errors.ReasonerError` when the reasoner behind them fails.
    """

    @property
    @abstractmethod
    def roles(self) -> tuple[Term, ...]:
        """The roles, in the order of the rule sheet."""

    @property
    def role_names(self) -> tuple[str, ...]:
        """See `ForwardModel.role_names`; KIF in lower case."""
        return tuple(map(write_term, self.roles))

    @property
    def chance_role(self) -> int | None:
        """See `ForwardModel.chance_role`."""
        return self.roles.index(CHANCE_ROLE) if CHANCE_ROLE in self.roles else None

    @abstractmethod
    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        """The moves of role number `role` in a non-terminal state, sorted by `order`."""

    @abstractmethod
    def next_state(
        self, state: State, joint_move: JointMove, random: Random | None = None
    ) -> State:
        """The state that follows when every role makes its legal move; `random` is not used."""

    def next_states(
        self,
        states: Sequence[State],
        joint_moves: Sequence[JointMove],
        random: Random | None = None,
    ) -> list[State]:
        """See `ForwardModel.next_states`; `random` is not used."""
        pairs = zip(states, joint_moves, strict=True)
        return [self.next_state(state, joint_move) for state, joint_move in pairs]

    @abstractmethod
    def goals(self, state: State) -> tuple[int, ...]:
        """Every role's goal value, 0 to 100 (see `goal_value` for sheets that leave it open)."""

    def rewards(self, state: State) -> tuple[float, ...]:
        """See `ForwardModel.rewards`."""
        return tuple(goal / MAX_GOAL for goal in self.goals(state))

    @abstractmethod
    def fluents(self, state: State) -> frozenset[Term]:
        """What is true in a state, as terms without `true`."""

    @abstractmethod
    def state_from(self, fluents: Iterable[Term]) -> State:
        """The state in which exactly these fluents are true."""

    def write_move(self, move: Move) -> str:
        """See `ForwardModel.write_move`; KIF in lower case."""
        return write_term(move)

    def read_move(self, text: str) -> Move:
        """See `ForwardModel.read_move`; raises `gdl.errors.RuleSheetError` for what is no term."""
        return read_term(text)


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
