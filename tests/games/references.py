"""Games of the library written in Python, tiny and independent of the rule sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import product
from typing import Any, Protocol

from gdl.rules import Term, arguments_of


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


def turn(mover: int, roles: int, moves: set[Term]) -> list[set[Term]]:
    return [moves if role == mover else {"noop"} for role in range(roles)]


def won(winner: int | None, roles: int, draw: int) -> list[int]:
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
        return turn(mover, self.roles, moves)

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
        return won(self._winner(state), self.roles, self.draw)

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
        return turn(mover, 2, moves)

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
        return won(self._winner(state), 2, 50)

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
        return turn(mover, 2, moves)

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
        return won(None if any(state[0]) else state[1], 2, 50)


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


class FrogsAndToads:
    """The toads' squares, the gap, and the moves made; frogs are on all other squares."""

    upper = set(product(range(1, 5), repeat=2)) - {(4, 4)}
    lower = set(product(range(4, 8), repeat=2)) - {(4, 4)}
    board = upper | lower | {(4, 4)}
    initial: Any = (frozenset(upper), (4, 4), 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """Animals one square away in a straight line, or two over another one."""
        x, y = state[1]
        moves: set[Term] = set()
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            for distance in (1, 2):
                way = {(x + i * dx, y + i * dy) for i in range(1, distance + 1)}
                if way <= self.board:
                    moves.add(("move", str(x + distance * dx), str(y + distance * dy)))
        return [moves]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The animal is where the gap was, and the gap where it was."""
        toads, gap, step = state
        x, y = (int(str(argument)) for argument in arguments_of(joint_move[0]))
        if (x, y) in toads:
            toads = toads - {(x, y)} | {gap}
        return toads, (x, y), step + 1

    def is_terminal(self, state: Any) -> bool:
        """All have changed places, or 116 moves were made."""
        return self._away(state) == 30 or state[2] == 116

    def goals(self, state: Any) -> list[int]:
        """Three for an animal on the other's board, the full hundred for all."""
        away = self._away(state)
        return [100 if away == 30 else 3 * away]

    def _away(self, state: Any) -> int:
        toads, gap, _ = state
        return len(toads & self.lower) + len(self.upper - toads - {gap})


THINGS = {
    (3, 2): "book",
    (6, 7): "book",
    (2, 6): "candle",
    (7, 3): "candle",
    (5, 4): "bell",
    (4, 5): "bell",
}
WAYS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


class GridGame:
    """Both players' squares and things, what still lies there, who moves, and the moves made."""

    initial: Any = (((1, 1), (8, 8)), (frozenset(), frozenset()), frozenset(THINGS), 0, 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """One square in any direction, but not off the grid."""
        x, y = state[0][state[3]]
        moves: set[Term] = {
            ("go", way)
            for way, (dx, dy) in WAYS.items()
            if x + dx in range(1, 9) and y + dy in range(1, 9)
        }
        return turn(state[3], 2, moves)

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The player has moved, and taken what was missing."""
        squares, bags, lying, mover, step = state
        dx, dy = WAYS[str(arguments_of(joint_move[mover])[0])]
        square = (squares[mover][0] + dx, squares[mover][1] + dy)
        bag = bags[mover]
        if square in lying and THINGS[square] not in bag:
            bag, lying = bag | {THINGS[square]}, lying - {square}
        squares, bags = list(squares), list(bags)
        squares[mover], bags[mover] = square, bag
        return tuple(squares), tuple(bags), lying, 1 - mover, step + 1

    def is_terminal(self, state: Any) -> bool:
        """Both have everything, or 60 moves were made."""
        return min(map(len, state[1])) == 3 or state[4] == 60

    def goals(self, state: Any) -> list[int]:
        """By the number of things."""
        return [(0, 30, 60, 100)[len(bag)] for bag in state[1]]


class Runners:
    """Both runners' squares, and the turns made."""

    initial: Any = (0, 0, 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """Up to five ahead, up to three back, or nothing."""
        return [
            {("run", "forward", str(n)) for n in range(1, 6)}
            | {("run", "back", str(n)) for n in range(1, 4) if n <= square}
            | {"stay"}
            for square in state[:2]
        ]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """Nobody gets beyond the goal."""
        squares = []
        for square, move in zip(state, joint_move, strict=False):
            way, n = arguments_of(move) or ("forward", "0")
            squares.append(min(30, square + (1 if way == "forward" else -1) * int(str(n))))
        return (*squares, state[2] + 1)

    def is_terminal(self, state: Any) -> bool:
        """Somebody is there, or 20 turns were made."""
        return 30 in state[:2] or state[2] == 20

    def goals(self, state: Any) -> list[int]:
        """Three points a square, the full hundred at the goal."""
        return [100 if square == 30 else 3 * square for square in state[:2]]


class SimultaneousPawns:
    """Pawn whopping in which both sides move at once: both sides' squares."""

    initial: Any = tuple(frozenset(product(range(8), [rank])) for rank in (1, 6))

    def legal(self, state: Any) -> list[set[Term]]:
        """Steps onto free squares and captures, or else nothing."""
        return [self._moves(state, side) or {"noop"} for side in (0, 1)]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """Whoever comes to a square is there, but for two who come at once."""
        left, come = [], []
        for move in joint_move:
            squares = [str(argument) for argument in arguments_of(move)]
            pairs = [
                (ord(f) - ord("a"), int(r) - 1) for f, r in zip(*[iter(squares)] * 2, strict=True)
            ]
            left.append(set(pairs[:1]))
            come.append(set(pairs[1:]))
        return tuple(
            frozenset((state[side] - left[side] - come[1 - side]) | (come[side] - come[1 - side]))
            for side in (0, 1)
        )

    def is_terminal(self, state: Any) -> bool:
        """Somebody is through, or alone, or nobody can move."""
        return True in self._ahead(state) or not any(self._moves(state, side) for side in (0, 1))

    def goals(self, state: Any) -> list[int]:
        """A draw if both are ahead at once."""
        first, second = self._ahead(state)
        return [50, 50] if first == second else [100 * first, 100 * second]

    def _ahead(self, state: Any) -> tuple[bool, bool]:
        through = [any(rank == far for _, rank in state[side]) for side, far in ((0, 7), (1, 0))]
        return through[0] or not state[1], through[1] or not state[0]

    def _moves(self, state: Any, side: int) -> set[Term]:
        own, other = state[side], state[1 - side]
        on = 1 - 2 * side
        moves: set[Term] = set()
        for x, y in own:
            steps = [(x, y + on), (x, y + 2 * on)] if y == (1, 6)[side] else [(x, y + on)]
            for count, square in enumerate(steps, 1):
                if y + on in range(8) and not (set(steps[:count]) & (own | other)):
                    moves.add(self._move("move", (x, y), square))
            for square in {(x - 1, y + on), (x + 1, y + on)} & other:
                moves.add(self._move("capture", (x, y), square))
        return moves

    @staticmethod
    def _move(name: str, *squares: tuple[int, int]) -> Term:
        return (name, *(part for x, y in squares for part in ("abcdefgh"[x], str(y + 1))))


class Statespace:
    """The place, path, hill or bog with its number, and the steps made."""

    ways = ("north", "east", "south", "west")
    path = "neeswnnessenws"
    """The way to the end of the path, by initials."""
    hill_points = (12, 18, 24, 30, 36, 42, 50, 60)
    initial: Any = (("path", 0), 0)

    def legal(self, state: Any) -> list[set[Term]]:
        """Always all four."""
        return [{("go", way) for way in self.ways}]

    def next(self, state: Any, joint_move: tuple[Term, ...]) -> Any:
        """The places lie around each other in a regular way."""
        (kind, n), step = state
        way = self.ways.index(str(arguments_of(joint_move[0])[0]))
        return getattr(self, f"_from_{kind}")(n, way), step + 1

    def is_terminal(self, state: Any) -> bool:
        """Fourteen steps."""
        return bool(state[1] == 14)

    def goals(self, state: Any) -> list[int]:
        """The worth of the place."""
        (kind, n), _ = state
        path = 100 if n == 14 else 7 + 3 * n
        return [{"path": path, "hill": self.hill_points[n % 8], "bog": 7 + 2 * n}[kind]]

    def _from_path(self, n: int, way: int) -> tuple[str, int]:
        if n == 14:
            return ("path", 14)
        right = "nesw".index(self.path[n])
        return (("path", n + 1), ("hill", n // 2), ("bog", n % 5), ("path", max(0, n - 2)))[
            (way - right) % 4
        ]

    def _from_hill(self, n: int, way: int) -> tuple[str, int]:
        up = ("hill", min(7, n + 1))
        return (up, ("hill", n), ("bog", n % 5), up if n % 2 else ("path", n // 2))[way]

    def _from_bog(self, n: int, way: int) -> tuple[str, int]:
        out = ("hill", 0) if n == 4 else ("bog", (n + 3) % 5)
        return (("bog", (n + 1) % 5), ("bog", (n + 2) % 5), ("bog", n), out)[way]


PYTHON_GAMES: dict[str, PythonGame] = {
    "breakthrough": Breakthrough(),
    "connectFour": LineGame(7, 6, 4, drops=True),
    "eightPuzzle": EightPuzzle(),
    "frogsAndToads": FrogsAndToads(),
    "gridGame2": GridGame(),
    "nim": Nim(),
    "pawnWhoppingSimultaneous": SimultaneousPawns(),
    "rockPaperScissors": RockPaperScissors(),
    "runners": Runners(),
    "statespace": Statespace(),
    "ticTacToe": LineGame(3, 3, 3, drops=False),
    "ticTacToe3Player": LineGame(5, 5, 3, roles=3, draw=33, drops=False),
}


def perft(game: PythonGame, sequences: int) -> Iterator[str]:
    """Lines of perft counts, up to the last depth with no more than so many sequences."""
    reached: dict[Hashable, tuple[Any, int]] = {_frozen(game.initial): (game.initial, 1)}
    for depth in range(1, 1000):
        total, following, counts = 0, {}, Counter[Hashable]()
        for state, count in reached.values():
            joint_moves = list(product(*game.legal(state)))
            total += count * len(joint_moves)
            if total > sequences:
                return
            for joint_move in joint_moves:
                after = game.next(state, joint_move)
                following[_frozen(after)] = after
                counts[_frozen(after)] += count
        if not total:
            return
        ended = {key for key, state in following.items() if game.is_terminal(state)}
        yield f"{depth} {total} {sum(counts[key] for key in ended)}"
        reached = {key: (following[key], counts[key]) for key in following.keys() - ended}


def _frozen(state: Any) -> Hashable:
    if isinstance(state, dict):
        return frozenset(state.items())
    return tuple(map(_frozen, state)) if isinstance(state, tuple) else state
