"""The order of a network's gates: by phase, and within a phase by level, for a sweep in one go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel
from propnet.dependencies import IntArray
from propnet.gates import NODES, Gates
from propnet.phases import GOALS, POSITION, STEP, WINS


@allocating_kernel
def phases_and_levels(
    gates: Gates, outputs: IntArray, bounds: IntArray, first_feedback: int
) -> tuple[NDArray[np.int8], IntArray]:
    """(nodes,) phase and level of every node; 0 for sources, but feedback has its phase.

    `bounds` (8,) are those of next, legal, terminal, goals, wins, blocks, feedback in `outputs`.
    """
    nodes, sources = gates.size[NODES], len(gates.group)
    feedback, fluents = sources - first_feedback, bounds[1]
    level = np.zeros(nodes, np.int32)
    dynamic = np.zeros(nodes, np.bool_)
    dynamic[1 + fluents : first_feedback] = True
    settled = False
    while not settled:
        for node in range(sources, nodes):
            for i in range(gates.first[node], gates.first[node + 1]):
                child = gates.inputs[i] >> 1
                dynamic[node] |= dynamic[child]
                level[node] = max(level[node], level[child] + 1)
        settled = True
        for k in range(feedback):
            driver = outputs[len(outputs) - feedback + k] >> 1
            if dynamic[driver] and not dynamic[first_feedback + k]:
                dynamic[first_feedback + k] = True
                settled = False
    # who needs a node: goals alone, wins alone, or both or anybody else
    for_goals, for_wins = np.uint8(1), np.uint8(2)
    needed = np.zeros(nodes, np.uint8)
    for i in range(len(outputs)):
        if bounds[3] <= i < bounds[4]:
            needed[outputs[i] >> 1] |= for_goals
        elif bounds[4] <= i < bounds[6]:
            needed[outputs[i] >> 1] |= for_wins
        else:
            needed[outputs[i] >> 1] |= for_goals | for_wins
    for node in range(nodes - 1, sources - 1, -1):
        for i in range(gates.first[node], gates.first[node + 1]):
            needed[gates.inputs[i] >> 1] |= needed[node]
    phase = np.zeros(nodes, np.int8)
    for node in range(first_feedback, sources):
        phase[node] = STEP if dynamic[node] else POSITION
    for node in range(sources, nodes):
        phase[node] = POSITION
        if dynamic[node]:
            phase[node] = STEP
        elif needed[node] == for_wins:
            phase[node] = WINS
        elif needed[node] == for_goals:
            phase[node] = GOALS
    return phase, level


def sorted_gates(
    gates: Gates, phase: NDArray[np.int8], level: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The gates in order of phase and level: first, inputs, and old node → new node."""
    nodes, sources = int(gates.size[NODES]), len(gates.group)
    by_phase = sources + np.lexsort((level[sources:], phase[sources:nodes]))
    old = np.concatenate((np.arange(sources), by_phase))
    new_number = np.empty(nodes, np.int32)
    new_number[old] = np.arange(nodes, dtype=np.int32)
    counts = gates.first[1 : nodes + 1] - gates.first[:nodes]
    counts[:sources] = 0
    first = np.zeros(nodes + 1, np.int32)
    np.cumsum(counts[old], out=first[1:])
    inside = np.arange(first[-1]) - np.repeat(first[:-1], counts[old])
    moved = gates.inputs[np.repeat(gates.first[old], counts[old]) + inside]
    return first, (2 * new_number[moved >> 1] + (moved & 1)).astype(np.int32), new_number
