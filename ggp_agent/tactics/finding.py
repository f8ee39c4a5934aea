"""Finding tactical positions: random games, and exhaustive search in the states that they pass.

The same seed finds the same positions, for the work is limited by numbers of states, not by time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from gdl.rules import RuleSheet
from gdl.state_machine import JointMove, StateMachine
from ggp_agent.library.games import Game
from ggp_agent.library.joint_moves import write_joint_moves
from ggp_agent.library.playthroughs import random_game
from ggp_agent.tactics.positions import KINDS, ONLY_MOVE, WIN_IN_2, WIN_IN_3, Position
from ggp_agent.tactics.proof import (
    Proof,
    StateLimitError,
    losing_moves,
    proof_of_loss,
    proof_of_win,
)

LAST_STATES = 6
"""So many states before the end of a random game are looked at, for there most is at stake,"""
OTHER_STATES = 2
"""and so many of the others."""
LONGEST = 100
"""No position is more joint moves away from the start: its line would be long."""
MOST_PLIES = 12
"""No exhaustive search looks further, whatever it may cost."""
LEAST_MOVES = 3
"""A role with fewer is not asked: less than half of them shall be good."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done to find the positions of a game."""

    count: int = 12
    """positions"""
    random_games: int = 400
    """at most"""
    states: int = 40_000
    """that one exhaustive search looks at, at most"""
    all_states: int = 2_000_000
    """that all of them look at, about"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was proven of a state: see the fields of `Position` with the same names."""

    kind: str
    plies: int
    horizon: int
    good: tuple[Any, ...]


class Finder:
    """Finds positions of one game."""

    def __init__(
        self, machine: StateMachine, game: Game, sheet: RuleSheet, effort: Effort | None = None
    ) -> None:
        self._machine, self._game, self._sheet = machine, game, sheet
        self._effort = effort or Effort()
        self._at_once = game.kind == "simultaneous"
        self._looked_at = 0
        self._known: set[tuple[Any, int]] = set()
        self._enough: set[str] = set()

    def find(self, seed: int) -> Iterator[Position]:
        """Positions, each from another random game.

        No state is looked at twice.  Of each kind there are no more than a third, as long as
        others are to be found.
        """
        effort, kinds, spare = self._effort, Counter[str](), list[Position]()
        share = -(-effort.count // len(KINDS))
        self._looked_at, self._known, self._enough = 0, set(), set()
        for number in range(effort.random_games):
            position = self._in_random_game(seed + number)
            if position is not None and kinds[position.kind] == share:
                spare.append(position)
                if sum(p.kind == position.kind for p in spare) + share == effort.count:
                    self._enough.add(position.kind)
            elif position is not None:
                kinds[position.kind] += 1
                yield position
            if kinds.total() == effort.count or self._looked_at > effort.all_states:
                break
        yield from spare[: effort.count - kinds.total()]

    def _in_random_game(self, seed: int) -> Position | None:
        machine = self._machine
        steps = list(random_game(machine, seed, LONGEST))
        joint_moves: list[JointMove] = [joint for _, joint in steps if joint is not None]
        for index in _indices(len(steps) - 1, machine.is_terminal(steps[-1][0]), Random(seed)):
            state = steps[index][0]
            for role in range(len(machine.roles)):
                moves = machine.legal_moves(state, role)
                is_player = role != machine.chance_role
                if len(moves) < LEAST_MOVES or not is_player or (state, role) in self._known:
                    continue
                self._known.add((state, role))
                answer = self.prove(state, role)
                if answer is not None and 2 * len(answer.good) < len(moves):
                    return self._position(answer, role, seed, joint_moves[:index], len(moves))
        return None

    def _position(
        self, answer: Answer, role: int, seed: int, joint_moves: list[JointMove], legal: int
    ) -> Position:
        return Position(
            game=self._game.key,
            role=self._sheet.write(self._machine.roles[role]),
            kind=answer.kind,
            plies=answer.plies,
            horizon=answer.horizon,
            seed=seed,
            legal=legal,
            good=tuple(map(self._sheet.write, answer.good)),
            moves=write_joint_moves(joint_moves, self._sheet),
        )

    def prove(self, state: Any, role: int) -> Answer | None:
        """What there is to find in a state that is not over.

        That is a win in 2 or 3 own moves, or the only moves that don't lose; None where there is
        nothing, or it takes too many states to know.
        """
        machine, most = self._machine, self._effort.states
        win, loss = proof_of_win(machine, role, most), proof_of_loss(machine, role, most)
        two_players = len(machine.roles) == 2 and len(machine.legal_moves(state, 1 - role)) == 1
        answer = None
        for short in (True, False):  # what is near at hand costs least
            with suppress(StateLimitError):
                answer = answer or self._win(win, state, short)
            with suppress(StateLimitError):
                if two_players:  # else nobody loses by force
                    answer = answer or self._only_moves(loss, state, role, 2 if short else 4)
        self._looked_at += win.states + loss.states
        return answer if answer is not None and answer.kind else None

    def _win(self, proof: Proof, state: Any, short: bool) -> Answer | None:
        """The shortest win; its kind is empty if nobody wants it, such as one in a single move."""
        longest = (2 if short else 3) if self._at_once else (3 if short else 5)
        for plies in range(1, longest + 1):
            good = proof.forcing_moves(state, plies)
            if not good:
                continue
            own_moves = plies if self._at_once else (plies + 1) // 2
            kind = WIN_IN_2 if own_moves == 2 else WIN_IN_3
            if own_moves == 1 or kind in self._enough:
                return Answer("", plies, plies, tuple(good))
            horizon = plies
            with suppress(StateLimitError):  # who wins later has found something, too
                for further in range(plies + 1, MOST_PLIES + 1):
                    good = proof.forcing_moves(state, further)
                    horizon = further
            return Answer(kind, plies, horizon, tuple(good))
        return None

    def _only_moves(self, proof: Proof, state: Any, role: int, plies: int) -> Answer | None:
        """The only moves that don't lose, where more than half lose within so many plies."""
        moves = self._machine.legal_moves(state, role)
        lost = losing_moves(proof, state, role, plies)
        if 2 * len(lost) <= len(moves):
            return None
        if len(lost) == len(moves) or ONLY_MOVE in self._enough:
            return Answer("", plies, plies, ())
        lost = losing_moves(proof, state, role, plies + 2)
        horizon = plies + 2
        with suppress(StateLimitError):  # a loss that is far away is one nevertheless
            for further in range(horizon + 1, MOST_PLIES + 1):
                lost = losing_moves(proof, state, role, further)
                horizon = further
        good = tuple(move for move in moves if move not in lost)
        return Answer(ONLY_MOVE if good else "", plies, horizon, good)


def _indices(states: int, is_over: bool, dice: Random) -> list[int]:
    """Which of the first states of a random game are looked at, in random order."""
    first = max(0, states - LAST_STATES) if is_over else states
    chosen = list(range(first, states))
    others = min(first, LAST_STATES + OTHER_STATES - len(chosen))
    chosen += dice.sample(range(first), min(others, OTHER_STATES) if is_over else others)
    dice.shuffle(chosen)
    return chosen


def is_proven(machine: StateMachine, position: Position, state: Any) -> bool:
    """Whether an exhaustive search finds just what a position of the suite says."""
    role, said = position.role_number(machine), position.good_moves()
    moves = machine.legal_moves(state, role)
    if len(moves) != position.legal or 2 * len(said) >= len(moves):
        return False
    if position.kind != ONLY_MOVE:
        proof = proof_of_win(machine, role)
        shorter = proof.forcing_moves(state, position.plies - 1)
        soonest = proof.forcing_moves(state, position.plies)
        return (
            not shorter
            and bool(soonest)
            and said == {*proof.forcing_moves(state, position.horizon)}
        )
    proof = proof_of_loss(machine, role)
    at_once = losing_moves(proof, state, role, position.plies)
    in_time = losing_moves(proof, state, role, position.horizon)
    return 2 * len(at_once) > len(moves) and said == {*moves} - {*in_time}
