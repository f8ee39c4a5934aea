"""Implicit minimax backups: what an evaluation says of states is backed up by minimax.

M. Lanctot, M. Winands, T. Pepels, N. Sturtevant, "Monte Carlo Tree Search with heuristic
evaluations using implicit minimax backups" (2014).  Besides the mean of its rewards every move in
the tree has a minimax value: a leaf's is its evaluation, that of a node in which one role chooses
is the best of its children's for that role (max^n: each role has a value of its own).  Selection
goes by (1 - w)·Q + w·v in place of the mean Q, w being the parameter `minimax` (the paper's alpha).
Our own addition: w fades with the visits n of the move, as w·K / (K + n), K being `minimax_visits`.

As long as a node has moves that were never tried, its value is not less than its own evaluation for
the role that moves.  Where several roles choose at once, or chance does, nothing is backed up: the
node keeps its evaluation.  Nothing of this happens unless an evaluation has been learnt.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ggp_agent.parameters import Parameter, Scope, column_of, declare
from ggp_agent.search.blocks import entries, move_values
from ggp_agent.search.edges import follow
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import UNIT, get_float, get_int, put_float
from ggp_agent.search.slots import MOVE_COUNT, NODE, PICKS, STATISTICS
from ggp_agent.search.tree import (
    BACKED_UP,
    CHILD,
    CLOSED,
    ENTRY,
    NO_NODE,
    OPEN,
    OWN,
    UNKNOWN,
    Tree,
    evaluates,
)

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "minimax",
        0.0,
        "weight of the minimax value of the learnt evaluation, where there is one, beside the mean",
        high=1.0,
        source="Lanctot, Winands, Pepels, Sturtevant: Implicit minimax backups (2014), alpha",
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "minimax_visits",
        math.inf,
        "visits of a move at which its minimax value has half of its weight; inf: it never fades",
        low=1.0,
        infinite=True,
        unit="visits",
        scope=Scope.SIMULATION,
    ),
)
MINIMAX, FADING = column_of("minimax"), column_of("minimax_visits")


@part
def is_used(tree: Tree, arrays: Arrays) -> bool:
    """Whether values are kept and backed up."""
    return bool(evaluates(tree) and arrays.evaluation.is_known[0])


@part
def enter(tree: Tree, arrays: Arrays, node: int, lane: int) -> None:
    """A new node has the value of its state, which is in a lane and has been evaluated."""
    for role in range(len(tree.best)):
        value = arrays.evaluation.values[role, lane]
        tree.values[node, role, OWN] = tree.values[node, role, BACKED_UP] = value


def faded_weight(weight: float, visits: int, half: float) -> float:
    """What is left of a weight, of which there is a half after so many visits."""
    return weight / (1.0 + visits / half)


_faded: Any = part(faded_weight)


@part
def _setting(arrays: Arrays, slot: int, role: int, column: int) -> float:
    """A role's parameter in a simulation."""
    return float(arrays.settings.values[arrays.settings.row[slot], role, column])


@part
def _words_at(arrays: Arrays, slot: int, level: int, role: int) -> tuple[int, int]:
    """Where the mean and the value of the move that a role made at a level are."""
    step = arrays.slots.path[slot, level]
    block, pick = np.int64(step[STATISTICS]) * UNIT, step[PICKS + role]
    return int(block + pick), int(block + move_values(step[MOVE_COUNT]) + pick)


@part
def mean_of_rewards(
    tree: Tree, arrays: Arrays, slot: int, level: int, role: int, total: float
) -> float:
    """The mean of the rewards alone, whose sum is known, of the move that a role made at a level.

    It is the q for which the mixture m = q + w·K / (K + n)·(v - q), with n = total / q visits:
    (1 - w)·q² + (total / K + w·v - m)·q = m·total / K.
    """
    mean, at = _words_at(arrays, slot, level, role)
    mixed = float(get_float(tree.pool.words, mean))
    if not evaluates(tree):
        return mixed
    value = float(get_float(tree.pool.words, at))
    if value < 0.0:
        return mixed
    weight = _setting(arrays, slot, role, MINIMAX)
    part_of_half = total / _setting(arrays, slot, role, FADING)
    square, linear = max(1e-6, 1.0 - weight), part_of_half + weight * value - mixed
    root = math.sqrt(linear * linear + 4.0 * square * mixed * part_of_half)
    return (root - linear) / (2.0 * square)


@part
def mix_in(tree: Tree, arrays: Arrays, slot: int, level: int, role: int, visits: int) -> None:
    """Mix the value of that move, if it has one, into its mean, unless the move is closed."""
    words, (mean, at) = tree.pool.words, _words_at(arrays, slot, level, role)
    rewards, value = get_float(words, mean), get_float(words, at)
    if value >= np.float32(0.0) and rewards > np.float32(0.5 * CLOSED):
        half = _setting(arrays, slot, role, FADING)
        weight = _faded(_setting(arrays, slot, role, MINIMAX), visits, half)
        put_float(words, mean, rewards + np.float32(weight) * (value - rewards))


@part
def back_up(tree: Tree, arrays: Arrays, slot: int, level: int, child: int) -> None:
    """Back up the values of a child to the only mover's move at a level, and to its node."""
    words, roles, step = tree.pool.words, len(tree.best), arrays.slots.path[slot, level]
    node, count, block = step[NODE], step[MOVE_COUNT], np.int64(step[STATISTICS]) * UNIT
    if tree.nodes[child].kind != OPEN:
        for role in range(roles):
            tree.values[child, role, BACKED_UP] = tree.scores[child, role, 0] * np.float32(0.01)
    mover = tree.nodes[node].mover
    start = np.int64(tree.nodes[node].moves) * UNIT + mover
    values, pick = block + move_values(count), step[PICKS + mover]
    put_float(words, values + pick, tree.values[child, mover, BACKED_UP])
    best, most, tried = pick, np.float32(UNKNOWN), True
    for i in range(get_int(words, start), get_int(words, start + 1)):
        value = get_float(words, values + i)
        tried = tried and value >= np.float32(0.0)
        if value > most:
            best, most = i, value
    if not tried and most < tree.values[node, mover, OWN]:
        for role in range(roles):
            tree.values[node, role, BACKED_UP] = tree.values[node, role, OWN]
        return
    if best != pick:
        edge = get_int(words, block + entries(count) + ENTRY * best + CHILD)
        child = follow(tree, edge)
    if child != NO_NODE:
        for role in range(roles):
            tree.values[node, role, BACKED_UP] = tree.values[child, role, BACKED_UP]
    tree.values[node, mover, BACKED_UP] = most  # as its parent knows it, were it recycled or not
