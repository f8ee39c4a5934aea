"""What every game of the library must have, and that it is as its METADATA say."""

from __future__ import annotations

import random

import pytest

from gdl.rules import Clause, RuleSheet, Term, name_of, write_term
from gdl.state_machine import order
from gdl.validation import check_rules
from ggp_agent.library.games import KINDS, find_game, games
from propnet.machine import PropnetStateMachine
from tests.games.machines import GOLDEN, KEYS, machine_of, random_states
from tests.games.public import PUBLIC
from tests.games.references import PYTHON_GAMES

LONGEST = 200
"""No game may take more steps."""
WITHOUT_BOARD = {"farmers", "nim", "pancakes8", "rockPaperScissors", "runners", "statespace"}
PLAYOUTS = 3


def test_every_game_has_its_golden_files_and_no_other_has() -> None:
    for folder in ("perft", "playthroughs"):
        assert {path.stem for path in (GOLDEN / folder).glob("*.txt")} == set(KEYS)


def test_every_game_is_held_against_a_public_sheet_or_python() -> None:
    assert set(PUBLIC) | set(PYTHON_GAMES) == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_metadata_are_complete(key: str) -> None:
    game = find_game(key)
    assert game.path.name == f"{key}.kif"
    assert game.name and game.source
    assert len(game.description.split()) > 10
    assert game.kind in KINDS
    assert game.constant_sum is not None
    assert game.roles == len(machine_of(key).roles)
    assert (game.kind == "single-player") == (game.roles == 1)
    assert (game.board is None) == (key in WITHOUT_BOARD)


@pytest.mark.parametrize("key", KEYS)
def test_the_rule_sheet_has_no_findings_and_begins_with_the_rules_in_words(key: str) -> None:
    text = find_game(key).text()
    assert [finding.render() for finding in check_rules(text, key)] == []
    words = text[: text.index("(role")].replace(";", " ").split()
    assert len(words) > 25


@pytest.mark.parametrize("key", KEYS)
def test_the_board_shows_the_pieces(key: str) -> None:
    game, machine = find_game(key), machine_of(key)
    if game.board is None:
        return
    described = {name_of(fluent) for fluent in machine.network.fluents}
    assert game.board.relation in described
    # every instance of the relation has its square, and its glyph where there are any
    instances = [f for f in machine.network.fluents if name_of(f) == game.board.relation]
    assert [f for f in instances if game.board.square(f) is None] == []
    if game.board.glyphs:
        assert {game.board.glyph(f) for f in instances} == set(game.board.glyphs.values())
    squares = {game.board.square(f) for f in instances}
    for y, row in enumerate(game.board.rows):
        for x, column in enumerate(game.board.columns):
            if game.board.background(x, y) == game.board.empty:
                assert (column, row) in squares


@pytest.mark.parametrize("key", KEYS)
def test_base_and_input_name_all_fluents_and_moves(key: str) -> None:
    machine = machine_of(key)
    fluents, moves = _declared(find_game(key).rule_sheet())
    assert set(machine.network.fluents) - fluents == set()
    for role, reachable in zip(machine.roles, machine.network.moves, strict=True):
        assert set(reachable) - moves[role] == set()


def _declared(sheet: RuleSheet) -> tuple[frozenset[Term], dict[Term, set[Term]]]:
    """The instances of `base`, and those of `input` by role.

    They are those of `init` and `legal` in a sheet that calls them so.
    """
    names = {"base": "init", "input": "legal"}
    lines = ["terminal", "(<= (goal ?r 0) (role ?r))"]
    for head, body in _needed(list(sheet.clauses())):
        name = names.get(name_of(head), name_of(head))
        renamed: Term = name if isinstance(head, str) else (name, *head[1:])
        literals = (write_term(a) if positive else f"(not {write_term(a)})" for positive, a in body)
        lines.append(
            f"(<= {write_term(renamed)} {' '.join(literals)})" if body else write_term(renamed)
        )
    machine = PropnetStateMachine.from_rules(RuleSheet.from_text("\n".join(lines), "declared"))
    pairs = zip(machine.roles, machine.network.moves, strict=True)
    return machine.fluents(machine.initial_state), {role: set(moves) for role, moves in pairs}


def _needed(clauses: list[Clause]) -> list[Clause]:
    """The clauses on which `base`, `input` and `role` depend."""
    needed, size = {"base", "input", "role"}, 0
    while len(needed) > size:
        size = len(needed)
        needed |= {name_of(a) for head, body in clauses if name_of(head) in needed for _, a in body}
    return [clause for clause in clauses if name_of(clause.head) in needed]


@pytest.mark.parametrize("key", KEYS)
def test_random_games_are_as_metadata_say(key: str) -> None:
    game, machine = find_game(key), machine_of(key)
    roles, sums, most_choosing = range(len(machine.roles)), set(), 0
    for seed in range(PLAYOUTS):
        for step, (state, joint_move) in enumerate(random_states(machine, seed)):
            assert step <= LONGEST
            goals = machine.goals(state)
            assert all(0 <= goal <= 100 for goal in goals)
            if joint_move:
                choices = [len(machine.legal_moves(state, role)) for role in roles]
                assert min(choices) > 0, "a role without a legal move"
                most_choosing = max(most_choosing, sum(count > 1 for count in choices))
            else:
                sums.add(sum(goals))
    if len(roles) > 1:
        assert (game.kind == "simultaneous") == (most_choosing > 1)
        assert len(sums) == 1 or not game.constant_sum


GENERAL_SUM = [game.key for game in games() if game.roles != 1 and not game.constant_sum]


@pytest.mark.parametrize("key", GENERAL_SUM)
def test_sums_of_goals_differ_where_metadata_say_so(key: str) -> None:
    """Some random games may have to be played until two of them show it."""
    sums: set[int] = set()
    seed = 0
    while len(sums) < 2:
        assert seed < 300
        sums.add(_sum_in_python(key, seed) if key in PYTHON_GAMES else _sum(key, seed))
        seed += 1


def _sum(key: str, seed: int) -> int:
    machine = machine_of(key)
    return sum(machine.goals([state for state, _ in random_states(machine, seed)][-1]))


def _sum_in_python(key: str, seed: int) -> int:
    game, rng = PYTHON_GAMES[key], random.Random(seed)
    state = game.initial
    while not game.is_terminal(state):
        moves = (rng.choice(sorted(moves, key=order)) for moves in game.legal(state))
        state = game.next(state, tuple(moves))
    return sum(game.goals(state))
