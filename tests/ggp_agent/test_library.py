"""The library finds its games and those at a path, and our own rule sheets play as they should.

The second half holds every rule sheet of `games/` against the same game written in Python: along
random games both must agree on legal moves, the end and the goals.  The rules are evaluated by a
prover that is as simple as can be (`tests.naive`), so that these tests stand on nothing but
`gdl.rules`.
"""

from __future__ import annotations

import json
import os
import random
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import pytest

from gdl.errors import RuleSheetError
from gdl.rules import Term, arguments_of
from gdl.state_machine import order
from ggp_agent.errors import GameError
from ggp_agent.library import KINDS, Game, find_game, games
from tests.naive import Prover

KEYS = (
    "breakthrough",
    "connectFour",
    "eightPuzzle",
    "nim",
    "rockPaperScissors",
    "ticTacToe",
    "ticTacToe3Player",
)
SHEET = "(role you) (init on) (legal you stop) (<= terminal (not (true on))) (goal you 100)"


# ------------------------------------------------------------------------------- finding games


def test_the_library_has_our_games_sorted_by_key() -> None:
    assert tuple(game.key for game in games()) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_metadata_are_complete(key: str) -> None:
    game = find_game(key)
    assert game.path.name == f"{key}.kif"
    assert game.name and game.source
    assert len(game.description.split()) > 10
    assert game.kind in KINDS
    assert game.constant_sum is not None
    roles = game.rule_sheet().roles
    assert game.roles == len(roles)
    assert (game.kind == "single-player") == (len(roles) == 1)
    assert (game.board is None) == (key in ("nim", "rockPaperScissors"))


@pytest.mark.parametrize("key", ["connectFour", "CONNECTFOUR", "connectfour"])
def test_a_key_is_found_in_any_case(key: str) -> None:
    assert find_game(key).key == "connectFour"


def test_a_close_key_is_suggested() -> None:
    with pytest.raises(GameError, match=r"conectfour.*did you mean connectFour.*ggp-agent games"):
        find_game("conectfour")


def test_an_unlike_key_gets_no_suggestion() -> None:
    with pytest.raises(GameError) as caught:
        find_game("zzzzzz")
    assert "did you mean" not in str(caught.value)
    assert "`ggp-agent games`" in str(caught.value)


def test_a_lone_rule_sheet_is_a_game_without_metadata(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text("\ufeff" + SHEET, encoding="utf-8")
    game = find_game(str(sheet))
    assert game == Game(key="one", name="one", path=sheet)
    assert game.text() == SHEET
    assert game.rule_sheet().roles == ("you",)


def test_a_rule_sheet_takes_the_metadata_that_name_it(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "gameName": "One"})
    (folder / "two.kif").write_text(SHEET)
    assert find_game(str(folder / "one.kif")).name == "One"
    assert find_game(str(folder / "two.kif")).name == "two"


def test_a_folder_is_a_game(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "description": "one.txt", "version": 3})
    (folder / "one.txt").write_text("Stop at once.\n")
    game = find_game(str(folder))
    assert (game.key, game.name, game.description) == ("myGame", "myGame", "Stop at once.")
    assert (game.roles, game.kind, game.constant_sum, game.board) == (None, None, None, None)


def test_a_folder_without_metadata_needs_a_single_rule_sheet(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="no rule sheet"):
        find_game(str(tmp_path))
    (tmp_path / "one.kif").write_text(SHEET)
    assert find_game(str(tmp_path)).path == tmp_path / "one.kif"
    (tmp_path / "two.kif").write_text(SHEET)
    with pytest.raises(GameError, match="2 rule sheets"):
        find_game(str(tmp_path))


def test_a_description_may_stand_in_the_metadata_itself(tmp_path: Path) -> None:
    text = "Stop at once. " * 50
    folder = _folder(tmp_path, {"rulesheet": "one.kif", "description": text})
    assert find_game(str(folder)).description == text.strip()


@pytest.mark.parametrize(
    "name", ["", "nowhere/one.kif", "one.kif", "a" * 5000, "null\0character", os.devnull, "a\nb"]
)
def test_what_is_no_game_is_one_line(name: str) -> None:
    with pytest.raises(GameError) as caught:
        find_game(name)
    assert len(str(caught.value).splitlines()) == 1


def test_an_unreadable_rule_sheet_is_one_line(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text(SHEET)
    game = find_game(str(sheet))
    sheet.unlink()
    with pytest.raises(GameError, match=r"cannot read .*one\.kif: No such file"):
        game.rule_sheet()


def test_a_malformed_rule_sheet_says_where(tmp_path: Path) -> None:
    sheet = tmp_path / "one.kif"
    sheet.write_text("(role you)\n(role")
    with pytest.raises(RuleSheetError, match=r"one\.kif:2:1: unbalanced"):
        find_game(str(sheet)).rule_sheet()


@pytest.mark.parametrize(
    ("metadata", "complaint"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        ([], "must be a JSON object"),
        ({}, "'rulesheet' is missing"),
        ({"rulesheet": 7}, "'rulesheet' must be text"),
        ({"rulesheet": "other.kif"}, "'other.kif' is not a file"),
        ({"rulesheet": "."}, "'.' is not a file"),
        ({"rulesheet": "a\0b"}, "is not a file"),
        ({"gameName": ["One"]}, "'gameName' must be text"),
        ({"x-roles": "2"}, "'x-roles' must be a whole number"),
        ({"x-roles": True}, "'x-roles' must be a whole number"),
        ({"x-roles": 0}, "'x-roles' must be a whole number"),
        ({"x-kind": "chess-like"}, "'x-kind' must be one of turn-taking, simultaneous"),
        ({"x-constantSum": "yes"}, "'x-constantSum' must be true or false"),
        ({"x-board": 3}, "'x-board': must be an object"),
    ],
)
def test_broken_metadata_name_the_file_and_the_trouble(
    tmp_path: Path, metadata: Any, complaint: str
) -> None:
    if isinstance(metadata, dict) and metadata and "rulesheet" not in metadata:
        metadata = {"rulesheet": "one.kif", **metadata}
    folder = _folder(tmp_path, metadata)
    with pytest.raises(GameError) as caught:
        find_game(str(folder))
    message = str(caught.value)
    assert message.startswith(f"{folder / 'METADATA'}: ")
    assert complaint in message
    assert len(message.splitlines()) == 1


def _folder(tmp_path: Path, metadata: Any) -> Path:
    folder = tmp_path / "myGame"
    folder.mkdir()
    (folder / "one.kif").write_text(SHEET)
    if isinstance(metadata, bytes):
        (folder / "METADATA").write_bytes(metadata)
    else:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        (folder / "METADATA").write_text(text)
    return folder


# ------------------------------------------------------------------------- the games, in Python


class PythonGame(Protocol):
    """A game whose states are any values; moves are terms."""

    initial: Any

    def legal(self, state: Any) -> list[set[Term]]:
        """Every role's legal moves."""

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The state that follows."""

    def is_terminal(self, state: Any) -> bool:
        """Whether the game has ended."""

    def goals(self, state: Any) -> list[int]:
        """Every role's goal."""


def _turn(mover: int, roles: int, moves: set[Term]) -> list[set[Term]]:
    return [moves if role == mover else {"noop"} for role in range(roles)]


def _won(winner: int | None, roles: int, draw: int) -> list[int]:
    return [draw if winner is None else 100 * (role == winner) for role in range(roles)]


class LineGame:
    """So many in a line on a grid; `drops`: into a column, as in connect four."""

    initial: Any = ({}, 0)

    def __init__(
        self, columns: int, rows: int, length: int, roles: int = 2, draw: int = 50, *, drops: bool
    ) -> None:
        self.columns, self.rows, self.roles, self.draw = columns, rows, roles, draw
        self.drops = drops
        directions = ((1, 0), (0, 1), (1, 1), (1, -1))
        lines = [
            [(x + i * dx, y + i * dy) for i in range(length)]
            for x, y, (dx, dy) in product(range(columns), range(rows), directions)
        ]
        squares = set(product(range(columns), range(rows)))
        self.lines = [line for line in lines if squares.issuperset(line)]

    def legal(self, state: Any) -> list[set[Term]]:
        """A free square, or a column with a free square."""
        board, mover = state
        free = set(product(range(self.columns), range(self.rows))) - set(board)
        if self.drops:
            moves: set[Term] = {("drop", str(x + 1)) for x, _ in free}
        else:
            moves = {("place", str(x + 1), str(y + 1)) for x, y in free}
        return _turn(mover, self.roles, moves)

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """One more piece on the board."""
        board, mover = state
        x, *y = (int(str(argument)) - 1 for argument in arguments_of(joint_move[mover]))
        square = (x, y[0] if y else sum(column == x for column, _ in board))
        return {**board, square: mover}, (mover + 1) % self.roles

    def is_terminal(self, state: Any) -> bool:
        """A line, or a full board."""
        return self._winner(state) is not None or len(state[0]) == self.columns * self.rows

    def goals(self, state: Any) -> list[int]:
        """All for the line."""
        return _won(self._winner(state), self.roles, self.draw)

    def _winner(self, state: Any) -> int | None:
        for line in self.lines:
            owner: int | None = state[0].get(line[0])
            if owner is not None and all(state[0].get(square) == owner for square in line):
                return owner
        return None


class Breakthrough:
    """Files and ranks from 0; white (0) goes up."""

    initial: Any = ({(x, y): int(y > 3) for x in range(8) for y in (0, 1, 6, 7)}, 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """A step forward; captures are diagonal."""
        board, mover = state
        moves: set[Term] = set()
        for (x, y), owner in board.items():
            for to in (x - 1, x, x + 1):
                rank = y + 1 - 2 * mover
                blocked = board.get((to, rank)) in ({0, 1} if to == x else {mover})
                if owner == mover and 0 <= to < 8 and 0 <= rank < 8 and not blocked:
                    moves.add(("move", "abcdefgh"[x], str(y + 1), "abcdefgh"[to], str(rank + 1)))
        return _turn(mover, 2, moves)

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The pawn on its new square, over whatever was there."""
        board, mover = dict(state[0]), state[1]
        x1, y1, x2, y2 = (str(argument) for argument in arguments_of(joint_move[mover]))
        del board[ord(x1) - ord("a"), int(y1) - 1]
        board[ord(x2) - ord("a"), int(y2) - 1] = mover
        return board, 1 - mover

    def is_terminal(self, state: Any) -> bool:
        """Somebody is through, or alone."""
        return self._winner(state) is not None

    def goals(self, state: Any) -> list[int]:
        """There are no draws."""
        return _won(self._winner(state), 2, 50)

    def _winner(self, state: Any) -> int | None:
        board = state[0]
        for side, far in ((0, 7), (1, 0)):
            through = any(owner == side and y == far for (_, y), owner in board.items())
            if through or set(board.values()) == {side}:
                return side
        return None


class EightPuzzle:
    """The tiles row by row, 0 for the gap."""

    initial: Any = ((8, 1, 2, 7, 0, 3, 6, 5, 4), 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """Tiles above, below, left and right of the gap."""
        tiles, _ = state
        y, x = divmod(tiles.index(0), 3)
        near = [i for i in range(9) if abs(i // 3 - y) + abs(i % 3 - x) == 1]
        return [{("slide", str(tiles[i])) for i in near}]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The tile and the gap change places."""
        tile = int(str(arguments_of(joint_move[0])[0]))
        exchange = {0: tile, tile: 0}
        return tuple(exchange.get(t, t) for t in state[0]), state[1] + 1

    def is_terminal(self, state: Any) -> bool:
        """In order, or 40 moves made."""
        return bool(state[0] == (1, 2, 3, 4, 5, 6, 7, 8, 0) or state[1] == 40)

    def goals(self, state: Any) -> list[int]:
        """Ten for a tile in place, the full hundred for all."""
        count = sum(tile == i + 1 for i, tile in enumerate(state[0]) if tile)
        return [100 if count == 8 else 10 * count]


class Nim:
    """The heaps, and who moves."""

    initial: Any = ((1, 3, 5, 7), 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """Some of one heap."""
        heaps, mover = state
        moves: set[Term] = {
            ("take", name, str(n + 1))
            for name, size in zip("abcd", heaps, strict=True)
            for n in range(size)
        }
        return _turn(mover, 2, moves)

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The heap is smaller."""
        heaps, mover = state
        name, count = arguments_of(joint_move[mover])
        pairs = zip("abcd", heaps, strict=True)
        return tuple(h - int(str(count)) * (n == name) for n, h in pairs), 1 - mover

    def is_terminal(self, state: Any) -> bool:
        """Nothing is left."""
        return not any(state[0])

    def goals(self, state: Any) -> list[int]:
        """Who took the last object has lost, and the other is to move."""
        return _won(None if any(state[0]) else state[1], 2, 50)


class RockPaperScissors:
    """Rounds played, and both players' points."""

    initial: Any = (0, 50, 50)

    def legal(self, state: Any) -> list[set[Term]]:
        """Any hand."""
        return [{("show", hand) for hand in ("rock", "paper", "scissors")} for _ in range(2)]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """Each hand beats the one behind it in a circle."""
        circle = ("rock", "scissors", "paper")
        left, right = (circle.index(str(arguments_of(move)[0])) for move in joint_move)
        gain = (0, 10, -10)[(right - left) % 3]
        return state[0] + 1, state[1] + gain, state[2] - gain

    def is_terminal(self, state: Any) -> bool:
        """Five rounds."""
        return bool(state[0] == 5)

    def goals(self, state: Any) -> list[int]:
        """The points."""
        return [state[1], state[2]]


PYTHON_GAMES: dict[str, tuple[PythonGame, int]] = {
    "breakthrough": (Breakthrough(), 2),
    "connectFour": (LineGame(7, 6, 4, drops=True), 5),
    "eightPuzzle": (EightPuzzle(), 3),
    "nim": (Nim(), 10),
    "rockPaperScissors": (RockPaperScissors(), 20),
    "ticTacToe": (LineGame(3, 3, 3, drops=False), 30),
    "ticTacToe3Player": (LineGame(5, 5, 3, roles=3, draw=33, drops=False), 6),
}
"""The game, and how many random games are compared."""


@pytest.mark.parametrize("key", KEYS)
def test_rule_sheets_play_as_the_game_does(key: str) -> None:
    game, count = PYTHON_GAMES[key]
    prover = Prover(find_game(key).rule_sheet())
    for seed in range(count):
        _compare(prover, game, random.Random(seed))


@pytest.mark.parametrize(
    ("key", "relation"),
    [("connectFour", "disc"), ("ticTacToe", "mark"), ("ticTacToe3Player", "mark")],
)
def test_every_line_wins_and_a_line_with_a_hole_does_not(key: str, relation: str) -> None:
    """Random games reach too few of the lines."""
    game, _ = PYTHON_GAMES[key]
    assert isinstance(game, LineGame)
    prover = Prover(find_game(key).rule_sheet())
    for number, line in enumerate(game.lines):
        winner = number % game.roles
        pieces = [(relation, str(x + 1), str(y + 1), prover.roles[winner]) for x, y in line]
        whole, holed = frozenset[Term](pieces), frozenset[Term](pieces[:1] + pieces[2:])
        assert prover.is_terminal(whole)
        assert prover.goals(whole) == [{str(goal)} for goal in _won(winner, game.roles, 0)]
        assert not prover.is_terminal(holed)


@pytest.mark.parametrize(("survivor", "goals"), [("white", ["100", "0"]), ("black", ["0", "100"])])
def test_a_side_without_pawns_has_lost(survivor: str, goals: list[str]) -> None:
    prover = Prover(find_game("breakthrough").rule_sheet())
    both = frozenset[Term]({("pawn", "d", "4", "white"), ("pawn", "e", "5", "black")})
    assert not prover.is_terminal(both)
    alone = frozenset(pawn for pawn in both if pawn[-1] == survivor)
    assert prover.is_terminal(alone)
    assert prover.goals(alone) == [{goal} for goal in goals]


def test_the_eight_puzzle_can_be_solved_in_eighteen_moves() -> None:
    game = EightPuzzle()
    prover = Prover(find_game("eightPuzzle").rule_sheet())
    solution = _shortest_solution(game)
    assert len(solution) == 18
    state = frozenset(prover.all(("init", "?answer")))
    for tile in solution:
        assert not prover.is_terminal(state)
        state = frozenset(prover.all(("next", "?answer"), state, ("slide", tile)))
    assert prover.is_terminal(state)
    assert prover.goals(state) == [{"100"}]


@pytest.mark.parametrize("key", KEYS)
def test_goals_add_up_to_the_same_where_metadata_say_so(key: str) -> None:
    game, _ = PYTHON_GAMES[key]
    sums = set()
    for seed in range(300):
        rng, state = random.Random(seed), game.initial
        while not game.is_terminal(state):
            state = game.next(state, tuple(_choice(rng, moves) for moves in game.legal(state)))
        sums.add(sum(game.goals(state)))
    assert find_game(key).constant_sum == (len(sums) == 1)


def _compare(prover: Prover, game: PythonGame, rng: random.Random) -> None:
    """Play one random game on both sides, and hold fluents and moves against base and input."""
    base = prover.all(("base", "?answer"))
    inputs = [prover.all(("input", role, "?answer")) for role in prover.roles]
    fluents, state = frozenset(prover.all(("init", "?answer"))), game.initial
    while True:
        assert fluents <= base
        assert prover.goals(fluents) == [{str(goal)} for goal in game.goals(state)]
        assert prover.is_terminal(fluents) == game.is_terminal(state)
        if game.is_terminal(state):
            break
        legal = prover.legal(fluents)
        assert legal == game.legal(state)
        assert all(legal), "a role without a legal move"
        assert all(moves <= known for moves, known in zip(legal, inputs, strict=True))
        joint_move = tuple(_choice(rng, moves) for moves in legal)
        fluents = frozenset(prover.all(("next", "?answer"), fluents, *joint_move))
        state = game.next(state, joint_move)


def _choice(rng: random.Random, moves: set[Term]) -> Term:
    return rng.choice(sorted(moves, key=order))


def _shortest_solution(game: EightPuzzle) -> list[str]:
    """Breadth first, the step count left aside."""
    paths: dict[Any, list[str]] = {game.initial[0]: []}
    for tiles in (queue := [game.initial[0]]):
        if game.is_terminal((tiles, 0)):
            return paths[tiles]
        for move in sorted(game.legal((tiles, 0))[0]):
            following, _ = game.next((tiles, 0), (move,))
            if following not in paths:
                paths[following] = [*paths[tiles], str(arguments_of(move)[0])]
                queue.append(following)
    raise AssertionError("there is no solution")
