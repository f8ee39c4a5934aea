"""Small games written by hand as state machines, with the rule sheets that name their symbols."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from gdl.rules import RuleSheet, Term, arguments_of
from gdl.state_machine import JointMove, Move, State, StateMachine

Fluents = frozenset[Term]


class HandMadeMachine(StateMachine):
    """A game over frozen sets of fluents; what a game must add are the four methods below."""

    roles: tuple[Term, ...] = ()
    initial_state: State = None

    def __init__(self) -> None:
        self.closed = False

    def moves_in(self, fluents: Fluents, role: int) -> Iterable[Move]:
        raise NotImplementedError

    def after(self, fluents: Fluents, joint_move: JointMove) -> Fluents:
        raise NotImplementedError

    def ended(self, fluents: Fluents) -> bool:
        raise NotImplementedError

    def goals_in(self, fluents: Fluents) -> tuple[int, ...]:
        raise NotImplementedError

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        return tuple(self.moves_in(self.fluents(state), role))

    def next_state(
        self, state: State, joint_move: JointMove, random: Random | None = None
    ) -> State:
        for role, move in enumerate(joint_move):
            assert move in self.legal_moves(state, role), f"illegal: {move}"
        return self.after(self.fluents(state), joint_move)

    def is_terminal(self, state: State) -> bool:
        return self.ended(self.fluents(state))

    def goals(self, state: State) -> tuple[int, ...]:
        return self.goals_in(self.fluents(state))

    def fluents(self, state: State) -> Fluents:
        assert isinstance(state, frozenset)
        return state

    def state_from(self, fluents: Iterable[Term]) -> State:
        return frozenset(fluents)

    def close(self) -> None:
        self.closed = True


LINES = [
    *[[(x, y) for y in "123"] for x in "123"],
    *[[(x, y) for x in "123"] for y in "123"],
    [("1", "1"), ("2", "2"), ("3", "3")],
    [("1", "3"), ("2", "2"), ("3", "1")],
]

TIC_TAC_TOE = RuleSheet.from_text(
    """
    ; Three in a row, spelled with capitals here and there.
    (role xPlayer) (role oPlayer)
    (index 1) (index 2) (index 3)
    (init (cell 1 1 b)) (init (control xPlayer))   ; and so on
    (<= (legal ?w (Mark ?m ?n)) (true (cell ?m ?n b)) (true (control ?w)))
    (<= (legal xPlayer noop) (true (control oPlayer)))
    (<= (next (cell ?m ?n x)) (does xPlayer (Mark ?m ?n)))
    (<= (next (cell ?m ?n o)) (does oPlayer (Mark ?m ?n)))
    (<= (goal ?w 50) (role ?w) (not (line x)) (not (line o)))
    (<= terminal (line x))
    """,
    "tic-tac-toe",
)


class TicTacToe(HandMadeMachine):
    """Two roles in turn; the one who waits has only `noop`."""

    roles = ("xplayer", "oplayer")
    initial_state = frozenset(
        {("control", "xplayer"), *(("cell", x, y, "b") for x in "123" for y in "123")}
    )

    def moves_in(self, fluents: Fluents, role: int) -> Iterable[Move]:
        if ("control", self.roles[role]) not in fluents:
            return ["noop"]
        return [("mark", x, y) for x in "123" for y in "123" if ("cell", x, y, "b") in fluents]

    def after(self, fluents: Fluents, joint_move: JointMove) -> Fluents:
        role = 0 if ("control", "xplayer") in fluents else 1
        x, y = arguments_of(joint_move[role])
        changed = {("cell", x, y, "b"), ("control", self.roles[role])}
        return (fluents - changed) | {("cell", x, y, "xo"[role]), ("control", self.roles[1 - role])}

    def ended(self, fluents: Fluents) -> bool:
        return self._has_line(fluents, "x") or self._has_line(fluents, "o") or self._full(fluents)

    def goals_in(self, fluents: Fluents) -> tuple[int, ...]:
        if self._has_line(fluents, "x"):
            return (100, 0)
        return (0, 100) if self._has_line(fluents, "o") else (50, 50)

    def _has_line(self, fluents: Fluents, mark: str) -> bool:
        return any(all(("cell", x, y, mark) in fluents for x, y in line) for line in LINES)

    def _full(self, fluents: Fluents) -> bool:
        return not any(f[0] == "cell" and f[3] == "b" for f in fluents)


PENNIES = RuleSheet.from_text(
    """
    (role even) (role odd) (init (round 0))
    (<= (legal ?r (show heads)) (role ?r)) (<= (legal ?r (show tails)) (role ?r))
    (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (next (round ?n)) (true (round ?m)) (succ ?m ?n))
    (<= terminal (true (round 3)))
    (<= (goal even 100) (true (won even)))
    """,
    "pennies",
)


class Pennies(HandMadeMachine):
    """Both show a side at once, three times; `even` wins if the last two were the same."""

    roles = ("even", "odd")
    initial_state: State = frozenset({("round", "0")})

    def moves_in(self, fluents: Fluents, role: int) -> Iterable[Move]:
        return [("show", "heads"), ("show", "tails")]

    def after(self, fluents: Fluents, joint_move: JointMove) -> Fluents:
        done = next(int(str(f[1])) for f in fluents if f[0] == "round")
        winner = self.roles[joint_move[0] != joint_move[1]]
        return frozenset({("round", str(done + 1)), ("won", winner)})

    def ended(self, fluents: Fluents) -> bool:
        return ("round", "3") in fluents

    def goals_in(self, fluents: Fluents) -> tuple[int, ...]:
        return (100, 0) if ("won", "even") in fluents else (0, 100)


class Over(Pennies):
    """A game whose initial state is terminal."""

    initial_state = frozenset({("round", "3")})


class Stuck(Pennies):
    """After the first round `odd` has no legal move."""

    def moves_in(self, fluents: Fluents, role: int) -> Iterable[Move]:
        if role == 1 and ("round", "0") not in fluents:
            return []
        return super().moves_in(fluents, role)


DICE = RuleSheet.from_text(
    """
    (role random) (role gambler) (init (rolled 0))
    (<= (legal random (roll 1))) (<= (legal random (roll 2))) (<= (legal random (roll 3)))
    (legal gambler (bet 1)) (legal gambler (bet 2)) (legal gambler (bet 3))
    (<= terminal (true (rolled 5)))
    """,
    "dice",
)


class Dice(Pennies):
    """Five rolls by the role `random`, which `gambler` may bet on."""

    roles = ("random", "gambler")
    initial_state = frozenset({("rolled", "0")})

    def moves_in(self, fluents: Fluents, role: int) -> Iterable[Move]:
        return [(("roll", "bet")[role], n) for n in "321"]

    def after(self, fluents: Fluents, joint_move: JointMove) -> Fluents:
        (done,) = (int(str(f[1])) for f in fluents)
        return frozenset({("rolled", str(done + 1))})

    def ended(self, fluents: Fluents) -> bool:
        return ("rolled", "5") in fluents

    def goals_in(self, fluents: Fluents) -> tuple[int, ...]:
        return (0, 100)
