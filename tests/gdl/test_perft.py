"""Counts of joint-move sequences: the propnet's and Prolog's against those kept as text."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from gdl.perft import PerftLine, perft
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from ggp_agent.library.games import find_game
from propnet.machine import PropnetStateMachine
from tests.conformance import ROOT, shared_sheet
from tests.naive import NaiveStateMachine
from tests.small_sheets import SHEETS, small_sheet

GOLDEN = ROOT / "tests" / "golden" / "perft"
FILES = sorted(GOLDEN.rglob("*.txt"))
OWN = {
    "breakthrough",
    "connectFour",
    "eightPuzzle",
    "nim",
    "rockPaperScissors",
    "ticTacToe",
    "ticTacToe3Player",
}
"""Games of the library whose counts are made by Prolog; `tests/games` looks after all of them."""
COUNTED = [path for path in FILES if path.parent.name == "shared" or path.stem in OWN]
SLOW = {"pancakes88", "connectFour", "battle", "chineseCheckers3"}
PROLOG_SEQUENCES = 600
"""The most sequences that Prolog has to count of one length; it takes some seconds for them."""


def _name(path: Path) -> str:
    return str(path.relative_to(GOLDEN).with_suffix(""))


def _sheet(path: Path) -> RuleSheet:
    if path.parent.name == "shared":
        return shared_sheet(path.stem)
    return find_game(path.stem).rule_sheet()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _sequences(line: str) -> int:
    return int(line.split()[1])


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_counts_are_well_formed(path: Path) -> None:
    lines = [tuple(map(int, line.split(" "))) for line in _lines(path)]
    assert [depth for depth, _, _ in lines] == list(range(1, len(lines) + 1))
    for (_, sequences, terminal), (_, following, _) in pairwise(lines):
        assert 0 <= terminal <= sequences
        assert following >= sequences - terminal > 0
    # to depth 3 at least, or to about 10^5 sequences, or to the end of the game
    _, sequences, terminal = lines[-1]
    ratio = sequences / (lines[-2][1] if len(lines) > 1 else 1)
    assert len(lines) >= 3 or sequences * ratio > 100_000 or sequences == terminal


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=_name(path), marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in COUNTED
    ],
)
def test_the_propnet_counts_as_prolog_did(path: Path) -> None:
    machine = PropnetStateMachine.from_rules(_sheet(path), seconds=240)
    expected = _lines(path)
    ended = expected[-1].split()[1] == expected[-1].split()[2]
    # one more where the game has ended: there must be nothing to count
    assert [str(line) for line in perft(machine, len(expected) + ended)] == expected


@pytest.mark.parametrize(
    "path", [p for p in COUNTED if _sequences(_lines(p)[0]) <= PROLOG_SEQUENCES], ids=_name
)
def test_prolog_still_counts_so(path: Path) -> None:
    expected = [line for line in _lines(path) if _sequences(line) <= PROLOG_SEQUENCES][:8]
    with closing(PrologStateMachine(_sheet(path), seconds=120)) as machine:
        assert [str(line) for line in perft(machine, len(expected))] == expected


@pytest.mark.parametrize("name", SHEETS)
def test_states_that_meet_again_are_counted_as_often_as_they_are_reached(name: str) -> None:
    """Against a count of the tree without any sharing."""
    naive = NaiveStateMachine(small_sheet(name))
    machine = PropnetStateMachine.from_rules(small_sheet(name))
    expected: list[PerftLine] = []
    level = [] if naive.is_terminal(naive.initial_state) else [naive.initial_state]
    while level and len(level) < 60 and len(expected) < 4:
        level = [after for state in level for after in _successors(naive, state)]
        ended = [state for state in level if naive.is_terminal(state)]
        if level:
            depth = len(expected) + 1
            expected.append(PerftLine(depth, len(level), len(ended), len(set(level))))
        level = [state for state in level if not naive.is_terminal(state)]
    assert list(perft(machine, len(expected))) == expected


def _successors(machine: NaiveStateMachine, state: object) -> list[object]:
    joint_moves: list[tuple[object, ...]] = [()]
    for role in range(len(machine.roles)):
        moves = machine.legal_moves(state, role)
        joint_moves = [(*chosen, move) for chosen in joint_moves for move in moves]
    return [machine.next_state(state, moves) for moves in joint_moves]  # type: ignore[arg-type]
