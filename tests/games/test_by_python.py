"""Our games against themselves in Python, along random games, by the propnet; and some scores."""

from __future__ import annotations

import random
from itertools import product

import pytest

from gdl.rules import Term, arguments_of, name_of
from gdl.state_machine import order
from tests.games import test_by_prover
from tests.games.machines import machine_of, random_states
from tests.games.references import PYTHON_GAMES

PLAYOUTS = 4
OTHERS = [key for key in PYTHON_GAMES if key not in test_by_prover.PLAYOUTS]


@pytest.mark.parametrize("key", OTHERS)
def test_rule_sheets_play_as_the_game_does(key: str) -> None:
    machine, game = machine_of(key), PYTHON_GAMES[key]
    for seed in range(PLAYOUTS):
        rng, here, there = random.Random(seed), machine.initial_state, game.initial
        while not game.is_terminal(there):
            assert not machine.is_terminal(here)
            legal = game.legal(there)
            for role, moves in enumerate(legal):
                assert set(machine.legal_moves(here, role)) == moves
            joint_move = tuple(rng.choice(sorted(moves, key=order)) for moves in legal)
            here, there = machine.next_state(here, joint_move), game.next(there, joint_move)
        assert machine.is_terminal(here)
        assert list(machine.goals(here)) == game.goals(there)


def _last(key: str, seed: int) -> tuple[frozenset[Term], int]:
    """The last state of a random game for one player, and its goal."""
    machine = machine_of(key)
    state = [state for state, _ in random_states(machine, seed)][-1]
    return machine.fluents(state), machine.goals(state)[0]


def _triples(fluents: frozenset[Term], name: str) -> list[tuple[int, ...]]:
    found = [arguments_of(fluent) for fluent in fluents if name_of(fluent) == name]
    return [tuple(int(str(argument)) for argument in arguments) for arguments in found]


@pytest.mark.parametrize("seed", range(5))
def test_queens_are_worth_ten_where_nobody_attacks_them(seed: int) -> None:
    fluents, goal = _last("queens10", seed)
    queens = _triples(fluents, "queen")
    safe = [
        (x, y)
        for x, y in queens
        if not any(
            (x, y) != (a, b) and (x == a or y == b or abs(x - a) == abs(y - b)) for a, b in queens
        )
    ]
    assert len(queens) == 10
    assert goal == 10 * len(safe)


@pytest.mark.parametrize("seed", range(5))
def test_full_rows_columns_and_blocks_are_worth_three(seed: int) -> None:
    fluents, goal = _last("sudoku", seed)
    cells = {(x, y): digit for x, y, digit in _triples(fluents, "cell")}
    units = [[(x, y) for x in range(1, 10)] for y in range(1, 10)]
    units += [[(x, y) for y in range(1, 10)] for x in range(1, 10)]
    units += [
        [(a + dx, b + dy) for dx, dy in product(range(3), repeat=2)]
        for a, b in product((1, 4, 7), repeat=2)
    ]
    full = [unit for unit in units if all(cell in cells for cell in unit)]
    assert goal == (100 if len(full) == 27 else 3 * len(full))
    assert all(len({cells[cell] for cell in unit}) == 9 for unit in full)
