"""Boards as golden text, the guess at unknown sheets, and that no state at all breaks a drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gdl.grounding import ground
from gdl.rules import Term, read_term
from ggp_agent.errors import GameError
from ggp_agent.library.board_descriptions import LINE_WIDTH, BoardDescription
from ggp_agent.library.board_guesses import guess_board
from ggp_agent.library.boards import draw
from ggp_agent.library.games import find_game


def state(text: str) -> frozenset[Term]:
    """Fluents written one after the other: `(control x) (step 4)`."""
    term = read_term(f"(state {text})")
    return frozenset(term[1:]) if isinstance(term, tuple) else frozenset()


def lines(text: str) -> str:
    """A golden text, indented by four in this file and with a line end in front."""
    return "\n".join(line.removeprefix("    ").rstrip() for line in text.strip("\n").split("\n"))


INITIAL = {
    "breakthrough": """
    8  B B B B B B B B
    7  B B B B B B B B
    6  . . . . . . . .
    5  . . . . . . . .
    4  . . . . . . . .
    3  . . . . . . . .
    2  W W W W W W W W
    1  W W W W W W W W
       a b c d e f g h
    control: white""",
    "connectFour": """
    6  . . . . . . .
    5  . . . . . . .
    4  . . . . . . .
    3  . . . . . . .
    2  . . . . . . .
    1  . . . . . . .
       1 2 3 4 5 6 7
    control: red""",
    "eightPuzzle": """
    1  8 1 2
    2  7 . 3
    3  6 5 4
       1 2 3
    gap: 2 2; step: 0""",
    "nim": """
    control: first
    heap: a 1, b 3, c 5, d 7""",
    "rockPaperScissors": """
    points: left 50, right 50
    rounds: 0""",
    "ticTacToe": """
    3  . . .
    2  . . .
    1  . . .
       1 2 3
    control: x""",
    "ticTacToe3Player": """
    5  . . . . .
    4  . . . . .
    3  . . . . .
    2  . . . . .
    1  . . . . .
       1 2 3 4 5
    control: cross""",
}

MID_GAME = {
    "breakthrough": (
        """(control black) (pawn a 1 white) (pawn b 1 white) (pawn d 6 white) (pawn e 4 white)
           (pawn e 7 black) (pawn h 5 black) (pawn c 8 black)""",
        """
    8  . . B . . . . .
    7  . . . . B . . .
    6  . . . W . . . .
    5  . . . . . . . B
    4  . . . . W . . .
    3  . . . . . . . .
    2  . . . . . . . .
    1  W W . . . . . .
       a b c d e f g h
    control: black""",
    ),
    "connectFour": (
        """(disc 4 1 red) (disc 4 2 yellow) (disc 4 3 red) (disc 1 1 yellow) (disc 7 1 red)
           (control yellow)""",
        """
    6  . . . . . . .
    5  . . . . . . .
    4  . . . . . . .
    3  . . . R . . .
    2  . . . Y . . .
    1  Y . . R . . R
       1 2 3 4 5 6 7
    control: yellow""",
    ),
    "eightPuzzle": (
        """(tile 1 1 8) (tile 2 1 1) (tile 3 1 2) (tile 2 2 7) (tile 3 2 3) (tile 1 3 6)
           (tile 2 3 5) (tile 3 3 4) (gap 1 2) (step 1)""",
        """
    1  8 1 2
    2  . 7 3
    3  6 5 4
       1 2 3
    gap: 1 2; step: 1""",
    ),
    "nim": (
        "(heap a 0) (heap d 2) (heap b 3) (heap c 5) (control second)",
        """
    control: second
    heap: a 0, b 3, c 5, d 2""",
    ),
    "rockPaperScissors": (
        "(rounds 3) (points right 60) (points left 40)",
        """
    points: left 40, right 60
    rounds: 3""",
    ),
    "ticTacToe": (
        "(mark 2 2 x) (mark 3 1 o) (control x)",
        """
    3  . . .
    2  . X .
    1  . . O
       1 2 3
    control: x""",
    ),
    "ticTacToe3Player": (
        "(mark 3 3 cross) (mark 4 3 nought) (mark 3 2 plus) (mark 1 5 cross) (control nought)",
        """
    5  X . . . .
    4  . . . . .
    3  . . X O .
    2  . . + . .
    1  . . . . .
       1 2 3 4 5
    control: nought""",
    ),
}


@pytest.mark.parametrize("key", INITIAL)
def test_initial_states(key: str) -> None:
    game = find_game(key)
    initial = ground(game.rule_sheet(), seconds=60).initial
    assert draw(initial, game.board) == lines(INITIAL[key])


@pytest.mark.parametrize("key", MID_GAME)
def test_mid_game_states(key: str) -> None:
    fluents, drawing = MID_GAME[key]
    assert draw(state(fluents), find_game(key).board) == lines(drawing)


# ------------------------------------------------------------------------- with a description

BOARD = BoardDescription("at", ("a", "b"), ("2", "1"), column=2, row=3, piece=1)


def test_positions_of_the_arguments_are_free() -> None:
    assert draw(state("(at x b 1)"), BOARD) == lines("""
    2  . .
    1  . x
       a b""")


def test_what_does_not_fit_the_board_is_listed_below() -> None:
    fluents = state("(at x b 1) (at y c 1) (at z) at (queue (card 3)) (queue (card 10)) over")
    assert draw(fluents, BOARD) == lines("""
    2  . .
    1  . x
       a b
    at; at: y c 1, z; over; queue: (card 3), (card 10)""")


def test_a_piece_without_a_glyph_is_named_and_pads_the_others() -> None:
    assert draw(state("(at knight a 2) (at (pawn white) b 1)"), BOARD) == lines("""
    2  knight       .
    1  .            (pawn white)
       a            b""")


def test_two_pieces_on_a_square_are_both_shown() -> None:
    assert draw(state("(at x b 1) (at o b 1)"), BOARD) == lines("""
    2  .   .
    1  .   o/x
       a   b""")


def test_long_labels_line_up() -> None:
    board = BoardDescription("at", ("9", "10"), ("10", "9"))
    assert draw(state("(at 10 9 x) (at 9 10 o)"), board) == lines("""
    10  o  .
     9  .  x
        9  10""")


LEVELS = BoardDescription(
    "mark", ("11", "21", "", "12", "22"), ("2", "1"), column=(1, 3), row=2, piece=(4, 5)
)


def test_several_arguments_may_be_one_coordinate_or_piece_and_empty_labels_are_gaps() -> None:
    board = replace(LEVELS, glyphs={"white king": "K"})
    fluents = "(mark 1 2 1 white king) (mark 2 1 2 white pawn) (mark 3 1 2 white king)"
    assert draw(state(fluents), board) == lines("""
    2  K          .                     .          .
    1  .          .                     .          white pawn
       11         21                    12         22
    mark: 3 1 2 white king""")


def test_a_gap_between_rows_is_an_empty_line() -> None:
    board = BoardDescription("at", ("a", "b"), ("2", "", "1"))
    assert draw(state("(at b 2 x)"), board) == lines("""
    2  . x

    1  . .
       a b""")


def test_where_the_board_has_no_square_nothing_is_drawn_but_a_piece() -> None:
    board = BoardDescription("at", ("a", "b"), ("2", "1"), shape=("x ", " x"))
    assert draw(state("(at b 2 o)"), board) == lines("""
    2  . o
    1    .
       a b""")


def test_without_an_argument_for_it_the_piece_is_the_relation() -> None:
    board = BoardDescription("queen", ("a", "b"), ("2", "1"), piece=())
    assert draw(state("(queen b 2)"), replace(board, glyphs={"queen": "Q"})) == lines("""
    2  . Q
    1  . .
       a b""")
    assert "queen" in draw(state("(queen b 2)"), board)


def test_further_arguments_do_not_matter() -> None:
    assert draw(state("(at x b 1 moved)"), BOARD).splitlines()[1] == "1  . x"


def test_a_relation_of_another_shape_is_left_to_the_guess() -> None:
    fluents = state("(at 3) (cell 1 1 x) (cell 2 2 o)")
    assert draw(fluents, BOARD) == lines("""
    2  . o
    1  x .
       1 2
    at: 3""")
    assert draw(state("(at 3) (step 1)"), BOARD) == "at: 3\nstep: 1"


def test_a_line_below_the_board_is_wrapped_when_it_is_long() -> None:
    fluents = state(" ".join(f"(note{n} is something to remember)" for n in range(9)))
    below = draw(fluents, BOARD).splitlines()[3:]
    assert len(below) == 3
    assert all(len(line) <= LINE_WIDTH for line in below)
    assert below[1].startswith("  note")


# ---------------------------------------------------------------------- without a description


def test_a_full_board_is_guessed_and_b_is_blank_by_custom() -> None:
    fluents = state("(cell 1 1 x) (cell 1 2 b) (cell 2 1 b) (cell 2 2 o) (control x)")
    assert draw(fluents) == lines("""
    2  . o
    1  x .
       1 2
    control: x""")


@pytest.mark.parametrize(
    "fluents",
    [
        "(cell 1 1 r) (cell 1 2 b) (cell 2 1 b)",
        "(cell 1 1 w) (cell 1 2 b) (cell 2 1 b) (cell 2 2 b)",
    ],
)
def test_b_may_be_black(fluents: str) -> None:
    assert draw(state(fluents)).splitlines()[0].startswith("2  b")


def test_letters_are_columns_wherever_they_stand() -> None:
    first, second = state("(at c 1 x) (at a 2 o)"), state("(at 1 c x) (at 2 a o)")
    expected = lines("""
    2  o . .
    1  . . x
       a b c""")
    assert draw(first) == draw(second) == expected


def test_a_piece_may_come_first() -> None:
    assert draw(state("(at white 1 1) (at white 3 2)")) == lines("""
    2  .     .     white
    1  white .     .
       1     2     3""")


def test_numbers_may_stand_behind_a_letter() -> None:
    assert draw(state("(at x1 y1 o) (at x2 y11 o)")).splitlines()[-1] == "     x1 x2"


@pytest.mark.parametrize(
    "fluents",
    [
        "(edge a 1 x) (edge a 1 y) (edge b 2 x)",  # two pieces on a square
        "(cell 1 1 x) (cell 1 2 o)",  # a single column
        "(cell 1 x) (cell 2 o)",  # two arguments
        "(cell 1 1 x) (cell 2 2 o) (cell 3)",  # not always three arguments
        "(cell 1 1 x) (cell 2 (f 2) o)",  # a coordinate that is none
        "(cell 1 1 x) (cell x2 2 o)",  # two kinds of column labels
        "(cell 1 1 x) (cell 01 2 o) (cell 2 2 o)",  # a number that is not written like one
        "(cell 1 1 x) (cell 99 99 o)",  # too large
        "(cell 1 1 averylongpiece) (cell 2 2 o)",
        "(cell 1 1 x) (cell 2 2 o) (tile 1 1 x) (tile 2 2 o)",  # which of them?
    ],
)
def test_what_is_not_clearly_a_board_is_listed(fluents: str) -> None:
    assert guess_board(state(fluents)) is None
    assert ":" in draw(state(fluents)).splitlines()[0]


def test_the_larger_of_two_grids_is_the_board() -> None:
    fluents = state("(cell 1 1 x) (cell 2 2 o) (cell 1 2 o) (tile 1 1 x) (tile 2 2 o)")
    board = guess_board(fluents)
    assert board is not None
    assert board.relation == "cell"
    assert draw(fluents).splitlines()[-1] == "tile: 1 1 x, 2 2 o"


def test_a_list_has_a_line_a_relation_and_is_wrapped() -> None:
    fluents = state("done " + " ".join(f"(pit p{n} stones{n})" for n in range(30)))
    drawn = draw(fluents).splitlines()
    assert drawn[0] == "done"
    assert drawn[1].startswith("pit: p0 stones0, p1 stones1, ")
    assert drawn[2].startswith("  ")
    assert all(len(line) <= LINE_WIDTH for line in drawn)
    assert "".join(drawn).count("stones") == 30


def test_an_empty_state_is_said_to_be_empty() -> None:
    assert draw(frozenset()) == "(no fluent is true)"


def test_a_symbol_cannot_send_commands_to_the_terminal() -> None:
    assert "\x1b" not in draw(frozenset({("note", "\x1b[2J"), "\x1b[31m"}))
    assert "\x1b" not in draw(frozenset({("at", "\x1b[2J", "a", "1")}), BOARD)


SYMBOLS = st.sampled_from(
    ["at", "cell", "a", "b", "1", "2", "12", "x3", "blank", "+", "é", "棋", "\x07"]
)
TERMS = st.recursive(
    SYMBOLS,
    lambda terms: st.tuples(SYMBOLS, terms, terms) | st.tuples(SYMBOLS, terms, terms, terms),
)


@given(st.frozensets(TERMS, max_size=12), st.sampled_from([None, BOARD]))
def test_every_state_can_be_drawn(
    fluents: frozenset[Term], description: BoardDescription | None
) -> None:
    drawn = draw(fluents, description)
    assert drawn.replace("\n", "").isprintable()
    assert drawn == draw(sorted(fluents, key=str), description)


@given(st.dictionaries(st.tuples(st.integers(1, 6), st.integers(1, 6)), SYMBOLS, min_size=1))
def test_the_columns_of_a_board_line_up(squares: dict[tuple[int, int], str]) -> None:
    six = tuple("123456")
    board = BoardDescription("cell", six, six)
    fluents = frozenset(("cell", str(x), str(y), piece) for (x, y), piece in squares.items())
    *rows, labels = draw(fluents, board).splitlines()
    starts = [labels.index(label) for label in six]
    for row in rows:
        # Every column starts with a piece, behind a space, at the place of its label.
        cells = "".join(character + "\0" * (cell_len(character) - 1) for character in row)
        assert all(cells[start - 1] == " " != cells[start] for start in starts)


# ------------------------------------------------------------------- descriptions in METADATA

JSON: dict[str, Any] = {"relation": "Cell", "columns": ["A", "b"], "rows": ["2", "1"]}


def test_a_description_is_read_with_defaults_and_in_lower_case() -> None:
    expected = BoardDescription("cell", ("a", "b"), ("2", "1"), 1, 2, 3, {}, ".")
    assert BoardDescription.from_json(JSON) == expected
    board = BoardDescription.from_json({**JSON, "glyphs": {"Red": "R"}, "piece": 1, "column": 3})
    assert (board.glyphs, board.piece, board.column, board.row) == ({"red": "R"}, 1, 3, 2)
    board = BoardDescription.from_json({**JSON, "column": [1, 4], "piece": []})
    assert (board.column, board.piece) == ((1, 4), ())
    board = BoardDescription.from_json({**JSON, "columns": ["a", "", "b", ""], "shape": ["x"] * 0})
    assert (board.columns, board.shape) == (("a", "", "b", ""), ())
    board = BoardDescription.from_json({**JSON, "shape": ["x ", " x"], "piece": [3]})
    assert (board.shape, board.piece) == (("x ", " x"), 3)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"relation": None}, "'relation' must be one word"),
        ({"relation": "two words"}, "'relation' must be one word"),
        ({"columns": []}, "'columns' must be a list"),
        ({"columns": "abc"}, "'columns' must be a list"),
        ({"rows": [1, 2]}, "'rows' must be one word"),
        ({"rows": ["a", "A"]}, "'rows' has the same label twice"),
        ({"rows": ["a", " "]}, "'rows' must be one word"),
        ({"column": 0}, "'column' must be an argument's position"),
        ({"row": True}, "'row' must be an argument's position"),
        ({"column": []}, "'column' must be an argument's position"),
        ({"column": [1, 0]}, "'column' must be an argument's position"),
        ({"piece": ["x"]}, "'piece' must be an argument's position"),
        ({"piece": 2}, "three different positions"),
        ({"column": [1, 3]}, "three different positions"),
        ({"shape": "x."}, "'shape' must be a list of texts"),
        ({"shape": ["xx"]}, "'shape' must be 2 texts of 2 characters"),
        ({"shape": ["xx", "x"]}, "'shape' must be 2 texts of 2 characters"),
        ({"glyphs": ["x"]}, "'glyphs' must be an object"),
        ({"glyphs": {"x": "XX"}}, "'glyphs.x' must be one character"),
        ({"glyphs": {"x": "棋"}}, "one column wide"),
        ({"empty": ""}, "'empty' must be one character"),
        ({"empty": "\x1b"}, "'empty' must be"),
        ({"colour": "red"}, "unknown key 'colour'"),
    ],
)
def test_a_wrong_description_says_what_is_wrong(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(GameError, match=complaint):
        BoardDescription.from_json({**JSON, **change})


@pytest.mark.parametrize("key", ["relation", "columns", "rows"])
def test_a_description_needs_its_keys(key: str) -> None:
    with pytest.raises(GameError, match=f"the key '{key}' is missing"):
        BoardDescription.from_json({k: v for k, v in JSON.items() if k != key})
