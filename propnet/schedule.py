"""In which order machine code computes the gates of a network, and where it keeps their values.

The interpreted kernel goes level by level and gives each node a row.  Machine code computes a gate
shortly before it is needed (depth first from the outputs), in *chunks* of bounded size, each of
which becomes a function, and needs no memory for most values.  The place of a value is

- `ROW`, the node's own row, where others read it (outputs, and what a later phase needs),
- `REGISTER`, where its own chunk alone needs it,
- `SLOT`, where other chunks of its phase need it: one of a few, which another value gets as soon
  as this one is not needed any more (linear-scan allocation: M. Poletto, V. Sarkar, 1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from propnet.network import Network
from propnet.phases import GOALS, POSITION, STEP, WINS

CODE_PHASES = 5
CHUNK_EDGES = 200
"""Inputs of the gates of a chunk; compilers take more than linear time for long functions."""

ROW, REGISTER, SLOT = 0, 1, 2


class Operation(NamedTuple):
    """A gate to compute; in `COMMIT`, a fluent that takes its next value, or a copy of one.

    Copies, and parts of wide gates, are values that get numbers behind those of the nodes.
    """

    node: int
    literals: Sequence[int]
    """what is conjoined"""


Chunk = Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order and the places of all values."""

    phases: tuple[tuple[Chunk, ...], ...]
    """(CODE_PHASES,)"""
    place: bytearray
    """(values,) ROW, REGISTER or SLOT"""
    slot: list[int]
    """(values,) where the place is SLOT, its number"""
    inverted: bytearray
    """(values,) 1 where the place holds the negation"""
    slots: int
    """number of slots, at least 1"""

    @property
    def edges(self) -> int:
        """Inputs of all operations."""
        return sum(len(op.literals) for phase in self.phases for chunk in phase for op in chunk)


def schedule(network: Network, chunk_edges: int = CHUNK_EDGES) -> Schedule:
    """Order and places for a network."""
    numbers = count(len(network.first) - 1)
    orders = [_ordered(network, phase) for phase in (POSITION, GOALS, WINS, STEP)]
    orders.append(_commit(network, numbers))
    narrow = [list(_narrowed(order, chunk_edges // 2, numbers)) for order in orders]
    phases = tuple(tuple(_cut(order, chunk_edges)) for order in narrow)
    values = next(numbers)
    place, slot = bytearray(values), [0] * values
    kept = _kept(network)
    slots = max(_find_places(phase, kept, place, slot) for phase in phases)
    return Schedule(phases, place, slot, _inversions(phases, place), max(1, slots))


def _ordered(network: Network, phase: int) -> list[Operation]:
    """The gates of a phase, each behind its inputs, and these as close before it as may be."""
    first, inputs = network.first.tolist(), network.inputs.tolist()
    bounds = [1 + network.sources, *network.phase_end.tolist()]
    low, high = bounds[phase], bounds[phase + 1]
    outputs = (network.legal, network.goals, network.wins, network.next)[phase].tolist()
    done = bytearray(high - low)
    order: list[Operation] = []
    stack = [*range(high - 1, low - 1, -1), *(literal >> 1 for literal in reversed(outputs))]
    while stack:
        node = stack.pop()
        if node < 0:
            order.append(Operation(~node, inputs[first[~node] : first[~node + 1]]))
        elif low <= node < high and not done[node - low]:
            done[node - low] = 1
            stack.append(~node)
            stack += [literal >> 1 for literal in inputs[first[node] : first[node + 1]]]
    return order


def _commit(network: Network, numbers: Iterator[int]) -> list[Operation]:
    """Fluents that take their next values; where this is another fluent, it is copied before."""
    fluents = len(network.fluents)
    copies: list[Operation] = []
    changes: list[Operation] = []
    for fluent, literal in enumerate(network.next.tolist(), 1):
        if 0 < literal >> 1 <= fluents and literal >> 1 != fluent:
            copy = next(numbers)
            copies.append(Operation(copy, (literal,)))
            literal = 2 * copy
        changes.append(Operation(fluent, (literal,)))
    return copies + changes


def _narrowed(
    operations: list[Operation], width: int, numbers: Iterator[int]
) -> Iterator[Operation]:
    """The operations, those with many inputs as a conjunction of conjunctions of fewer."""
    width = max(2, width)
    for node, literals in operations:
        while len(literals) > width:
            parts = []
            for low in range(0, len(literals), width):
                part = next(numbers)
                yield Operation(part, literals[low : low + width])
                parts.append(2 * part)
            literals = parts
        yield Operation(node, literals)


def _cut(operations: list[Operation], edges: int) -> Iterator[Chunk]:
    chunk: list[Operation] = []
    size = 0
    for operation in operations:
        if size + len(operation.literals) > edges and chunk:
            yield chunk
            chunk, size = [], 0
        chunk.append(operation)
        size += len(operation.literals)
    if chunk:
        yield chunk


def _kept(network: Network) -> set[int]:
    """Nodes that have to be in their rows: outputs, and what later phases need."""
    literals = [*network.legal.tolist(), network.terminal, *network.goals.tolist()]
    literals += [
        *network.wins.tolist(),
        *network.blocks.tolist(),
        *network.feedback.tolist(),
        *network.next.tolist(),
    ]
    kept = {literal >> 1 for literal in literals}
    position_end = network.phase_end[POSITION]
    later = network.inputs[network.first[position_end] :] >> 1
    kept.update(later[later < position_end].tolist())
    kept.update(range(1 + network.sources))
    return kept


def _inversions(phases: Sequence[Sequence[Chunk]], place: bytearray) -> bytearray:
    """Which gates are computed as the OR of their inputs, and kept inverted."""
    inverted = bytearray(len(place))
    for phase in phases:
        for operation in (operation for chunk in phase for operation in chunk):
            if place[operation.node] != ROW:
                plain = any(not (x & 1) ^ inverted[x >> 1] for x in operation.literals)
                inverted[operation.node] = not plain
    return inverted


def _find_places(phase: Sequence[Chunk], kept: set[int], place: bytearray, slot: list[int]) -> int:
    """Give the values of a phase their places; the number of slots needed."""
    last, crossing = _uses(phase, kept)
    free: list[int] = []
    slots = 0
    for operation in (operation for chunk in phase for operation in chunk):
        for node in (literal >> 1 for literal in operation.literals):
            if node in crossing and last[node] == operation.node:
                free.append(slot[node])
        node = operation.node
        if node in crossing:
            if not free:
                free.append(slots)
                slots += 1
            place[node], slot[node] = SLOT, free.pop()
        elif node in last:
            place[node] = REGISTER
    return slots


def _uses(phase: Sequence[Chunk], kept: set[int]) -> tuple[dict[int, int], set[int]]:
    """Of the values that need no rows: who reads each last, and which ones other chunks read."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    crossing: set[int] = set()
    for number, chunk in enumerate(phase):
        for operation in chunk:
            for node in (literal >> 1 for literal in operation.literals):
                if node in made:
                    last[node] = operation.node
                    if made[node] != number:
                        crossing.add(node)
            if operation.node not in kept:
                made[operation.node] = number
    return last, crossing
