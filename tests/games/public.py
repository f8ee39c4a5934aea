"""Our games and the public rule sheets of the same games: how one's moves are the other's.

Roles correspond in their order.  Where the public sheet is another variant of the game or has a
fault, `edits` change its text before the comparison; each says why.  Every edit must apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from gdl.rules import RuleSheet, Term, arguments_of, name_of
from tests.conformance import SHARED

Canonical = tuple[object, ...]


class Position(NamedTuple):
    """Where a move is made: our state, and how many joint moves led to it."""

    step: int
    fluents: frozenset[Term]


Translation = Callable[[Position, str, list[str]], Canonical]
"""Of a move after so many joint moves: its name and arguments to what both sides are read as."""


def _same(_: Position, name: str, arguments: list[str]) -> Canonical:
    return (name, *arguments)


@dataclass(frozen=True)
class Edit:
    """A change of the public sheet's text: a pattern and its replacement."""

    pattern: str
    replacement: str
    reason: str


@dataclass(frozen=True)
class PublicSheet:
    """The public sheet of a game of ours."""

    name: str
    ours: Translation = _same
    """reads a move of ours as one of the public sheet, without what it says in excess"""
    theirs: Translation = _same
    """drops from a public move what it says in excess"""
    edits: tuple[Edit, ...] = ()
    goals: bool = True
    """whether the goals at the end are the same, too; if not, `note` says how they differ"""
    note: str = ""
    heavy: bool = False
    """grounding the public sheet takes so long that it is only done on demand"""

    def rule_sheet(self) -> RuleSheet:
        """The sheet, edited; skips the test where it is not there."""
        path = SHARED / f"{self.name}.kif"
        if not path.is_file():
            pytest.skip(f"no {self.name}.kif in {SHARED}; set GGP_RULESHEETS")
        text = path.read_bytes().decode("utf-8", errors="replace")
        for edit in self.edits:
            text, count = re.subn(edit.pattern, edit.replacement, text)
            assert count, f"{self.name}: nothing to change for: {edit.reason}"
        return RuleSheet.from_text(text, str(path))

    def ours_as_theirs(self, position: Position, move: Term) -> Canonical:
        """A move of ours, as the public sheet has it."""
        return self.ours(position, name_of(move), [str(a) for a in arguments_of(move)])

    def theirs_in_short(self, position: Position, move: Term) -> Canonical:
        """A public move without what it says in excess."""
        return self.theirs(position, name_of(move), [str(a) for a in arguments_of(move)])


def _number(letter: str) -> str:
    return str(ord(letter) - ord("a") + 1)


def _letter(number: str) -> str:
    return chr(ord("a") + int(number) - 1)


def _digits(arguments: list[str]) -> list[str]:
    """Letters of files as numbers."""
    return [_number(a) if len(a) == 1 and a.isalpha() else a for a in arguments]


def _called(**names: str) -> Translation:
    """Other names of moves, the same arguments."""
    return lambda _, name, arguments: (names.get(name, name), *arguments)


def _numbered(**names: str) -> Translation:
    """Other names of moves, files as numbers."""
    return lambda _, name, arguments: (names.get(name, name), *_digits(arguments))


def _connect_five(_: Position, name: str, arguments: list[str]) -> Canonical:
    return ("mark", *map(_letter, arguments)) if name == "place" else (name,)


def _sheep_and_wolf(_: Position, name: str, arguments: list[str]) -> Canonical:
    return (name, *(f"c{a}" for a in _digits(arguments)))


def _chinook(_: Position, name: str, arguments: list[str]) -> Canonical:
    """Moves are named after the colour of squares; a pass after the one where one is to move."""
    if name == "pass":
        return ("pass",)
    dark = (int(_number(arguments[0])) + int(arguments[1])) % 2 == 0
    return (f"{'odd' if dark else 'even'}{name}", *arguments)


def _chinook_pass(_: Position, name: str, arguments: list[str]) -> Canonical:
    return ("pass",) if name in ("oddnoop", "evennoop") else (name, *arguments)


def _quad(_: Position, name: str, arguments: list[str]) -> Canonical:
    if name == "noop":
        return (name,)
    return ("mark" if name == "place" else name, f"r{arguments[1]}", f"c{arguments[0]}")


STAR = {
    "a": [7],
    "b": [6, 8],
    "c": [1, 3, 5, 7, 9, 11, 13],
    "d": [2, 4, 6, 8, 10, 12],
    "e": [3, 5, 7, 9, 11],
    "f": [2, 4, 6, 8, 10, 12],
    "g": [1, 3, 5, 7, 9, 11, 13],
    "h": [6, 8],
    "i": [7],
}
"""Chinese checkers: the columns of the holes in each row, which the public sheet numbers."""


def _chinese_checkers(_: Position, name: str, arguments: list[str]) -> Canonical:
    pairs = zip(arguments[1::2], arguments[::2], strict=True)
    return (name, *(f"{row}{STAR[row].index(int(column)) + 1}" for row, column in pairs))


def _checkers(_: Position, name: str, arguments: list[str]) -> Canonical:
    """The public board is ours seen in a mirror."""
    names = {"jump": "move", "jumptwice": "doublejump", "jumpthrice": "triplejump"}
    mirrored = [chr(ord("a") + ord("h") - ord(a)) if a.isalpha() else a for a in arguments]
    return (names.get(name, name), *mirrored)


def _without_piece(_: Position, name: str, arguments: list[str]) -> Canonical:
    return (name, *arguments[1:])


TTCC4 = _called(movepawn="pawnmove", moveknight="knightmove", movechecker="checkermove")

QUADRANTS = {("second", "second"): "1", ("first", "second"): "2", ("first", "first"): "3"}


def _pentago(_: Position, name: str, arguments: list[str]) -> Canonical:
    if name == "place":
        halves = ["first" if int(a) <= 3 else "second" for a in arguments]
        local = [str((int(a) - 1) % 3 + 1) for a in arguments]
        return (name, QUADRANTS.get((halves[0], halves[1]), "4"), *local)
    if name == "rotate":
        return (name, QUADRANTS.get((arguments[0], arguments[1]), "4"), arguments[2])
    return (name,)


def _reversi(_: Position, name: str, arguments: list[str]) -> Canonical:
    if name == "noop":
        return (name,)
    return ("move", str(9 - int(_number(arguments[0]))), arguments[1])


def _nine_boards(_: Position, name: str, arguments: list[str]) -> Canonical:
    return ("play", *arguments) if name == "place" else (name,)


def _without_mark(_: Position, name: str, arguments: list[str]) -> Canonical:
    return (name, *arguments[:4])


def _bidding(_: Position, name: str, arguments: list[str]) -> Canonical:
    extra = {"plain": "no_tiebreaker", "tiebreaker": "with_tiebreaker"}
    return ("mark" if name == "place" else name, *(extra.get(a, a) for a in arguments))


def _sudoku(_: Position, name: str, arguments: list[str]) -> Canonical:
    """Columns and rows are numbered three by three."""
    column, row = (int(a) - 1 for a in arguments[:2])
    return (
        "mark",
        *map(str, (column // 3 + 1, column % 3 + 1)),
        *map(str, (row // 3 + 1, row % 3 + 1)),
        arguments[2],
    )


GRID = (
    ".....4256",
    "297...38.",
    "....2..19",
    "356.71...",
    ".7925....",
    "81.93.4..",
    "52..1.9..",
    "7.1..95..",
    "9.4......",
)
"""Our sudoku, row by row from the top."""


def _sudoku_start() -> str:
    cells = (
        f"(init (cell {x // 3 + 1} {x % 3 + 1} {y // 3 + 1} {y % 3 + 1} {d.replace('.', 'b')}))"
        for y, row in enumerate(GRID)
        for x, d in enumerate(row)
    )
    return "\n".join(cells)


LIT = ("1...5", ".2.45", ".23.5", "12345", "123..")
"""Our lights, row by row from the top."""


def _lights_start() -> str:
    cells = (
        f"(init (cell {x} {y} {'light' if str(x) in row else 'nolight'}))"
        for y, row in zip(range(5, 0, -1), LIT, strict=True)
        for x in range(1, 6)
    )
    return "\n".join(cells)


def _zhadu(_: Position, name: str, arguments: list[str]) -> Canonical:
    if name == "noop":
        return (name,)
    value, triangle, spot = arguments
    return (name, "123" if value == "wild" else value, triangle + spot.replace("0", ""))


DIRECTIONS = {(-1, 1): "nw", (0, 1): "n", (1, 1): "ne", (1, 0): "e"} | {
    (1, -1): "se",
    (0, -1): "s",
    (-1, -1): "sw",
    (-1, 0): "w",
}


def _merrills(_: Position, name: str, arguments: list[str]) -> Canonical:
    """Points are named by square and direction from the middle, d4."""
    points: list[str] = []
    for column, row in zip(arguments[::2], arguments[1::2], strict=True):
        dx, dy = ord(column) - ord("d"), int(row) - 4
        size = max(abs(dx), abs(dy))
        points += [("inner", "middle", "outer")[size - 1], DIRECTIONS[dx // size, dy // size]]
    return (name, *points)


FARMERS = {
    "build": "eaversim",
    "make": "alesom",
    "sell": "thubduke",
    "buy": "craind",
    "harvest": "priend",
    "wait": "wompur",
    "farm": "nobehous",
    "factory": "therran",
    "wheat": "majectoody",
    "flour": "theretwit",
    "cotton": "beivers",
    "cloth": "county",
}


def _farmers(_: Position, name: str, arguments: list[str]) -> Canonical:
    return tuple(FARMERS[word] for word in (name, *arguments))


def _chess(position: Position, name: str, arguments: list[str]) -> Canonical:
    """The public moves name the piece that arrives."""
    if name == "castle":
        return (f"castle{arguments[0]}",)
    if name == "promote":
        return ("move", *arguments)
    if name == "noop":
        return (name,)
    kinds = [
        fluent[4]
        for fluent in position.fluents
        if name_of(fluent) == "piece" and list(fluent[1:3]) == arguments[:2]
    ]
    return ("move", *map(str, kinds), *arguments)


def _chain(name: str, first: int, last: int) -> str:
    return " ".join(f"({name} {n} {n + 1})" for n in range(first, last))


PUBLIC: dict[str, PublicSheet] = {
    "amazons6x6": PublicSheet(
        "amazons_8x8",
        ours=_numbered(shoot="fire"),
        edits=(
            Edit(r"\(index [78]\)|\(nextIndex \d [78]\)", "", "our board is 6 x 6"),
            Edit(r"\(init \(cell \d \d \w+\)\)", "", "our start"),
            Edit(
                r"\(init \(turn white move\)\)",
                "(init (turn white move)) (init (cell 2 1 white)) (init (cell 5 1 white))"
                "(init (cell 2 6 black)) (init (cell 5 6 black))",
                "our start",
            ),
        ),
    ),
    "battle": PublicSheet("battle"),
    "biddingTicTacToe": PublicSheet("biddingTicTacToe", ours=_bidding),
    "breakthrough": PublicSheet("breakthrough", ours=_numbered()),
    "checkers": PublicSheet("checkers", ours=_checkers, theirs=_without_piece, heavy=True),
    "chess": PublicSheet(
        "chess_200",
        ours=_chess,
        note="theirs overlooks some checks around captures en passant, and lets one castle with a "
        "rook that came to the place of a captured one",
        heavy=True,
    ),
    "chineseCheckers3": PublicSheet("v1/chineseCheckers3", ours=_chinese_checkers),
    "chinook": PublicSheet("chinook", ours=_chinook, theirs=_chinook_pass),
    "connectFive": PublicSheet("connect5", ours=_connect_five),
    "connectFour": PublicSheet(
        "connectFour",
        edits=(Edit(r"\(x 8\)", "", "our board has 7 columns, as the boxed game"),),
    ),
    "farmers": PublicSheet(
        "farmers",
        ours=_farmers,
        edits=(
            Edit(
                r"(\(NATERY \?KNEIRS\))\)",
                r"\1 (TRUE (THEMBEAR ?QUOURTINE ?KNEIRS)))",
                "a fault: who makes a product gets every good but the raw one",
            ),
            Edit(
                r"(\(ROLE MUCHUS\))",
                r"\1 (<= (NEXT (THEMBEAR ?F ?G)) (DOES ?F (CRAIND ?H)) (TRUE (THEMBEAR ?F ?G)))"
                r" (<= (NEXT (THEMBEAR ?F ?G)) (DOES ?F (PRIEND ?H)) (TRUE (THEMBEAR ?F ?G)))",
                "a fault: who buys or harvests a good loses all others",
            ),
            Edit(
                r"\(<= \(WISFUS 80 \?ANIGHT\) \(ENATUR \?ANIGHT\)\)",
                "",
                "a fault: 80 is at least as much as any number",
            ),
            Edit(r"\((SERETCH|ENATUR) (100 )?[A-Z ]*\)", "", "numbers that are not reached"),
        ),
    ),
    "hex": PublicSheet("hex"),
    "knightthrough": PublicSheet("knightThrough", ours=_numbered()),
    "lightsOut": PublicSheet(
        "lightsOut",
        ours=_called(press="switch"),
        edits=(
            Edit(r"\(init \(cell [^)]*\)\)", "", "our start"),
            Edit(r"\(init \(step 0\)\)", f"(init (step 0)) {_lights_start()}", "our start"),
        ),
    ),
    "maxKnights": PublicSheet("max_knights"),
    "merrills": PublicSheet("merrills", ours=_merrills, heavy=True),
    "nineBoardTicTacToe": PublicSheet(
        "nineBoardTicTacToe", ours=_nine_boards, theirs=_without_mark
    ),
    "pancakes8": PublicSheet(
        "pancakes88",
        ours=lambda _, name, arguments: (name, f"p{arguments[0]}"),
        heavy=True,
    ),
    "pawnWhopping": PublicSheet(
        "pawnWhopping",
        ours=_numbered(),
        edits=(
            Edit(
                r"\(move \?x 8 \?x 6\)\)\s*\(true \(cell \?x 8 o\)\)\s*"
                r"\(not \(occupied \?x 7\)\)\s*\(not \(occupied \?x 6\)\)",
                "(move ?x 7 ?x 5)) (true (cell ?x 7 o))"
                " (not (occupied ?x 6)) (not (occupied ?x 5))",
                "a fault: o's pawns start on row 7, but may go two squares from row 8",
            ),
        ),
    ),
    "pentago": PublicSheet("v1/pentago", ours=_pentago),
    "quad": PublicSheet("quad_7x7", ours=_quad),
    "queens10": PublicSheet(
        "queens08ug",
        ours=lambda _, name, arguments: (name, arguments[1], arguments[0]),
        edits=(
            Edit(r"\(succ 7 8\)", _chain("succ", 7, 10), "our board is 10 x 10"),
            Edit(
                r"\(ext_succ 15 16\)",
                f"{_chain('ext_succ', 15, 20)} (ext_succ m10 m9) (ext_succ m9 m8)",
                "our board is 10 x 10",
            ),
        ),
        goals=False,
        note="ours counts queens that are not attacked, theirs is all (100) or nothing",
    ),
    "reversi": PublicSheet("reversi", ours=_reversi),
    "sheepAndWolf": PublicSheet("sheepAndWolf", ours=_sheep_and_wolf),
    "skirmish": PublicSheet("skirmish", ours=_numbered()),
    "statespace": PublicSheet(
        "stateSpaceLarge",
        ours=lambda _, name, arguments: (
            "move",
            f"c{('north', 'east', 'south', 'west').index(arguments[0]) + 1}",
        ),
        goals=False,
        note="the map and its scores are our own",
    ),
    "sudoku": PublicSheet(
        "sudokuGrade1",
        ours=_sudoku,
        edits=(
            Edit(r"\(init \(cell [^)]*\)\)", "", "our grid"),
            Edit(r"\(role robot\)", f"(role robot) {_sudoku_start()}", "our grid"),
        ),
        goals=False,
        note="ours counts full rows, columns and blocks, theirs is all (100) or nothing",
    ),
    "ticTacToe": PublicSheet("ticTacToe", ours=_called(place="mark")),
    "ticTacToe3D": PublicSheet("tictactoe_3d_2player", ours=_called(place="select")),
    "ttcc4": PublicSheet("ttcc4", ours=TTCC4),
    "ttcc4TwoPlayer": PublicSheet("ttcc4_2player", ours=TTCC4),
    "zhadu": PublicSheet("zhadu", ours=_zhadu),
}
