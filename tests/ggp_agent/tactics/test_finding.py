"""Positions found in small games, and what is said of a wrong one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from ggp_agent.library.games import find_game
from ggp_agent.tactics.finding import Effort, Finder, is_proven
from ggp_agent.tactics.positions import KINDS, ONLY_MOVE, WIN_IN_2, Position
from tests.ggp_agent.tactics.plain import machine_of

EFFORT = Effort(count=6, random_games=60, states=1_000)


@cache
def found_in(game: str, seed: int = 1) -> tuple[Position, ...]:
    described = find_game(game)
    finder = Finder(machine_of(game), described, described.rule_sheet(), EFFORT)
    return tuple(finder.find(seed))


@pytest.mark.parametrize("game", ["ticTacToe", "connectFour", "biddingTicTacToe"])
def test_what_is_found_is_proven(game: str) -> None:
    machine, sheet = machine_of(game), find_game(game).rule_sheet()
    positions = found_in(game)
    assert positions
    for position in positions:
        assert position.horizon >= position.plies
        assert is_proven(machine, position, position.state(machine, sheet))


def test_all_kinds_are_found() -> None:
    kinds = Counter(position.kind for position in found_in("ticTacToe"))
    assert set(kinds) == set(KINDS)


def test_the_same_seed_finds_the_same() -> None:
    game = find_game("ticTacToe")
    finder = Finder(machine_of("ticTacToe"), game, game.rule_sheet(), EFFORT)
    assert tuple(finder.find(1)) == tuple(finder.find(1)) == found_in("ticTacToe")
    assert tuple(finder.find(1000)) != found_in("ticTacToe")


def test_a_position_is_found_once() -> None:
    positions = found_in("ticTacToe") + found_in("ticTacToe", 2)
    assert len({position.moves for position in found_in("ticTacToe")}) == EFFORT.count
    assert len(positions) == 2 * EFFORT.count


def test_an_end_that_work_comes_to() -> None:
    game = find_game("ticTacToe")
    lazy = Effort(count=6, random_games=60, states=1_000, all_states=1)
    finder = Finder(machine_of("ticTacToe"), game, game.rule_sheet(), lazy)
    assert len(list(finder.find(1))) <= 1


def test_wrong_positions_are_not_proven() -> None:
    machine, game = machine_of("ticTacToe"), find_game("ticTacToe")
    for kind in (WIN_IN_2, ONLY_MOVE):
        position = next(p for p in found_in("ticTacToe") if p.kind == kind)
        state = position.state(machine, game.rule_sheet())
        role = position.role_number(machine)
        legal = {game.rule_sheet().write(move) for move in machine.legal_moves(state, role)}
        other = min(legal - set(position.good))
        for wrong in (
            replace(position, good=(other,)),
            replace(position, good=(*position.good, other)),
            replace(position, legal=position.legal + 1),
            replace(position, plies=1),
        ):
            assert not is_proven(machine, wrong, state)
