"""Novelty: how small a set of fluents is new in a state, among states as far from the goal.

Iterated width and best-first width search (N. Lipovetzky, H. Geffner: Width and Serialization of
Classical Planning, 2012; Best-First Width Search, 2017) order states by it.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.kernel import kernel
from propnet.layout import U64
from propnet.vectors import lowest_bit

NEW_FLUENT, NEW_PAIR, NOTHING_NEW = 0, 1, 2
"""What is new in a state."""

MOST_BYTES = 32 * 2**20
MOST_CLASSES = 64

_ONE = np.uint64(1)


def new_seen(fluents: int, words: int) -> U64:
    """(classes, F, state_words) of every fluent, those with which it was seen; none if too many.

    States whose distances to the goal differ belong to different classes, as far as there are any.
    """
    classes = min(MOST_CLASSES, MOST_BYTES // (8 * fluents * words))
    return np.zeros((classes, fluents, words), np.uint64)


@kernel
def novelty_of(seen: U64, distance: int, states: U64, row: int, mask: U64) -> int:
    """What is new in the packed state of a row, which counts as seen afterwards."""
    if len(seen) == 0:
        return NOTHING_NEW
    kind, novelty, words = distance % len(seen), NOTHING_NEW, states.shape[1]
    for word in range(words):
        bits = states[row, word] & mask[word]
        while bits != np.uint64(0):
            place = lowest_bit(bits)
            fluent = 64 * word + place
            bits &= bits - _ONE
            if (seen[kind, fluent, word] >> np.uint64(place)) & _ONE == np.uint64(0):
                novelty = NEW_FLUENT
            for other in range(words):
                with_it = states[row, other] & mask[other]
                if with_it & ~seen[kind, fluent, other] != np.uint64(0):
                    novelty = min(novelty, NEW_PAIR)
                    seen[kind, fluent, other] |= with_it
    return novelty
