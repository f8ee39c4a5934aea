"""The move choice of `propnet.choice` as LLVM assembly, for the moves of one game.

What the kernels do in loops over tables is straight-line code here; the results are the same.  A
role's choice is several functions like those of `propnet.codegen`: some count its legal moves, one
draws the ranks, some take the moves.  Numbers are lists of bit planes, the lowest bit first.
Between the functions they are in slots.

Longer than 300 lines: what a role's functions do and the operations they are written with are read
side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from propnet.choice import GROUP
from propnet.codegen import ZEROS, Form, Writer
from propnet.layout import EXTRA_ROWS
from propnet.network import Network

MOST_MOVES = 150
"""Moves of all roles beyond which no code is made: it would take longer to make than that of the
gates, and hardly be faster than the kernels, because it would not fit into the fastest cache."""
_GROUPS_PER_FUNCTION = 12

Planes = list[str]


def write_choice(network: Network, form: Form) -> Iterator[tuple[list[str], str]]:
    """Role by role, the names of the functions in the order of their calls, and their assembly."""
    for role in _roles(network, form):
        names, texts = zip(*role.functions(), strict=True)
        yield list(names), "".join(texts)


def choice_slots(network: Network) -> int:
    """Slots that the functions need."""
    return max(role.slots for role in _roles(network, Form(1, 1)))


def _roles(network: Network, form: Form) -> list[_Role]:
    spans = pairwise(network.move_span.tolist())
    return [_Role(network, role, range(*span), form) for role, span in enumerate(spans)]


class _Role:
    """Where a role's numbers are, and the functions that use them."""

    def __init__(self, network: Network, role: int, moves: range, form: Form) -> None:
        self._network, self._role, self._form = network, role, form
        self._groups = [moves[low : low + GROUP] for low in range(0, len(moves), GROUP)]
        self._bits = (len(moves) - 1).bit_length() if moves else 0
        self._counter = range(len(moves).bit_length())
        self._rank = range(self._counter.stop, self._counter.stop + self._bits)
        self._undecided = self._rank.stop
        self.slots = self._undecided + 1 + 4 * len(self._groups)
        nodes = len(network.first) - 1
        self._random = range(nodes + 2, nodes + 6)
        self._wanted = nodes + EXTRA_ROWS + role

    def functions(self) -> Iterator[tuple[str, str]]:
        """Name and assembly."""
        parts = [
            range(low, min(low + _GROUPS_PER_FUNCTION, len(self._groups)))
            for low in range(0, len(self._groups), _GROUPS_PER_FUNCTION)
        ]
        name = f"role{self._role}"
        for part in parts:
            yield f"{name}count{part.start}", self._count(part, f"{name}count{part.start}")
        yield f"{name}draw", self._draw(f"{name}draw")
        for part in parts:
            yield f"{name}take{part.start}", self._take(part, f"{name}take{part.start}")

    def _slots_of(self, group: int) -> range:
        first = self._undecided + 1 + 4 * group
        return range(first, first + len(self._groups[group]).bit_length())

    def _count(self, groups: range, name: str) -> str:
        """Add the number of legal moves in some groups to the counter."""
        code = _Code(self._form)
        counter = code.planes(self._counter) if groups.start else []
        for group in groups:
            count = code.count([self._legal(code, move) for move in self._groups[group]])
            code.keep(count, self._slots_of(group))
            counter = code.sum(counter, count)[: len(self._counter)]
        code.keep(counter, self._counter)
        return code.function(name)

    def _draw(self, name: str) -> str:
        """A uniform number below each lane's count (see `propnet.ranks.draw_ranks`)."""
        code = _Code(self._form)
        wanted = code.load("%rows", self._wanted)
        code.store(wanted, "%slots", self._undecided)
        if self._bits:
            bound = code.one_less(code.planes(self._counter))[: self._bits]
            mask = code.filled(bound)
            random = [code.load("%rows", row) for row in self._random]
            waiting = code.emit("and", mask[0], wanted)
            ranks, random = code.draw(bound, mask, waiting, random)
            code.keep(ranks, self._rank)
            for value, row in zip(random, self._random, strict=True):
                code.store(value, "%rows", row)
        return code.function(name)

    def _take(self, groups: range, name: str) -> str:
        """Count the ranks down; where they fall below zero, make the move."""
        code = _Code(self._form)
        rank = code.planes(self._rank)
        undecided = code.load("%slots", self._undecided)
        for group in groups:
            before, chosen = rank, undecided
            if group < len(self._groups) - 1:  # what is undecided in the end is in the last group
                count = code.planes(self._slots_of(group))
                rank, chosen = code.subtract(rank, [code.emit("and", c, undecided) for c in count])
                undecided = code.and_not(undecided, chosen)
            self._take_ranked(code, self._groups[group], before, chosen)
        code.keep(rank, self._rank)
        code.store(undecided, "%slots", self._undecided)
        return code.function(name)

    def _take_ranked(self, code: _Code, moves: Sequence[int], rank: Planes, chosen: str) -> None:
        """In the chosen lanes, the legal move of the rank (below 8) becomes the move made."""
        some, none, end = code.branch_if_any(chosen)
        code.label(some)
        rank = rank[: (len(moves) - 1).bit_length()]
        for move in moves:
            taken = code.emit("and", self._legal(code, move), chosen)
            for plane, old in enumerate(rank):
                rank[plane] = code.emit("xor", old, taken)
                taken = code.and_not(taken, old)
            chosen = code.and_not(chosen, taken)
            code.store(taken, "%rows", self._network.first_move + move)
        code.jump(end)
        code.label(none)
        for move in moves:
            code.store(ZEROS, "%rows", self._network.first_move + move)
        code.jump(end)
        code.label(end)

    def _legal(self, code: _Code, move: int) -> str:
        return code.literal(int(self._network.legal[move]))


class _Code(Writer):
    """Arithmetic on bit planes, and control flow."""

    def planes(self, slots: range) -> Planes:
        """A number from slots."""
        return [self.load("%slots", slot) for slot in slots]

    def keep(self, number: Planes, slots: range) -> None:
        """A number to slots."""
        for plane, slot in zip_longest(number, slots, fillvalue=ZEROS):
            assert isinstance(slot, int)
            self.store(plane, "%slots", slot)

    def and_not(self, one: str, other: str) -> str:
        """one & ~other."""
        return self.emit("and", one, self.invert(other))

    def count(self, rows: Sequence[str]) -> Planes:
        """How many rows have a one: carry-save adders turn three rows into two."""
        planes, column = [], list(rows)
        while column:
            carries = []
            while len(column) > 1:
                total, carry = self._add(*column[:3])
                column = [*column[3:], total]
                carries.append(carry)
            planes += column
            column = carries
        return planes

    def sum(self, one: Planes, other: Planes) -> Planes:
        """The sum of two numbers."""
        result, carry = [], ZEROS
        for a, b in zip_longest(one, other, fillvalue=ZEROS):
            total, carry = self._add(a, b, carry)
            result.append(total)
        return [*result, carry]

    def _add(self, a: str, b: str, c: str = ZEROS) -> tuple[str, str]:
        """Sum and carry of three bits."""
        half = self.emit("xor", a, b)
        if c == ZEROS:
            return half, self.emit("and", a, b)
        carry = self.emit("or", self.emit("and", a, b), self.emit("and", half, c))
        return self.emit("xor", half, c), carry

    def one_less(self, number: Planes) -> Planes:
        """The number minus one, 0 for 0."""
        borrow = number[0]
        for plane in number[1:]:
            borrow = self.emit("or", borrow, plane)
        result = []
        for plane in number:
            result.append(self.emit("xor", plane, borrow))
            borrow = self.and_not(borrow, plane)
        return result

    def filled(self, number: Planes) -> Planes:
        """The number with all bits below its highest one set."""
        result = [number[-1]]
        for plane in reversed(number[:-1]):
            result.append(self.emit("or", result[-1], plane))
        return result[::-1]

    def subtract(self, number: Planes, less: Planes) -> tuple[Planes, str]:
        """The difference, and where there was a borrow."""
        result, borrow = [], ZEROS
        for a, b in zip_longest(number, less, fillvalue=ZEROS):
            differ = self.emit("xor", a, b)
            result.append(self.emit("xor", differ, borrow))
            kept = self.and_not(borrow, differ)
            borrow = self.emit("or", self.and_not(b, a), kept)
        return result[: len(number)], borrow

    def draw(
        self, bound: Planes, mask: Planes, waiting: str, random: Planes
    ) -> tuple[Planes, Planes]:
        """Random numbers within `mask`, drawn again until they are at most `bound`.

        Only lanes of `waiting` draw, and only the generators of words with such lanes go on.
        Returns the numbers, 0 in other lanes, and the state of the generators.
        """
        test, again, end = (self._new_label() for _ in range(3))
        start = self._new_label()
        self.jump(start)
        self.label(start)
        self.jump(test)
        self.label(test)
        old = [ZEROS] * len(bound) + random + [waiting]
        loop = [self.name() for _ in old]
        place = len(self.lines)
        *ranks, a, b, c, d, waiting = loop
        random = [a, b, c, d]
        self._branch(waiting, again, end)
        self.label(again)
        following, too_high, state = [], ZEROS, random
        for rank, limit, allowed in zip(ranks, bound, mask, strict=True):
            bit, state = self._next_random(state)
            bit = self.emit("and", bit, allowed)
            too_high = self._select(self.emit("xor", bit, limit), bit, too_high)
            following.append(self._select(waiting, bit, rank))
        words = self._busy_words(waiting)
        following += [self._select(words, new, was) for new, was in zip(state, random, strict=True)]
        following.append(self.emit("and", waiting, too_high))
        self.jump(test)
        self.lines[place:place] = [
            f"{name} = phi {self.vector} [{first}, %{start}], [{then}, %{again}]"
            for name, first, then in zip(loop, old, following, strict=True)
        ]
        self.label(end)
        return ranks, random

    def _next_random(self, state: Planes) -> tuple[str, Planes]:
        """Random bits and the generators' next state (see `propnet.ranks.next_random`)."""
        a, b, c, d = state
        total = self.emit("add", a, d)
        bits = self.emit("add", self._rotate(total, 23), a)
        e, f = self.emit("xor", c, a), self.emit("xor", d, b)
        shifted = self.emit("shl", b, "splat (i64 17)")
        following = [
            self.emit("xor", a, f),
            self.emit("xor", b, e),
            self.emit("xor", e, shifted),
            self._rotate(f, 45),
        ]
        return bits, following

    def _rotate(self, value: str, bits: int) -> str:
        left = self.emit("shl", value, f"splat (i64 {bits})")
        return self.emit("or", left, self.emit("lshr", value, f"splat (i64 {64 - bits})"))

    def _select(self, mask: str, one: str, other: str) -> str:
        """Bit by bit, `one` where the mask has a one, else `other`."""
        change = self.emit("and", self.emit("xor", one, other), mask)
        return self.emit("xor", other, change)

    def _busy_words(self, value: str) -> str:
        """All ones in the words that have any bit set, else zero."""
        busy, words = self.name(), self.name()
        bits = self.vector.replace("i64", "i1")
        self.lines.append(f"{busy} = icmp ne {self.vector} {value}, {ZEROS}")
        self.lines.append(f"{words} = sext {bits} {busy} to {self.vector}")
        return words

    def branch_if_any(self, value: str) -> tuple[str, str, str]:
        """Go to the first of three new labels if any bit is set, else to the second."""
        some, none, end = (self._new_label() for _ in range(3))
        self._branch(value, some, none)
        return some, none, end

    def _branch(self, value: str, some: str, none: str) -> None:
        wide, any_ = self.name(), self.name()
        integer = f"i{64 * self.width}"
        self.lines.append(f"{wide} = bitcast {self.vector} {value} to {integer}")
        self.lines.append(f"{any_} = icmp ne {integer} {wide}, 0")
        self.lines.append(f"br i1 {any_}, label %{some}, label %{none}")

    def label(self, name: str) -> None:
        """What follows is a new block."""
        self.lines.append(f"{name}:")

    def jump(self, label: str) -> None:
        """Go to a label."""
        self.lines.append(f"br label %{label}")

    def _new_label(self) -> str:
        return f"block{self.name()[1:]}"
