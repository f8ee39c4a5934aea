"""Finding tactical positions: random games, and exhaustive search in the states that they pass.

The same seed finds the same positions, for the work is limited by numbers of states, not by time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from random import Random

from gdl.rules import RuleSheet
from gdl.state_machine import JointMove, Move, State, StateMachine
from ggp_agent.agents import find_agent
from ggp_agent.library.games import Game
from ggp_agent.library.joint_moves import write_joint_moves
from ggp_agent.library.playthroughs import random_game
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.search.native import NativeSearch
from ggp_agent.tactics.positions import ONLY_MOVE, WIN_IN_2, WIN_IN_3, Position
from ggp_agent.tactics.proof import (
    Proof,
    StateLimitError,
    losing_moves,
    proof_of_loss,
    proof_of_win,
)
from propnet.machine import PropnetStateMachine

LAST_STATES = 6
"""So many states before the end of a random game are looked at, for there most is at stake,"""
OTHER_STATES = 2
"""and so many of the others."""
LONGEST = 100
"""No position is more joint moves away from the start: its line would be long."""
MOST_PLIES = 12
"""No exhaustive search looks further, whatever it may cost."""
PROVER = 100_000
"""Simulations of the search that has the last word on whether a position is lost anyhow."""
LEAST_MOVES = 3
"""A role with fewer is not asked: less than half of them shall be good."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done to find the positions of a game."""

    count: int = 12
    """positions"""
    random_games: int = 400
    """at most"""
    states: int = 15_000
    """that one exhaustive search looks at, at most; thrice as many to see how far a proof holds"""
    all_states: int = 1_500_000
    """that the searches of all states of random games look at, about"""
    easy: int = 500
    """simulations of `uct`; what these find is left out as long as there is anything else"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was proven of a state: see the fields of `Position` with the same names."""

    kind: str
    plies: int
    horizon: int
    good: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A state of a random game in which there is something to find."""

    state: State
    role: int
    answer: Answer
    is_easy: bool
    seed: int
    joint_moves: tuple[JointMove, ...]


class Finder:
    """Finds positions of one game."""

    def __init__(
        self,
        machine: PropnetStateMachine,
        game: Game,
        sheet: RuleSheet,
        effort: Effort | None = None,
    ) -> None:
        self._machine, self._game, self._sheet = machine, game, sheet
        self._effort = effort or Effort()
        self._at_once = game.kind == "simultaneous"
        self._looked_at = 0
        self._known: set[tuple[State, int]] = set()
        self._novice = find_agent("uct").with_settings(
            [f"simulations={self._effort.easy}", "memory=64"]
        )

    def find(self, seed: int) -> list[Position]:
        """Positions, each from another random game, those that are not easy first.

        No state is looked at twice.  Kinds have equal shares, as far as there are enough of them.
        """
        self._looked_at, self._known = 0, set()
        candidates, kinds = self._candidates(seed), Counter[str]()
        found: list[Position] = []
        while candidates and len(found) < self._effort.count:
            best = min(candidates, key=lambda c: (c.is_easy, kinds[c.answer.kind]))
            candidates.remove(best)
            legal = self._machine.legal_moves(best.state, best.role)
            answer = self.look_further(best.state, best.role, best.answer)
            if answer is not None and 0 < 2 * len(answer.good) < len(legal):
                found.append(self._position(best, answer, len(legal)))
                kinds[answer.kind] += 1
        return sorted(filter(self.is_open, found), key=lambda position: position.seed)

    def is_open(self, position: Position) -> bool:
        """Whether an only move is of use, as far as our own search with proven scores can tell.

        Where it proves that the role loses anyhow, one move is as good as another for it.
        """
        if position.kind != ONLY_MOVE:
            return True
        prover = find_agent("default").with_settings([f"simulations={PROVER}", "memory=256"])
        role = position.role_number(self._machine)
        search = NativeSearch(self._machine.compiled, role, prover, position.seed)
        search.enter(position.state(self._machine, self._sheet), None)
        search.think(math.inf, lambda: False)
        return search.score_bounds()[1] > 0

    def _candidates(self, seed: int) -> list[_Candidate]:
        effort, candidates = self._effort, []
        for number in range(effort.random_games):
            in_game = self._in_random_game(seed + number)
            easy = list(islice(in_game, 1))
            while easy and easy[0].is_easy and (other := next(in_game, None)) is not None:
                easy = easy if other.is_easy else [other]
            candidates += easy
            hard = sum(not candidate.is_easy for candidate in candidates)
            if hard == 3 * effort.count or self._looked_at > effort.all_states:
                break
        return candidates

    def _in_random_game(self, seed: int) -> Iterator[_Candidate]:
        machine = self._machine
        steps = list(random_game(machine, seed, LONGEST))
        is_over = machine.is_terminal(steps[-1][0])
        joint_moves = [joint for _, joint in steps if joint is not None]
        for index in _indices(len(steps) - 1, is_over, Random(seed)):
            state = steps[index][0]
            for role in range(len(machine.roles)):
                moves = machine.legal_moves(state, role)
                is_player = role != machine.chance_role
                if len(moves) < LEAST_MOVES or not is_player or (state, role) in self._known:
                    continue
                self._known.add((state, role))
                answer = self.prove(state, role)
                if answer is not None and 0 < 2 * len(answer.good) < len(moves):
                    is_easy = self._is_easy(state, role, answer, seed)
                    moves_made = tuple(joint_moves[:index])
                    yield _Candidate(state, role, answer, is_easy, seed, moves_made)

    def _is_easy(self, state: State, role: int, answer: Answer, seed: int) -> bool:
        thinker = make_thinker(self._machine, role, self._novice, seed)
        thinker.enter(state, None)
        thinker.think(math.inf, lambda: False)
        return thinker.choose() in answer.good

    def _position(self, candidate: _Candidate, answer: Answer, legal: int) -> Position:
        return Position(
            game=self._game.key,
            role=self._sheet.write(self._machine.roles[candidate.role]),
            kind=answer.kind,
            plies=answer.plies,
            horizon=answer.horizon,
            seed=candidate.seed,
            legal=legal,
            good=tuple(map(self._sheet.write, answer.good)),
            moves=write_joint_moves(candidate.joint_moves, self._sheet),
        )

    def prove(self, state: State, role: int) -> Answer | None:
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

    def _win(self, proof: Proof, state: State, short: bool) -> Answer | None:
        """The shortest win; its kind is empty if it takes no more than one own move."""
        longest = (2 if short else 3) if self._at_once else (3 if short else 5)
        for plies in range(1, longest + 1):
            good = proof.forcing_moves(state, plies)
            if good:
                own_moves = plies if self._at_once else (plies + 1) // 2
                kind = ("", WIN_IN_2, WIN_IN_3)[own_moves - 1]
                return Answer(kind, plies, plies, tuple(good))
        return None

    def _only_moves(self, proof: Proof, state: State, role: int, plies: int) -> Answer | None:
        """The only moves that don't lose, where more than half lose within so many plies."""
        moves = self._machine.legal_moves(state, role)
        lost = losing_moves(proof, state, role, plies)
        if 2 * len(lost) <= len(moves):
            return None
        good = tuple(move for move in moves if move not in lost)
        return Answer(ONLY_MOVE if good else "", plies, plies, good)

    def look_further(self, state: State, role: int, answer: Answer) -> Answer | None:
        """The answer as of a horizon as far away as the effort allows.

        Who wins later has found something, too, and a loss that is far away is one nevertheless.
        None where a loss can't be excluded for another move of both.
        """
        most, horizon, good = 3 * self._effort.states, answer.plies, answer.good
        win, loss = proof_of_win(self._machine, role, most), None
        if answer.kind == ONLY_MOVE:
            loss = proof_of_loss(self._machine, role, most)
        with suppress(StateLimitError):
            for further in range(answer.plies + 1, MOST_PLIES + 1):
                if loss is None:
                    good = tuple(win.forcing_moves(state, further))
                else:
                    lost = losing_moves(loss, state, role, further)
                    moves = self._machine.legal_moves(state, role)
                    good = tuple(move for move in moves if move not in lost)
                horizon = further
        if loss is not None and horizon < answer.plies + 2:
            return None
        return Answer(answer.kind, answer.plies, horizon, good)


def _indices(states: int, is_over: bool, dice: Random) -> list[int]:
    """Which of the first states of a random game are looked at, in random order."""
    first = max(0, states - LAST_STATES) if is_over else states
    chosen = list(range(first, states))
    others = min(first, LAST_STATES + OTHER_STATES - len(chosen))
    chosen += dice.sample(range(first), min(others, OTHER_STATES) if is_over else others)
    dice.shuffle(chosen)
    return chosen


def is_proven(machine: StateMachine, position: Position, state: State) -> bool:
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
