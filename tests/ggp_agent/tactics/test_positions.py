"""The suite's positions: well-formed, legal, many enough, and right where that is quickly said."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from ggp_agent.errors import GameError
from ggp_agent.library.games import find_game
from ggp_agent.tactics.positions import (
    KINDS,
    ONLY_MOVE,
    Position,
    games_with_positions,
    position_from,
    read_positions,
    write_positions,
)
from tests.ggp_agent.tactics.plain import machine_of, plain_loss, plain_win

GAMES = games_with_positions()
MOST_PLIES = {"ticTacToe": 9, "nim": 5, "connectFour": 3}
"""As far as the plain search, which looks at one state at a time, gets soon."""


def test_the_suite_is_large_and_mixed() -> None:
    positions = [position for game in GAMES for position in read_positions(game)]
    kinds = Counter(position.kind for position in positions)
    assert len(positions) >= 200 and len(GAMES) >= 20
    assert set(kinds) == set(KINDS) and min(kinds.values()) >= 30
    assert len({(p.game, p.role, p.moves) for p in positions}) == len(positions)
    assert max(Counter(p.game for p in positions).values()) <= 12


@pytest.mark.parametrize("game", GAMES)
def test_positions_are_legal_and_leave_a_choice(game: str) -> None:
    machine, sheet = machine_of(game), find_game(game).rule_sheet()
    for position in read_positions(game):
        assert position.game == game
        state = position.state(machine, sheet)
        assert not machine.is_terminal(state)
        legal = machine.legal_moves(state, position.role_number(machine))
        assert len(legal) == position.legal and position.good_moves() < set(legal)
        assert len(position.good) == len(position.good_moves()) < len(legal) / 2
        assert 2 <= position.plies <= position.horizon


@pytest.mark.parametrize("game", MOST_PLIES)
def test_good_moves_are_those_that_a_plain_search_finds(game: str) -> None:
    machine, sheet = machine_of(game), find_game(game).rule_sheet()
    for position in read_positions(game)[:6]:
        state, role = position.state(machine, sheet), position.role_number(machine)
        good, plies = position.good_moves(), min(position.horizon, MOST_PLIES[game])
        if position.kind != ONLY_MOVE:
            win = plain_win(machine, role)
            assert win.moves(state, plies) <= good
            assert not win.moves(state, min(plies, position.plies - 1))
            if plies >= position.plies:
                assert win.moves(state, position.plies)
            if plies >= 9:
                assert win.moves(state, plies) == good
            continue
        loss = plain_loss(machine, role)
        (pause,) = machine.legal_moves(state, 1 - role)
        for move in machine.legal_moves(state, role):
            joint = (move, pause) if role == 0 else (pause, move)
            is_lost = loss.forces(machine.next_state(state, joint), plies - 1)
            assert not (is_lost and move in good)
            if plies >= position.horizon:
                assert is_lost != (move in good)


GOOD = Position("nim", "first", KINDS[0], 3, 5, 7, 4, ("(a b)",), "((x y) noop)")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"kind": "win in 9"}, "win in 2"),
        ({"good": []}, "good"),
        ({"good": [1]}, "good"),
        ({"plies": "3"}, "plies"),
        ({"role": 1}, "role"),
        ({"more": 1}, "no more"),
    ],
)
def test_a_line_that_is_no_position_is_an_error(change: dict[str, object], word: str) -> None:
    line = json.dumps({**dataclasses.asdict(GOOD), **change})
    with pytest.raises(GameError, match=word) as error:
        position_from(line, "x.jsonl:3")
    assert "x.jsonl:3" in str(error.value)


def test_lines_come_back(tmp_path: Path) -> None:
    write_positions([GOOD, GOOD], tmp_path / "nim.jsonl")
    assert games_with_positions(tmp_path) == ["nim"]
    assert read_positions("nim", tmp_path) == [GOOD, GOOD]
    with pytest.raises(GameError, match="chess"):
        read_positions("chess", tmp_path)
    (tmp_path / "chess.jsonl").write_text("{")
    with pytest.raises(GameError, match="not JSON"):
        read_positions("chess", tmp_path)


def test_a_position_that_does_not_come_about_is_an_error() -> None:
    machine, sheet = machine_of("nim"), find_game("nim").rule_sheet()
    with pytest.raises(GameError, match="joint move 1"):
        GOOD.state(machine, sheet)
    with pytest.raises(GameError, match="no role third"):
        dataclasses.replace(GOOD, role="third").role_number(machine)
