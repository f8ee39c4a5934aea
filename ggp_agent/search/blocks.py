"""The blocks of memory that nodes have: moves, statistics of these, AMAF tables.

Letters: R roles, m legal moves of all roles in a node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part
from ggp_agent.search.locks import STRUCTURE, acquire, publish, release_lock
from ggp_agent.search.memory import NO_BLOCK, UNIT, allocate, put_double, put_float, put_int
from ggp_agent.search.scoring import GROUP
from ggp_agent.search.tree import (
    CHILD,
    ENTRY,
    NO_NODE,
    SHORT,
    TOTAL,
    UNKNOWN,
    VISITS,
    Tree,
    entry_type,
    evaluates,
)


@part
def words_of_moves(tree: Tree, count: int) -> int:
    """Size of a node's block of moves; zeros at its end make up for whole groups of moves."""
    return len(tree.best) + 1 + count + GROUP - 1


def first_entry(count: int) -> int:
    """Where the entries of a node with so many moves begin in its block: at 16 bytes."""
    return (2 * count + 3) & ~3


entries: Any = part(first_entry)


@part
def move_values(count: int) -> int:
    """Where the values of so many moves begin in the block of a tree that evaluates."""
    return entries(count) + ENTRY * count


@part
def words_of_statistics(tree: Tree, count: int) -> int:
    """Size of a node's block of statistics."""
    return move_values(count) + (count if evaluates(tree) else 0)


class MoveStatistics(NamedTuple):
    """What a node knows of its moves, as views."""

    scanned: NDArray[np.float32]
    """(2, m) means and 1 / sqrt(visits)"""
    entries: NDArray[Any]
    """(m,) of entry_type"""
    values: NDArray[np.float32]
    """(m,) by implicit minimax backups, below 0 where there is none; (0,) in trees without"""


def statistics(tree: Tree, node: int) -> MoveStatistics:
    """The statistics of the moves of a node that has some."""
    record = tree.nodes[node]
    start, count = int(record["stats"]) * UNIT, int(record["count"])
    scanned = tree.pool.words[start : start + 2 * count].view(np.float32)
    start += first_entry(count)
    end = start + ENTRY * count
    valued = count if len(tree.values) else 0
    return MoveStatistics(
        scanned=scanned.reshape(2, count),
        entries=tree.pool.words[start:end].view(entry_type),
        values=tree.pool.words[end : end + valued].view(np.float32),
    )


@part
def open_statistics(tree: Tree, node: int) -> bool:
    """Give an open node its statistics if it has none; False if there is no room."""
    acquire(tree.locks, STRUCTURE)
    opened = _open_statistics(tree, node)
    release_lock(tree.locks, STRUCTURE)
    return opened


@part
def _open_statistics(tree: Tree, node: int) -> bool:
    record = tree.nodes[node]
    if record.stats != NO_BLOCK:
        return True  # another thread was here
    count = record.count
    block = allocate(tree.pool, words_of_statistics(tree, count))
    if block == NO_BLOCK:
        tree.counters[SHORT] += 1
        return False
    words, base = tree.pool.words, np.int64(block) * UNIT
    for i in range(2 * count):
        put_float(words, base + i, 0.0)
    for i in range(count):
        entry = base + entries(count) + ENTRY * i
        put_double(words, entry + TOTAL, 0.0)
        put_int(words, entry + VISITS, 0)
        put_int(words, entry + CHILD, NO_NODE)
    if evaluates(tree):
        for i in range(count):
            put_float(words, base + move_values(count) + i, UNKNOWN)
    publish()
    record.stats = block
    return True


@part
def open_amaf(tree: Tree, node: int, moves: int) -> None:
    """Give a node its AMAF table for so many moves if it has none, and there is room."""
    acquire(tree.locks, STRUCTURE)
    if tree.nodes[node].amaf == NO_BLOCK:
        block = allocate(tree.pool, 2 * moves)
        if block != NO_BLOCK:
            base = np.int64(block) * UNIT
            for i in range(2 * moves):
                put_float(tree.pool.words, base + i, 0.0)
            tree.nodes[node].amaf_words = 2 * moves
            publish()
            tree.nodes[node].amaf = block
    release_lock(tree.locks, STRUCTURE)
