"""The gates of a network: AND gates with inverters on their inputs, kept in flat arrays.

A *node* is a number.  Node 0 is the constant false; the next nodes are the *sources* (fluents of
the current state, moves that the roles make, feedback of positive cycles); the rest are AND gates
of any number of inputs, each later than its inputs.  A *literal* is `2 * node + inverted`, so that
0 is false, 1 is true and `literal ^ 1` is the negation.  OR(a, b) is NOT AND(NOT a, NOT b).

Everything here is numba over arrays: large rule sheets have a million ground rules.

Letters: `first` (nodes + 1,) int32, node n has the inputs `inputs[first[n]:first[n + 1]]`;
`inputs` (edges,) int32 literals, sorted; `table` (power of two,) int32 hash table of gates;
`size` (2,) int64, nodes and edges in use; `group` (nodes,) int32, role of a move, -1 for others;
`span` (roles, 2) int32, first and last + 1 node of a role's moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel

FALSE, TRUE = 0, 1
NODES, EDGES = 0, 1


class Gates(NamedTuple):
    """Preallocated arrays in which gates are made (see the module's text for the letters)."""

    first: NDArray[np.int32]
    inputs: NDArray[np.int32]
    table: NDArray[np.int32]
    size: NDArray[np.int64]
    group: NDArray[np.int32]
    span: NDArray[np.int32]


def new_gates(sources: int, span: NDArray[np.int32], nodes: int, edges: int) -> Gates:
    """Room for `nodes` gates and `edges` inputs behind the constant and `sources` sources."""
    total = 1 + sources + nodes
    group = np.full(1 + sources, -1, np.int32)
    for role, (low, high) in enumerate(span):
        group[low:high] = role
    slots = 1 << max(4, (2 * nodes).bit_length())
    return Gates(
        first=np.zeros(total + 1, np.int32),
        inputs=np.empty(edges, np.int32),
        table=np.full(slots, -1, np.int32),
        size=np.array([1 + sources, 0], np.int64),
        group=group,
        span=span,
    )


@allocating_kernel
def _simplified(literals: NDArray[np.int32], count: int) -> int:
    """Sort, drop repetitions and true; -1 where the conjunction is false, else the new count."""
    literals[:count].sort()
    kept = 0
    for i in range(count):
        literal = literals[i]
        if literal == TRUE or (kept > 0 and literals[kept - 1] == literal):
            continue
        if literal == FALSE or (kept > 0 and literals[kept - 1] == literal ^ 1):
            return -1
        literals[kept] = literal
        kept += 1
    return kept


@allocating_kernel
def _find_or_add(gates: Gates, literals: NDArray[np.int32], count: int) -> int:
    """The literal of the gate with exactly these (simplified) inputs."""
    key = np.uint64(count)
    for i in range(count):
        key = (key ^ np.uint64(literals[i])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    mask = len(gates.table) - 1
    slot = np.int64(key & np.uint64(mask))
    while gates.table[slot] >= 0:
        node = gates.table[slot]
        low = gates.first[node]
        if gates.first[node + 1] - low == count:
            same = True
            for i in range(count):
                if gates.inputs[low + i] != literals[i]:
                    same = False
                    break
            if same:
                return 2 * node
        slot = (slot + 1) & mask
    node = gates.size[NODES]
    low = gates.size[EDGES]
    for i in range(count):
        gates.inputs[low + i] = literals[i]
    gates.first[node] = low
    gates.first[node + 1] = low + count
    gates.table[slot] = node
    gates.size[NODES] += 1
    gates.size[EDGES] += count
    return 2 * node


@allocating_kernel
def _plain_and(gates: Gates, literals: NDArray[np.int32], count: int) -> int:
    count = _simplified(literals, count)
    if count < 0:
        return FALSE
    if count == 0:
        return TRUE
    if count == 1:
        return literals[0]
    return _find_or_add(gates, literals, count)


@allocating_kernel
def _use_one_hot(gates: Gates, literals: NDArray[np.int32], count: int) -> int:
    """Shorten a conjunction by "a role makes exactly one move"; new count, or -1 for false.

    Two different moves of a role contradict; one move makes "not another" redundant; "none of
    these many" becomes "one of the few others".
    """
    kept, i = 0, 0
    while i < count:
        node = literals[i] >> 1
        role = gates.group[node] if node < len(gates.group) else -1
        if role < 0:
            literals[kept] = literals[i]
            kept += 1
            i += 1
            continue
        low, high = gates.span[role, 0], gates.span[role, 1]
        start, positive, chosen = i, 0, 0
        while i < count and literals[i] >> 1 < high:
            if literals[i] & 1 == 0:
                positive += 1
                chosen = literals[i]
            i += 1
        negative = i - start - positive
        others = high - low - negative
        if positive > 1 or (positive == 0 and others == 0):
            return -1
        if positive == 1:
            literals[kept] = chosen
            kept += 1
        elif others < negative:
            complement = np.empty(others, np.int32)
            found, j = 0, start
            for move in range(low, high):
                if j < i and literals[j] >> 1 == move:
                    j += 1
                else:
                    complement[found] = 2 * move + 1
                    found += 1
            literals[kept] = _plain_and(gates, complement, others) ^ 1
            kept += 1
        else:
            for j in range(start, i):
                literals[kept] = literals[j]
                kept += 1
    return kept


@allocating_kernel
def make_and(gates: Gates, literals: NDArray[np.int32], count: int) -> int:
    """The literal of the conjunction of `literals[:count]` (overwritten)."""
    count = _simplified(literals, count)
    if count > 1:
        count = _use_one_hot(gates, literals, count)
    if count < 0:
        return FALSE
    return _plain_and(gates, literals, count)


@allocating_kernel
def make_or(gates: Gates, literals: NDArray[np.int32], count: int) -> int:
    """The literal of the disjunction of `literals[:count]` (overwritten)."""
    for i in range(count):
        literals[i] ^= 1
    return make_and(gates, literals, count) ^ 1


@allocating_kernel
def _used_and_absorbed(
    gates: Gates, outputs: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(nodes,) what the outputs need, and the gates that only one other needs, not inverted."""
    nodes = gates.size[NODES]
    uses = np.zeros(nodes, np.int32)
    inverted = np.zeros(nodes, np.bool_)
    for i in range(len(outputs)):
        uses[outputs[i] >> 1] += 2  # an output keeps its gate
    for node in range(nodes - 1, -1, -1):
        if uses[node] > 0:
            for i in range(gates.first[node], gates.first[node + 1]):
                child = gates.inputs[i] >> 1
                uses[child] += 1
                if gates.inputs[i] & 1:
                    inverted[child] = True
    used, absorbed = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    for node in range(nodes):
        used[node] = uses[node] > 0
        absorbed[node] = uses[node] == 1 and not inverted[node] and node >= len(gates.group)
    return used, absorbed


@allocating_kernel
def rebuilt(old: Gates, new: Gates, outputs: NDArray[np.int32], inline: bool) -> NDArray[np.int32]:
    """Make again, in `new`, the gates that `outputs` need; returns the outputs there.

    With `inline`, a gate that only one other gate uses, and not inverted, is merged into it.
    `new` (see `room_for`) gets no gate for what was merged.
    """
    nodes, sources = old.size[NODES], len(old.group)
    used, absorbed = _used_and_absorbed(old, outputs)
    literal_of = np.zeros(nodes, np.int32)
    for node in range(sources):
        literal_of[node] = 2 * node
    buffer = np.empty(old.size[EDGES] + 1, np.int32)
    stack = np.empty(nodes, np.int32)
    for node in range(sources, nodes):
        if not used[node] or (inline and absorbed[node]):
            continue
        stack[0], depth, count = node, 1, 0
        while depth > 0:
            depth -= 1
            part = stack[depth]
            for i in range(old.first[part], old.first[part + 1]):
                child = old.inputs[i] >> 1
                if inline and absorbed[child]:
                    stack[depth] = child
                    depth += 1
                else:
                    buffer[count] = literal_of[child] ^ (old.inputs[i] & 1)
                    count += 1
        literal_of[node] = make_and(new, buffer, count)
    result = np.empty(len(outputs), np.int32)
    for i in range(len(outputs)):
        result[i] = literal_of[outputs[i] >> 1] ^ (outputs[i] & 1)
    return result


def room_for(old: Gates) -> Gates:
    """Empty gates over the same sources, with room for whatever `rebuilt` makes of the old ones.

    A conjunction brings at most one complement per role along (see `_use_one_hot`), of fewer
    inputs than it replaces, and it replaces three or more.
    """
    gates, edges = int(old.size[NODES]) - len(old.group), int(old.size[EDGES])
    return new_gates(len(old.group) - 1, old.span, gates + edges // 3, 2 * edges)
