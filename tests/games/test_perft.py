"""Perft counts of our games: the kept ones, those of Python, and known ones of chess."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import pytest

from gdl.perft import perft
from gdl.rules import Term
from propnet.machine import PropnetStateMachine
from tests.games import references
from tests.games.machines import GOLDEN, KEYS, machine_of
from tests.games.references import PYTHON_GAMES

SEQUENCES = 1000
"""The most of one length that the propnet counts here; the kept counts go to 10^6."""
PYTHON_SEQUENCES = 20_000


def _kept(key: str, sequences: int) -> list[str]:
    lines = (GOLDEN / "perft" / f"{key}.txt").read_text().splitlines()
    return list(takewhile(lambda line: int(line.split()[1]) <= sequences, lines))


@pytest.mark.parametrize("key", KEYS)
def test_the_propnet_counts_as_it_did(key: str) -> None:
    kept = _kept(key, SEQUENCES)
    assert [str(line) for line in perft(machine_of(key), len(kept))] == kept


@pytest.mark.parametrize("key", PYTHON_GAMES)
def test_python_counts_the_same(key: str) -> None:
    kept = _kept(key, PYTHON_SEQUENCES)
    assert list(references.perft(PYTHON_GAMES[key], PYTHON_SEQUENCES)) == kept
    assert kept


CHESS = {
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -": [48, 2039, 97862],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -": [14, 191, 2812, 43238, 674624],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -": [6, 264, 9467, 422333],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -": [44, 1486, 62379],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -": [46, 2079, 89890],
    # the pawns leave the rank together, between king and queen; or one captures with check
    "8/8/8/K2pP2q/8/8/8/7k w - d6": [6],
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3": [9],
}
"""Positions (Forsyth-Edwards notation) and the number of move sequences of each length.

The first five are those of the Chess Programming Wiki, "Perft Results", where more are known: the
rules were held against all that are here.
"""
KINDS = {
    "p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king",
}  # fmt: skip


@pytest.mark.parametrize("position", CHESS)
def test_chess_has_the_known_counts(position: str) -> None:
    machine = machine_of("chess")
    level = [machine.state_from(_fluents(position))]
    for expected in [count for count in CHESS[position] if count <= SEQUENCES]:
        level = [after for state in level for after in _successors(machine, state)]
        assert len(level) == expected


def _successors(machine: PropnetStateMachine, state: object) -> Iterator[object]:
    for white in machine.legal_moves(state, 0):  # type: ignore[arg-type]
        for black in machine.legal_moves(state, 1):  # type: ignore[arg-type]
            yield machine.next_state(state, (white, black))  # type: ignore[arg-type]


def _fluents(position: str) -> Iterator[Term]:
    board, side, castling, passed = position.split()
    yield ("step", "0")
    yield ("control", {"w": "white", "b": "black"}[side])
    for rank, row in zip("87654321", board.split("/"), strict=True):
        squares = "".join("." * int(c) if c.isdigit() else c for c in row)
        for file, piece in zip("abcdefgh", squares, strict=True):
            if piece != ".":
                owner = "white" if piece.isupper() else "black"
                yield ("piece", file, rank, owner, KINDS[piece.lower()])
    for letter in castling.replace("-", ""):
        wing = {"k": "kingside", "q": "queenside"}[letter.lower()]
        yield ("maycastle", "white" if letter.isupper() else "black", wing)
    if passed != "-":
        yield ("passed", passed[0])
