"""Parts of a network made again over what their inputs have become, and what is known of them.

Letters as in `propnet.gates`; `known` (nodes,) int32 has TRUE or FALSE for nodes that are known to
be so in the present state, UNKNOWN for others; `literal_of` (nodes,) int32 has what nodes have
become.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel
from propnet.dependencies import IntArray
from propnet.gates import EDGES, FALSE, NODES, TRUE, Gates, make_and, make_or

UNKNOWN = -1
COST_OF_NEW = 8
"""What an input of a new gate costs, in units of one that is looked at."""


@allocating_kernel
def assume(gates: Gates, known: IntArray, literal: int) -> None:
    """Note what follows for nodes if a literal holds: TRUE or FALSE."""
    stack = [literal]
    while len(stack) > 0:
        one = stack.pop()
        known[one >> 1] = FALSE if one & 1 else TRUE
        if not one & 1:
            for i in range(gates.first[one >> 1], gates.first[(one >> 1) + 1]):
                stack.append(gates.inputs[i])


@allocating_kernel
def cone_of(gates: Gates, literals: IntArray, sources: int) -> IntArray:
    """The gates that literals depend on, inputs first."""
    seen = np.zeros(gates.size[NODES], np.bool_)
    cone, stack, count = np.empty(64, np.int32), [literal >> 1 for literal in literals], 0
    while len(stack) > 0:
        node = stack.pop()
        if node < sources or seen[node]:
            continue
        seen[node] = True
        if count == len(cone):
            cone = np.concatenate((cone, np.empty_like(cone)))
        cone[count] = node
        count += 1
        for i in range(gates.first[node], gates.first[node + 1]):
            stack.append(gates.inputs[i] >> 1)
    return np.sort(cone[:count])


@allocating_kernel
def fluents_in(gates: Gates, cone: IntArray, literals: IntArray, fluents: int) -> IntArray:
    """The fluents that the gates of a cone read, or literals are."""
    found = np.zeros(1 + fluents, np.bool_)
    for literal in literals:
        if literal >> 1 <= fluents:
            found[literal >> 1] = True
    for node in cone:
        for i in range(gates.first[node], gates.first[node + 1]):
            if gates.inputs[i] >> 1 <= fluents:
                found[gates.inputs[i] >> 1] = True
    return (np.flatnonzero(found[1:])).astype(np.int32)


@allocating_kernel
def remake(
    gates: Gates,
    cone: IntArray,
    literal_of: IntArray,
    changed: NDArray[np.bool_],
    known: IntArray,
    reduces: bool,
) -> int:
    """Make the gates of a cone again over what their inputs have become.

    Returns what it cost (see `COST_OF_NEW`); -1 without room.

    What has not changed is what it is in the present state, and that may be known.  With
    `reduces`: a conjunction that is false now, and of whose inputs a single one has changed, to
    "itself or something else", holds by that something else alone.
    """
    literals, looked_at, before = np.empty(4096, np.int32), 0, gates.size[EDGES]
    for node in cone:
        low, high = gates.first[node], gates.first[node + 1]
        looked_at += high - low
        differing, last, same = 0, 0, True
        for i in range(low, high):
            child = gates.inputs[i] >> 1
            same &= literal_of[child] == 2 * child
            if changed[child]:
                differing += 1
                last = i
        changed[node] = differing > 0
        if differing == 0 and (same or known[node] != UNKNOWN):
            literal_of[node] = known[node] if known[node] != UNKNOWN else 2 * node
            continue
        if 2 * (high - low) > len(literals):
            literals = np.empty(4 * (high - low), np.int32)
        for i in range(low, high):
            literals[i - low] = literal_of[gates.inputs[i] >> 1] ^ (gates.inputs[i] & 1)
        # a conjunction may bring a complement of moves along, no longer than itself
        if gates.size[EDGES] + 4 * (high - low) + 4096 > len(gates.inputs):
            return -1
        if reduces and differing == 1 and known[node] == FALSE:
            literals[last - low] = _without(gates, literals[last - low], gates.inputs[last])
        literal_of[node] = make_and(gates, literals, high - low)
    return looked_at + COST_OF_NEW * (gates.size[EDGES] - before)


@allocating_kernel
def _without(gates: Gates, literal: int, disjunct: int) -> int:
    """A disjunction without one of its literals, if it is one."""
    low, high = gates.first[literal >> 1], gates.first[(literal >> 1) + 1]
    if not literal & 1 or high - low > 2000:
        return literal
    others = np.empty(high - low, np.int32)
    count = 0
    for i in range(low, high):
        if gates.inputs[i] != disjunct ^ 1:
            others[count] = gates.inputs[i] ^ 1
            count += 1
    if count == high - low:
        return literal
    return make_or(gates, others, count)
