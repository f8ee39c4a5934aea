"""The positions of the suite: a file of JSON lines per game, `positions/KEY.jsonl`.

A line tells how the position comes about, what is asked for, and the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path

from gdl.rules import RuleSheet, Term, read_term
from gdl.state_machine import State, StateMachine
from ggp_agent.errors import GameError
from ggp_agent.library.joint_moves import position_after, read_joint_moves

WIN_IN_2, WIN_IN_3, ONLY_MOVE = "win in 2", "win in 3", "only move"
KINDS = (WIN_IN_2, WIN_IN_3, ONLY_MOVE)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in which some of a role's moves, fewer than half of them, are proven to be good.

    A good move wins by force, that is 100 points, whatever the others do; in an `ONLY_MOVE` it is
    one after which a loss, that is 0 points, can't be forced, while it can after all others.
    """

    game: str
    """key in the library"""
    role: str
    """who is to move"""
    kind: str
    """one of `KINDS`; an own move is two plies, or one where all move at once"""
    plies: int
    """joint moves, at most, in which the best move wins by force, or all but the good ones lose"""
    horizon: int
    """plies for which the proof holds: no move but the good ones wins in so many; no good one of an
    `ONLY_MOVE` loses in so many"""
    seed: int
    """of the random game that led here (see `ggp_agent.library.playthroughs.random_game`)"""
    legal: int
    """number of the role's legal moves"""
    good: tuple[str, ...]
    """the good moves, in the sheet's spelling"""
    moves: str
    """the joint moves from the initial state, as KIF"""

    def state(self, machine: StateMachine, sheet: RuleSheet) -> State:
        """The state; raises `GameError` or `RuleSheetError` where the moves can't be made."""
        name = f"position of {self.game}"
        return position_after(machine, sheet, read_joint_moves(self.moves, name))

    def role_number(self, machine: StateMachine) -> int:
        """The number of the role; raises `GameError` where the game has none of that name."""
        role = read_term(self.role)
        if role not in machine.roles:
            raise GameError(f"position of {self.game}: it has no role {self.role}")
        return machine.roles.index(role)

    def good_moves(self) -> frozenset[Term]:
        """The good moves as terms."""
        return frozenset(map(read_term, self.good))

    def as_line(self) -> str:
        """The position as a line of JSON."""
        return json.dumps(asdict(self))


def position_from(line: str, where: str) -> Position:
    """The position in a line of JSON; `where` it stands is for the `GameError` if it is none."""
    try:
        data = json.loads(line)
    except ValueError as error:
        raise GameError(f"{where}: not JSON ({error})") from error
    names = {field.name for field in fields(Position)}
    if not isinstance(data, dict) or set(data) != names:
        raise GameError(f"{where}: a position has {', '.join(sorted(names))}, and no more")
    for name, of_type in (("plies", int), ("horizon", int), ("seed", int), ("legal", int)):
        if not isinstance(data[name], of_type):
            raise GameError(f"{where}: {name} is not a number")
    if not all(isinstance(data[name], str) for name in ("game", "role", "kind", "moves")):
        raise GameError(f"{where}: game, role, kind and moves are texts")
    good = data["good"]
    if not isinstance(good, list) or not good or not all(isinstance(m, str) for m in good):
        raise GameError(f"{where}: good is a list of moves")
    if data["kind"] not in KINDS:
        raise GameError(f"{where}: a kind is one of {', '.join(KINDS)}")
    return Position(**{**data, "good": tuple(good)})


def suite_folder() -> Path:
    """Where the files of the suite are."""
    return Path(str(resources.files("ggp_agent.tactics"))) / "positions"


def games_with_positions(folder: Path | None = None) -> list[str]:
    """The keys of the games in the suite, or in another folder of its kind."""
    files = (folder or suite_folder()).glob("*.jsonl")
    return sorted((file.stem for file in files), key=str.lower)


def read_positions(game: str, folder: Path | None = None) -> list[Position]:
    """A game's positions.  Raises `GameError` where there are none, or they are not well formed."""
    file = (folder or suite_folder()) / f"{game}.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GameError(f"no positions of {game}: {error}") from error
    return [position_from(line, f"{file.name}:{n}") for n, line in enumerate(lines, 1)]


def write_positions(positions: Iterable[Position], file: Path) -> None:
    """Write a game's file anew."""
    file.write_text("".join(f"{p.as_line()}\n" for p in positions), encoding="utf-8")
