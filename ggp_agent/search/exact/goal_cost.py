"""How far a state is from a goal: the fluents that have to change for the goal's condition to hold.

The condition is a circuit of gates over fluents.  A conjunction costs what its parts cost together,
a disjunction what the cheapest costs: the number of goals that are not met yet (goal counting, as
planners have it), read off the rules.  It estimates, and bounds nothing.

Its *parts* are the conjuncts of the condition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import kernel
from propnet.layout import ALL, I32, U64, Lanes, Layout
from propnet.vectors import read, splat, store

FAR = 1000
"""The highest cost."""
MOST_GATES = 20_000
"""Gates of a condition beyond which it would take too long to look at every state."""
MOST_PRICED = 400
"""Nodes of a circuit beyond which the parts that are missing are counted instead, if several."""
NO_FLUENT, NEVER = -1, -2
"""In place of a node's fluent: it is none, or it stands for one that does not hold."""
MOST_PARTS = 256

_ONE = np.uint64(1)


class Cost(NamedTuple):
    """The circuit of a goal's condition: in the network's numbers, and with nodes numbered anew."""

    gates: I32
    """(gates,) the circuit's gates"""
    parts: I32
    """(C,) literals of the conjuncts"""
    fluent: I32
    """(K,) the fluent that a node of the circuit is, or NO_FLUENT, or NEVER; empty where the
    circuit is so large that only parts are counted"""
    first: I32
    """(K + 1,) first input of a node"""
    inputs: I32
    """(edges,) literals over the new numbers; a fluent may have one, what brings it about"""
    roots: I32
    """(C,) the parts in these"""
    prices: I32
    """(2, K) what it costs to have a node true, or false, in the state looked at last"""


def cost_of(layout: Layout, literals: list[int]) -> Cost:
    """The circuit under literals that have to hold all at once; empty where it is too large."""
    first, inputs, gates = layout.first.tolist(), layout.inputs, int(layout.bounds[0])
    parts = _conjuncts(first, inputs, gates, literals)[:MOST_PARTS]
    nodes, waiting = set[int](), [literal >> 1 for literal in parts]
    while waiting and len(nodes) <= MOST_GATES:
        node = waiting.pop()
        if node not in nodes:
            nodes.add(node)
            waiting += (inputs[first[node] : first[node + 1]] >> 1).tolist()
    if len(nodes) > MOST_GATES:
        parts, nodes = [], set()
    below = [node for node in sorted(nodes) if node >= gates]
    circuit, roots = _Circuit(layout), list[int]()
    if len(parts) == 1:  # one of several conditions: look behind its fluents, too
        circuit.add_causes([node - 1 for node in sorted(nodes) if 1 <= node <= layout.fluents])
        if len(circuit.fluent) > MOST_PRICED:
            circuit = _Circuit(layout)
    if len(nodes) <= MOST_PRICED or len(parts) == 1:
        roots = circuit.add(parts)
    return Cost(
        gates=np.array(below, np.int32),
        parts=np.array(parts, np.int32),
        fluent=np.array(circuit.fluent, np.int32),
        first=np.array(circuit.first, np.int32),
        inputs=np.array(circuit.inputs, np.int32),
        roots=np.array(roots, np.int32),
        prices=np.zeros((2, len(circuit.fluent)), np.int32),
    )


class _Circuit:
    """Nodes of the network, numbered anew so that inputs come first."""

    def __init__(self, layout: Layout) -> None:
        self._first, self._inputs = layout.first.tolist(), layout.inputs.tolist()
        self._fluents, self._next = layout.fluents, layout.next.tolist()
        self._number: dict[int, int] = {}
        self.fluent: list[int] = []
        self.first = [0]
        self.inputs: list[int] = []

    def add(self, literals: list[int]) -> list[int]:
        """Add what these literals depend on; the literals in the new numbers."""
        nodes = set[int]().union(*(self._below(literal >> 1) for literal in literals))
        nodes -= self._number.keys()
        for node in sorted(nodes):
            inputs = self._inputs[self._first[node] : self._first[node + 1]]
            self._add(node, [self._new(literal) for literal in inputs])
        return [self._new(literal) for literal in literals]

    def add_causes(self, fluents: list[int]) -> None:
        """Have fluents cost what brings them about costs in the move before, and one more.

        That they hold already does not count as bringing them about.
        """
        causes = [self._cause_of(fluent) for fluent in fluents if len(self.fluent) <= MOST_PRICED]
        self._number.clear()  # gates over these fluents are other ones from now on
        for fluent, cause in zip(fluents, causes, strict=False):
            self._add(1 + fluent, [cause])

    def _cause_of(self, fluent: int) -> int:
        """A literal for what brings a fluent about, where it does not hold."""
        literal = self._next[fluent]
        self.add([literal])
        shared, below = self._number, sorted(self._below(literal >> 1))
        self._number = dict(shared)
        self._add(1 + fluent, [])
        self.fluent[-1] = NEVER
        changed = {1 + fluent}
        for node in below:
            inputs = self._inputs[self._first[node] : self._first[node + 1]]
            if any(i >> 1 in changed for i in inputs):
                self._add(node, [self._new(i) for i in inputs])
                changed.add(node)
        cause, self._number = self._new(literal), shared
        return cause

    def _below(self, node: int) -> set[int]:
        nodes, waiting = set[int](), [node]
        while waiting:
            node = waiting.pop()
            if node not in nodes:
                nodes.add(node)
                waiting += [i >> 1 for i in self._inputs[self._first[node] : self._first[node + 1]]]
        return nodes

    def _add(self, node: int, inputs: list[int]) -> None:
        self._number[node] = len(self.fluent)
        self.fluent.append(node - 1 if 1 <= node <= self._fluents else NO_FLUENT)
        self.inputs += inputs
        self.first.append(len(self.inputs))

    def _new(self, literal: int) -> int:
        return 2 * self._number[literal >> 1] + (literal & 1)


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


@kernel
def see_parts(layout: Layout, lanes: Lanes, cost: Cost, met: U64) -> None:
    """Evaluate the parts of the goal in the lanes' position: `met` (C, WORDS)."""
    values = lanes.values
    for k in range(len(cost.gates)):
        gate = cost.gates[k]
        holds = splat(ALL)
        for edge in range(layout.first[gate], layout.first[gate + 1]):
            holds &= read(values, layout.inputs[edge])
        store(values, gate, holds)
    for k in range(len(cost.parts)):
        store(met, k, read(values, cost.parts[k]))


@kernel
def price_of(cost: Cost, states: U64, row: int) -> int:
    """What the goal costs in the packed state of a row, FAR at most."""
    prices = cost.prices
    for node in range(len(cost.fluent)):
        fluent = cost.fluent[node]
        if fluent >= 0:
            holds = np.int32((states[row, fluent >> 6] >> np.uint64(fluent & 63)) & _ONE)
            prices[0, node], prices[1, node] = 1 - holds, holds
            if cost.first[node] < cost.first[node + 1]:
                cause = cost.inputs[cost.first[node]]
                price = prices[cause & 1, cause >> 1] + np.int32(1)
                prices[0, node] = min((1 - holds) * price, np.int32(FAR))
            continue
        if fluent == NEVER:
            prices[0, node], prices[1, node] = np.int32(FAR), np.int32(0)
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
    for k in range(len(cost.roots)):
        literal = cost.roots[k]
        total += prices[literal & 1, literal >> 1]
    return min(total, FAR)
