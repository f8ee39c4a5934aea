"""Thinking about puzzles: the best line is remembered and played, whatever happens."""

from __future__ import annotations

import math
import time

import pytest

from gdl.state_machine import State
from ggp_agent.agents import find_agent
from ggp_agent.mind.agents import read_agent
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.player.log_lines import one_line
from ggp_agent.search.exact.puzzle import PuzzleSearch
from ggp_agent.search.native import NativeSearch
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.search.positions import GUARD, machine_of
from tests.ggp_agent.search.puzzles import BUTTONS, LATE, QUEENS

AGENT = "default:threads=1:memory=64"


def thinker_of(game: str, more: str = "") -> PuzzleSearch:
    thinker = make_thinker(machine_of(game), 0, read_agent(AGENT + more), 1)
    assert isinstance(thinker, PuzzleSearch)
    return thinker


def think(thinker: PuzzleSearch) -> None:
    thinker.think(time.monotonic() + GUARD, lambda: False)


def play_out(
    machine: PropnetStateMachine, thinker: PuzzleSearch, state: State, thinks: bool
) -> int:
    while not machine.is_terminal(state):
        if thinks:
            think(thinker)
        move = thinker.choose()
        state = machine.next_state(state, [move])
        thinker.enter(state, [move])
    return machine.goals(state)[0]


@pytest.mark.parametrize(
    ("game", "agent", "kind"),
    [
        (BUTTONS, "default", PuzzleSearch),
        (BUTTONS, "default:exact=0", NativeSearch),
        (BUTTONS, "ap", NativeSearch),
        ("ticTacToe", "fixed", NativeSearch),
    ],
)
def test_who_searches_exactly(game: str, agent: str, kind: type) -> None:
    chosen = read_agent(f"{agent}:threads=1:memory=64")
    assert isinstance(make_thinker(machine_of(game), 0, chosen, 1), kind)


@pytest.mark.parametrize(("game", "goal"), [(BUTTONS, 100), (LATE, 70), (QUEENS, 100)])
def test_one_thought_is_enough(game: str, goal: int) -> None:
    machine, thinker = machine_of(game), thinker_of(game)
    think(thinker)
    assert thinker.is_solved
    assert play_out(machine, thinker, machine.initial_state, thinks=False) == goal


def test_the_line_is_followed_without_another_thought() -> None:
    machine, thinker = machine_of(BUTTONS), thinker_of(BUTTONS)
    think(thinker)
    line, move = thinker.line, thinker.choose()
    state = machine.next_state(machine.initial_state, [move])
    thinker.enter(state, [move])
    assert line is not None and thinker.line == line.after(1)
    asked = []
    thinker.think(math.inf, lambda: bool(asked.append(1)))
    assert not asked
    assert thinker.report()["puzzle"]["expanded"] == 0  # type: ignore[index]


def test_another_state_is_thought_about_anew() -> None:
    machine, thinker = machine_of(BUTTONS), thinker_of(BUTTONS)
    think(thinker)
    first = thinker.choose()
    other = next(m for m in machine.legal_moves(machine.initial_state, 0) if m != first)
    state = machine.next_state(machine.initial_state, [other])
    if thinker.line is not None and state in thinker.line.states:
        pytest.skip("the line goes there, too")
    thinker.enter(state, [other])
    assert thinker.line is None and not thinker.is_solved
    assert play_out(machine, thinker, state, thinks=True) == 100


def test_a_new_game_is_thought_about_anew() -> None:
    machine, thinker = machine_of(BUTTONS), thinker_of(BUTTONS)
    think(thinker)
    first = thinker.choose()
    thinker.enter(machine.next_state(machine.initial_state, [first]), [first])
    thinker.enter(machine.initial_state, None)
    assert thinker.line is None
    assert play_out(machine, thinker, machine.initial_state, thinks=True) == 100


def test_an_interruption_ends_the_thinking() -> None:
    thinker, asked = thinker_of("frogsAndToads"), []

    def interrupted() -> bool:
        asked.append(1)
        return len(asked) > 3

    thinker.think(math.inf, interrupted)
    assert not thinker.is_solved and len(asked) < 10


def test_without_time_there_is_a_move_nevertheless() -> None:
    machine, thinker = machine_of("frogsAndToads"), thinker_of("frogsAndToads")
    thinker.think(time.monotonic() - 1, lambda: False)
    assert thinker.choose() in machine.legal_moves(machine.initial_state, 0)


def test_a_seed_and_a_budget_fix_the_game() -> None:
    lines = []
    for _ in range(2):
        thinker = thinker_of("frogsAndToads", ":simulations=3000")
        think(thinker)
        lines.append((thinker.line, thinker.report()["puzzle"]["generated"]))  # type: ignore[index]
    assert lines[0] == lines[1]


# Decision 46
@pytest.mark.parametrize("share", ["1", "0.9"])
def test_nobody_ends_with_less_than_the_best_line_seen(share: str) -> None:
    machine = machine_of("maxKnights")
    thinker = thinker_of("maxKnights", f":exact={share}:simulations=2000")
    seen, state = -1, machine.initial_state
    for _ in range(3):
        think(thinker)
        assert thinker.line is not None and thinker.line.goal >= seen
        seen, move = thinker.line.goal, thinker.choose()
        state = machine.next_state(state, [move])
        thinker.enter(state, [move])
    assert play_out(machine, thinker, state, thinks=False) == seen


def test_the_tree_search_has_lines_where_exact_search_has_none() -> None:
    machine = machine_of("frogsAndToads")
    thinker = thinker_of("frogsAndToads", ":simulations=2000")
    think(thinker)
    line = thinker.line
    assert line is not None and line.goal > 0
    assert play_out(machine, thinker, machine.initial_state, thinks=False) == line.goal


def test_what_is_reported() -> None:
    thinker = thinker_of(LATE)
    think(thinker)
    report = thinker.report()
    puzzle = report["puzzle"]
    assert isinstance(puzzle, dict)
    assert (puzzle["goal"], puzzle["moves"], puzzle["proven"]) == (70, 4, True)
    assert "; exact search: line to 70 in 4 moves, proven, " in one_line(report)
    assert report["proven"] == [70, 70] and len(report["variation"]) == 4  # type: ignore[arg-type]


def test_the_end_of_the_game() -> None:
    machine, thinker = machine_of(BUTTONS), thinker_of(BUTTONS)
    think(thinker)
    play_out(machine, thinker, machine.initial_state, thinks=False)
    think(thinker)
    assert thinker.line is None or not thinker.line.moves


def test_when_nothing_is_left_to_find_out_the_thinking_ends() -> None:
    """Here the tree is complete, and there is no room for the states."""
    thinker = thinker_of(LATE)
    thinker._exact._full = True
    thinker._exact.start = lambda state, known: None  # type: ignore[method-assign]
    think(thinker)
    assert thinker.line is not None and thinker.line.goal == 70 and thinker.is_solved


@pytest.mark.parametrize("threads", [2])
def test_with_several_trees(threads: int) -> None:
    agent = read_agent(f"default:threads={threads}:memory=64")
    machine = machine_of(LATE)
    thinker = make_thinker(machine, 0, agent, 1)
    assert isinstance(thinker, PuzzleSearch)
    think(thinker)
    assert play_out(machine, thinker, machine.initial_state, thinks=False) == 70


def test_default_has_it() -> None:
    assert find_agent("default").number("exact") == 0.9
