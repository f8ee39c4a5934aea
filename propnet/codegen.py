"""The network of a game as LLVM assembly: straight-line code over vectors of words.

A function per chunk of the schedule, `void chunk(ptr rows, ptr slots)`, computes `width` words of
its gates; `rows` are the `values` of `propnet.layout.Lanes`, 8 words a row or a single one, and
slots are as wide.  The entry, `void entry(i64 phase, ptr rows)`, calls the chunks of a phase in
turn until all words are computed:
chunk by chunk, so that its code and its rows are still in the cache the second time.  For
phase + HALF it leaves the second half of the lanes alone, if vectors are no wider than a half.
`propnet.choice_code` writes the choice of moves in the same way.

Values may be kept inverted: a gate all of whose inputs are inverted is the OR of the inputs, and
its readers are told.  Rows hold what everybody else expects there.

Assembly is written as text: an object per instruction would take longer than LLVM does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from propnet.layout import EXTRA_ROWS, HALF
from propnet.network import Network
from propnet.phases import COMMIT
from propnet.schedule import REGISTER, ROW, SLOT, Chunk, Operation, Schedule

ENTRY = "entry"
ONES, ZEROS = "splat (i64 -1)", "zeroinitializer"


class Form(NamedTuple):
    """How code is written."""

    words: int
    """in a row: 8 for 512 lanes, 1 for 64"""
    width: int
    """how many of these are computed at once"""


def write_chunk(
    name: str, chunk: Chunk, phase: int, network: Network, schedule: Schedule, form: Form
) -> str:
    """The function of a chunk."""
    writer = _GateWriter(network, schedule, form)
    if phase == COMMIT:
        writer.read_lanes()
    for operation in chunk:
        if phase == COMMIT and operation.node <= len(network.fluents):
            writer.fluent(operation)
        else:
            writer.gate(operation)
    return writer.function(name)


def write_copies(name: str, moves: range, network: Network, form: Form) -> str:
    """The function that copies where moves are legal to `propnet.layout.Lanes.legal`."""
    writer = Writer(form)
    first = len(network.first) - 1 + EXTRA_ROWS + len(network.roles)
    for move in moves:
        writer.store(writer.literal(int(network.legal[move])), "%rows", first + move)
    return writer.function(name)


def write_entry(addresses: Sequence[Sequence[int]], slots: int, form: Form) -> str:
    """The function that calls the chunks, given their addresses phase by phase."""
    passes = range(form.words // form.width)
    lines = [f"%slots = alloca [{slots * form.words} x i64], align {8 * form.words}"]
    for k in passes:
        for base in ("rows", "slots"):
            lines.append(f"%{base}{k} = getelementptr i8, ptr %{base}, i64 {8 * form.width * k}")
    wholes, halves = dict(enumerate(addresses)), {HALF + p: a for p, a in enumerate(addresses)}
    cases = " ".join(f"i64 {phase}, label %phase{phase}" for phase in [*wholes, *halves])
    lines.append(f"switch i64 %phase, label %end [{cases}]")
    for phase, chunks in [*wholes.items(), *halves.items()]:
        lines.append(f"phase{phase}:")
        last = max(1, len(passes) // 2) if phase in halves else len(passes)
        for address, k in ((address, k) for address in chunks for k in passes[:last]):
            function = f"inttoptr (i64 {address} to ptr)"
            lines.append(f"call void {function}(ptr %rows{k}, ptr %slots{k})")
        lines.append("br label %end")
    body = "\n".join(lines)
    return f"define void @{ENTRY}(i64 %phase, ptr %rows) #0 {{\n{body}\nend:\nret void\n}}\n"


def attributes(form: Form) -> str:
    """What every module ends with; a CPU may otherwise prefer vectors narrower than its widest."""
    return f'attributes #0 = {{ nounwind "min-legal-vector-width"="{64 * form.width}" }}\n'


class Writer:
    """Writes the instructions of one function, one line each; vectors go by their names."""

    def __init__(self, form: Form) -> None:
        self.lines: list[str] = []
        self.width, self._row_bytes = form.width, 8 * form.words
        self.vector, self._align = f"<{form.width} x i64>", 8 * form.width
        self._names = 0

    def function(self, name: str) -> str:
        """The function whose instructions have been written."""
        body = "\n".join(self.lines)
        parameters = "ptr noalias %rows, ptr noalias %slots"
        return f"define void @{name}({parameters}) #0 {{\n{body}\nret void\n}}\n"

    def load(self, base: str, row: int) -> str:
        """A row of `%rows` or `%slots`."""
        name, pointer = self.name(), self._pointer(base, row)
        self.lines.append(f"{name} = load {self.vector}, ptr {pointer}, align {self._align}")
        return name

    def store(self, value: str, base: str, row: int) -> None:
        """Set a row of `%rows` or `%slots`."""
        pointer = self._pointer(base, row)
        self.lines.append(f"store {self.vector} {value}, ptr {pointer}, align {self._align}")

    def literal(self, literal: int) -> str:
        """What a literal of the network says, from the row of its node."""
        if literal >> 1 == 0:
            return self.invert(ZEROS) if literal else self.emit("and", ZEROS, ZEROS)
        row = self.load("%rows", literal >> 1)
        return self.invert(row) if literal & 1 else row

    def emit(self, instruction: str, left: str, right: str) -> str:
        """`and`, `or`, `xor` ... of two vectors."""
        name = self.name()
        self.lines.append(f"{name} = {instruction} {self.vector} {left}, {right}")
        return name

    def invert(self, value: str) -> str:
        """The negation of a vector."""
        return self.emit("xor", value, ONES)

    def name(self) -> str:
        """A name that is not in use."""
        self._names += 1
        return f"%v{self._names}"

    def _pointer(self, base: str, row: int) -> str:
        name = self.name()
        self.lines.append(f"{name} = getelementptr i8, ptr {base}, i64 {row * self._row_bytes}")
        return name


class _GateWriter(Writer):
    def __init__(self, network: Network, schedule: Schedule, form: Form) -> None:
        super().__init__(form)
        self._network, self._schedule = network, schedule
        self._values: dict[int, str] = {}

    def read_lanes(self) -> None:
        """Load which lanes go on, and which begin anew: the two rows behind the nodes' rows."""
        nodes = len(self._network.first) - 1
        self._active = self.load("%rows", nodes)
        restart = self.load("%rows", nodes + 1)
        self._restart, self._not_restart = restart, self.invert(restart)

    def gate(self, operation: Operation) -> None:
        """The conjunction of some literals, to its place."""
        node, place, inverted = operation.node, self._schedule.place, self._schedule.inverted
        plain = [x >> 1 for x in operation.literals if not (x & 1) ^ inverted[x >> 1]]
        negated = [x >> 1 for x in operation.literals if (x & 1) ^ inverted[x >> 1]]
        if not plain:
            value = self._join("or", negated)
            if not inverted[node]:
                value = self.invert(value)
        elif not negated:
            value = self._join("and", plain)
        else:
            allowed = self.invert(self._join("or", negated))
            value = self.emit("and", self._join("and", plain), allowed)
        if place[node] == ROW:
            self.store(value, "%rows", node)
        elif place[node] == SLOT:
            self.store(value, "%slots", self._schedule.slot[node])
        else:
            self._values[node] = value

    def fluent(self, operation: Operation) -> None:
        """A fluent's next value in active lanes, its initial one where a game begins anew."""
        row, (literal,) = operation.node, operation.literals
        old = self.load("%rows", row)
        if literal >> 1:
            following = self._read(literal >> 1)
            if (literal & 1) ^ self._schedule.inverted[literal >> 1]:
                following = self.invert(following)
        else:
            following = ONES if literal else ZEROS
        change = self.emit("and", self.emit("xor", old, following), self._active)
        value = self.emit("xor", old, change)
        if self._network.initial[row - 1]:
            value = self.emit("or", value, self._restart)
        else:
            value = self.emit("and", value, self._not_restart)
        self.store(value, "%rows", row)

    def _join(self, instruction: str, nodes: list[int]) -> str:
        value = self._read(nodes[0])
        for node in nodes[1:]:
            value = self.emit(instruction, value, self._read(node))
        return value

    def _read(self, node: int) -> str:
        place = self._schedule.place[node]
        if place == REGISTER:
            return self._values[node]
        if place == SLOT:
            return self.load("%slots", self._schedule.slot[node])
        return self.load("%rows", node)
