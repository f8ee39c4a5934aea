"""How far a state is from a goal: the fluents that have to change for the goal's condition to hold.

The condition is a circuit of gates over fluents.  A conjunction costs what its parts cost together,
a disjunction what the cheapest costs: the number of goals that are not met yet (goal counting, as
planners have it), read off the rules.  It estimates, and bounds nothing.

Its *parts* are the conjuncts of the condition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import part
from propnet.layout import I32, U64, Layout

FAR = 1000
"""The highest cost."""
MOST_GATES = 20_000
"""Gates of a condition beyond which it would take too long to look at every state."""
MOST_PARTS = 256

_ONE = np.uint64(1)


class Cost(NamedTuple):
    """The circuit of a goal's condition, its nodes numbered anew, from the fluents on."""

    fluent: I32
    """(K,) the fluent that a node is, or -1"""
    first: I32
    """(K + 1,) first input of a node"""
    inputs: I32
    """(edges,) literals over the new numbers"""
    parts: I32
    """(C,) literals of the conjuncts"""
    prices: I32
    """(2, K) what it costs to have a node true, or false, in the state looked at last"""


def cost_of(layout: Layout, literals: list[int]) -> Cost:
    """The circuit under literals that have to hold all at once; empty where it is too large."""
    first, inputs, gates = layout.first.tolist(), layout.inputs, int(layout.bounds[0])
    parts = _conjuncts(first, inputs, gates, literals)
    nodes, waiting = set[int](), [literal >> 1 for literal in parts]
    while waiting and len(nodes) <= MOST_GATES:
        node = waiting.pop()
        if node not in nodes:
            nodes.add(node)
            waiting += (inputs[first[node] : first[node + 1]] >> 1).tolist()
    if len(nodes) > MOST_GATES:
        parts, nodes = [], set()
    order = sorted(nodes)
    number = {node: k for k, node in enumerate(order)}
    starts, edges, fluents = [0], list[int](), []
    for node in order:
        fluents.append(node - 1 if 1 <= node <= layout.fluents else -1)
        for literal in inputs[first[node] : first[node + 1]].tolist():
            edges.append(2 * number[literal >> 1] + (literal & 1))
        starts.append(len(edges))
    return Cost(
        fluent=np.array(fluents, np.int32),
        first=np.array(starts, np.int32),
        inputs=np.array(edges, np.int32),
        parts=np.array([2 * number[p >> 1] + (p & 1) for p in parts], np.int32),
        prices=np.zeros((2, len(order)), np.int32),
    )


def _conjuncts(first: list[int], inputs: I32, gates: int, literals: list[int]) -> list[int]:
    """The literals that all have to hold, conjunctions taken apart."""
    parts, seen, waiting = list[int](), set[int](), list(literals)
    while waiting:
        literal = waiting.pop()
        node = literal >> 1
        if literal in seen:
            continue
        seen.add(literal)
        if node >= gates and not literal & 1:
            waiting += inputs[first[node] : first[node + 1]].tolist()
        elif node:
            parts.append(literal)
    return sorted(parts)


@part
def price_of(cost: Cost, states: U64, row: int, met: U64, place: int) -> int:
    """What a goal costs in the packed state of a row, FAR at most.

    `met` (..., MOST_PARTS / 64) gets, in row `place`, the parts that hold.
    """
    prices = cost.prices
    for node in range(len(cost.fluent)):
        fluent = cost.fluent[node]
        if fluent >= 0:
            holds = np.int32((states[row, fluent >> 6] >> np.uint64(fluent & 63)) & _ONE)
            prices[0, node], prices[1, node] = 1 - holds, holds
            continue
        together, cheapest = np.int32(0), np.int32(FAR)
        for edge in range(cost.first[node], cost.first[node + 1]):
            literal = cost.inputs[edge]
            together += prices[literal & 1, literal >> 1]
            cheapest = min(cheapest, prices[1 - (literal & 1), literal >> 1])
        if cost.first[node] == cost.first[node + 1]:
            cheapest = np.int32(0)  # neither fluent nor gate: nobody knows
        prices[0, node], prices[1, node] = min(together, np.int32(FAR)), cheapest
    total = 0
    for word in range(met.shape[1]):
        met[place, word] = np.uint64(0)
    for k in range(len(cost.parts)):
        literal = cost.parts[k]
        price = prices[literal & 1, literal >> 1]
        total += price
        if price == 0 and k < MOST_PARTS:
            met[place, k >> 6] |= _ONE << np.uint64(k & 63)
    return min(total, FAR)


def new_met(count: int) -> NDArray[np.uint64]:
    """(count, MOST_PARTS / 64) sets of parts."""
    return np.zeros((count, MOST_PARTS // 64), np.uint64)
