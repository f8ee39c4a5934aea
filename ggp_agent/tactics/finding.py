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
from ggp_agent.tactics.proof import Proof, TooManyStates

LAST_STATES = 8
"""So many states before the end of a random game are looked at, that is where most is at stake,"""
OTHER_STATES = 4
"""and so many of the others."""
LONGEST = 100
"""Games that last longer are left: their positions would be long to write, and to replay."""
LEAST_MOVES = 3
"""A role with fewer is not asked: less than half of them shall be good."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done to find positions."""

    count: int = 12
    """positions"""
    games: int = 400
    """random games at most"""
    states: int = 200_000
    """at most that one exhaustive search looks at"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was proven of a state: see the fields of `Position` with the same names."""

    kind: str
    plies: int
    horizon: int
    good: tuple[Any, ...]


def find_positions(
    machine: StateMachine, game: Game, sheet: RuleSheet, seed: int, effort: Effort
) -> Iterator[Position]:
    """Positions of a game, each from another random game; at most a third of them of each kind,
    as long as there are others to be found.
    """
    share, kinds = -(-effort.count // len(KINDS)), Counter[str]()
    spare: list[Position] = []
    for number in range(effort.games):
        position = _in_random_game(machine, game, sheet, seed * 10_000 + number, effort)
        if position is None:
            continue
        if kinds[position.kind] == share:
            spare.append(position)
            continue
        kinds[position.kind] += 1
        yield position
        if kinds.total() == effort.count:
            return
    yield from spare[: effort.count - kinds.total()]


def _in_random_game(
    machine: StateMachine, game: Game, sheet: RuleSheet, seed: int, effort: Effort
) -> Position | None:
    steps = list(random_game(machine, seed, LONGEST + 1))
    if len(steps) > LONGEST or steps[-1][1] is not None:
        return None
    at_once = game.kind == "simultaneous"
    states = [state for state, _ in steps[:-1]]
    joint_moves: list[JointMove] = [joint for _, joint in steps if joint is not None]
    for index in _indices(len(states), Random(seed)):
        for role in range(len(machine.roles)):
            moves = machine.legal_moves(states[index], role)
            if len(moves) < LEAST_MOVES or role == machine.chance_role:
                continue
            answer = prove(machine, states[index], role, at_once, effort.states)
            if answer is not None and 2 * len(answer.good) < len(moves):
                return Position(
                    game=game.key,
                    role=sheet.write(machine.roles[role]),
                    kind=answer.kind,
                    plies=answer.plies,
                    horizon=answer.horizon,
                    seed=seed,
                    legal=len(moves),
                    good=tuple(map(sheet.write, answer.good)),
                    moves=write_joint_moves(joint_moves[:index], sheet),
                )
    return None


def _indices(states: int, dice: Random) -> list[int]:
    """Which states of a random game are looked at, in random order."""
    last = list(range(max(0, states - LAST_STATES), states))
    others = list(range(last[0])) if last else []
    chosen = last + dice.sample(others, min(OTHER_STATES, len(others)))
    dice.shuffle(chosen)
    return chosen


def prove(
    machine: StateMachine, state: Any, role: int, at_once: bool, most_states: int
) -> Answer | None:
    """What there is to find for a role in a state that is not over: a win in 2 or 3 own moves, or
    the only moves that don't lose; None where there is nothing, or it takes too many states.

    `at_once` says that the game's players move at once, so that an own move is a ply, not two.
    """
    try:
        win = _win(machine, state, role, at_once, most_states)
        if win is not None:
            return win if win.plies > 1 else None
        return _only_moves(machine, state, role, most_states)
    except TooManyStates:
        return None


def _win(
    machine: StateMachine, state: Any, role: int, at_once: bool, most_states: int
) -> Answer | None:
    proof = Proof(machine, role, lambda rewards: rewards[role] >= 1, most_states)
    for plies in range(1, (3 if at_once else 5) + 1):
        good = proof.forcing_moves(state, plies)
        if good and plies == 1:
            return Answer("", plies, plies, tuple(good))
        own_moves = plies if at_once else plies // 2 + 1
        if good and own_moves > 1:
            horizon = plies
            with suppress(TooManyStates):  # who wins a move later has found something, too
                good = proof.forcing_moves(state, plies + (1 if at_once else 2))
                horizon = plies + (1 if at_once else 2)
            return Answer(WIN_IN_2 if own_moves == 2 else WIN_IN_3, plies, horizon, tuple(good))
    return None


def _only_moves(machine: StateMachine, state: Any, role: int, most_states: int) -> Answer | None:
    """Only with two players, one of whom moves: else nobody loses by force."""
    if len(machine.roles) != 2 or len(machine.legal_moves(state, 1 - role)) > 1:
        return None
    proof = proof_of_loss(machine, role, most_states)
    moves = machine.legal_moves(state, role)
    for plies in (2, 4):
        lost = losing_moves(machine, proof, state, role, plies)
        if len(lost) == len(moves):
            return None
        if 2 * len(lost) > len(moves):
            horizon = plies + 2
            lost = losing_moves(machine, proof, state, role, horizon)
            good = tuple(move for move in moves if move not in lost)
            return Answer(ONLY_MOVE, plies, horizon, good) if good else None
    return None


def proof_of_loss(machine: StateMachine, role: int, most_states: int = 1_000_000) -> Proof:
    """What one of two players can do so that the other one, `role`, gets nothing."""
    return Proof(machine, 1 - role, lambda rewards: rewards[role] <= 0, most_states)


def losing_moves(
    machine: StateMachine, proof: Proof, state: Any, role: int, plies: int
) -> list[Any]:
    """The moves of one of two players, the other having but one, after which that one can force
    within `plies`, this move among them, that the role gets nothing (`proof_of_loss`).
    """
    moves = machine.legal_moves(state, role)
    (pause,) = machine.legal_moves(state, 1 - role)
    joint_moves: list[JointMove] = [(m, pause) if role == 0 else (pause, m) for m in moves]
    following = machine.next_states([state] * len(moves), joint_moves)
    pairs = zip(moves, following, strict=True)
    return [move for move, after in pairs if proof.is_forced(after, plies - 1)]
