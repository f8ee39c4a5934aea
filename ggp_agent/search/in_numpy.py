"""The operations of `memory` and `scoring` without numba: slow, and with numpy's checks."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.candidates import Candidates
from propnet.layout import I32

Floats = NDArray[np.float32]


def _part(words: NDArray[Any], index: int, size: int, dtype: Any) -> NDArray[Any]:
    if index < 0 or index + size > len(words):
        raise IndexError("there is no such word")
    return words[int(index) : int(index) + size].view(dtype)


def get_int(words: I32, index: int) -> int:
    """An int32 of the pool."""
    return int(_part(words, index, 1, np.int32)[0])


def put_int(words: I32, index: int, value: int) -> None:
    """Write an int32."""
    _part(words, index, 1, np.int32)[0] = value


def get_float(words: I32, index: int) -> Any:
    """A float32 of the pool."""
    return _part(words, index, 1, np.float32)[0]


def put_float(words: I32, index: int, value: float) -> None:
    """Write a float32."""
    _part(words, index, 1, np.float32)[0] = value


def get_double(words: I32, index: int) -> float:
    """A float64 of the pool."""
    return float(_part(words, index, 2, np.float64)[0])


def put_double(words: I32, index: int, value: float) -> None:
    """Write a float64."""
    _part(words, index, 2, np.float64)[0] = value


def add_pair(words: I32, index: int, one: float, other: float) -> None:
    """Add to two float32 side by side."""
    _part(words, index, 2, np.float32)[:] += np.array([one, other], np.float32)


def prefetch(array: NDArray[Any], index: int) -> None:
    """Nothing to do."""


def score(
    limits: tuple[int, float, float],
    values: Floats,
    moves: Candidates,
    exploration: float,
    fpu: float,
    amaf: int = -1,
    beta: float = 0.0,
) -> Any:
    """See `scoring.score_grave`; without an AMAF table `scoring.score_uct`.

    `limits` are moves at a time, the least value, and that below which a mean is none.
    """
    (lanes, least, closed), words, count = limits, moves.words, moves.size
    own = _part(words, moves.means, count, np.float32)
    near = _part(words, moves.inverse_roots, count, np.float32)
    untried = np.full(count, fpu, np.float32)
    if amaf >= 0:
        numbers = _part(words, moves.numbers, count, np.int32)
        pairs = np.array([_part(words, amaf + 2 * int(n), 2, np.float32) for n in numbers])
        tries, sums = pairs[:, 0], pairs[:, 1]
        known = tries > 0
        mean_of_all = sums / np.where(known, tries, np.float32(1))
        shift = np.float32(beta) * (mean_of_all - own)
        untried = np.where(known, np.float32(fpu) + mean_of_all, untried)
        own = own + np.where(known & (own > closed), shift, np.float32(0))
    tried = own + np.float32(exploration) * near
    values[:count] = np.where(near > 0, tried, untried)
    values[count : -(-count // lanes) * lanes] = least
    return values[:count].max() if count else np.float32(least)


def near_best(lanes: int, values: Floats, place: int, count: int, threshold: float) -> np.uint64:
    """See `scoring.near_best`."""
    group = values[place : min(place + lanes, count)]
    return np.uint64(sum(1 << i for i in np.flatnonzero(group >= np.float32(threshold)).tolist()))


def bits_in(word: np.uint64) -> int:
    """See `scoring.bits_in`."""
    return int(word).bit_count()


_ONE_AT_A_TIME = threading.Lock()


def _word_at(array: NDArray[Any], byte: int) -> I32:
    raw: I32 = np.asarray(array).view(np.ndarray).view(np.int32).reshape(-1)
    return raw[byte >> 2 : (byte >> 2) + 1]


def add_at(array: NDArray[Any], byte: int, value: int) -> int:
    """Add to an int32, by the bytes before it; what it was before."""
    with _ONE_AT_A_TIME:
        word = _word_at(array, byte)
        before = int(word[0])
        word[0] += value
    return before


def exchange_at(array: NDArray[Any], byte: int, value: int) -> int:
    """Replace an int32, likewise."""
    with _ONE_AT_A_TIME:
        word = _word_at(array, byte)
        before = int(word[0])
        word[0] = value
    return before


def look(array: NDArray[Any], byte: int) -> int:
    """An int32, by the bytes before it."""
    return int(_word_at(array, byte)[0])


def clear(array: NDArray[Any], byte: int) -> None:
    """Set it to 0."""
    _word_at(array, byte)[0] = 0


def give_way() -> None:
    """Let another thread work."""
    time.sleep(0)


def publish() -> None:
    """Nothing to do."""
