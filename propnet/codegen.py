"""The network of a game as LLVM assembly: straight-line code over vectors of words.

A function per chunk of the schedule, `void chunk(ptr rows, ptr slots)`, computes `width` words of
its gates; `rows` are the `values` of `propnet.layout.Lanes`, 8 words a row, and slots are as wide.
The entry, `void evaluate(i64 phase, ptr rows)`, calls the chunks of a phase in turn, each 8 / width
times: chunk by chunk, so that its code and its rows are still in the cache the second time.

Values may be kept inverted: a gate all of whose inputs are inverted is the OR of the inputs, and
its readers are told.  Rows hold what everybody else expects there.

Assembly is written as text: an object per instruction would take longer than LLVM does.
"""

from __future__ import annotations

from collections.abc import Sequence

from propnet.network import Network
from propnet.schedule import COMMIT, REGISTER, ROW, SLOT, Chunk, Operation, Schedule
from propnet.vectors import WORDS

ENTRY = "evaluate"
ROW_BYTES = 8 * WORDS
_ONES = "splat (i64 -1)"


def write_chunk(
    name: str, chunk: Chunk, phase: int, network: Network, schedule: Schedule, width: int
) -> str:
    """The function of a chunk."""
    writer = _Writer(network, schedule, width)
    if phase == COMMIT:
        writer.read_lanes()
    for operation in chunk:
        if phase == COMMIT and operation.node <= len(network.fluents):
            writer.fluent(operation)
        else:
            writer.gate(operation)
    body = "\n".join(writer.lines)
    parameters = "ptr noalias %rows, ptr noalias %slots"
    return f"define void @{name}({parameters}) #0 {{\n{body}\nret void\n}}\n"


def write_entry(addresses: Sequence[Sequence[int]], slots: int, width: int) -> str:
    """The function that calls the chunks, given their addresses phase by phase."""
    passes = range(WORDS // width)
    lines = [f"%slots = alloca [{slots * WORDS} x i64], align {ROW_BYTES}"]
    for k in passes:
        for base in ("rows", "slots"):
            lines.append(f"%{base}{k} = getelementptr i8, ptr %{base}, i64 {8 * width * k}")
    cases = " ".join(f"i64 {phase}, label %phase{phase}" for phase in range(len(addresses)))
    lines.append(f"switch i64 %phase, label %end [{cases}]")
    for phase, chunks in enumerate(addresses):
        lines.append(f"phase{phase}:")
        for address, k in ((address, k) for address in chunks for k in passes):
            function = f"inttoptr (i64 {address} to ptr)"
            lines.append(f"call void {function}(ptr %rows{k}, ptr %slots{k})")
        lines.append("br label %end")
    body = "\n".join(lines)
    return f"define void @{ENTRY}(i64 %phase, ptr %rows) #0 {{\n{body}\nend:\nret void\n}}\n"


def attributes(width: int) -> str:
    """What every module ends with; a CPU may otherwise prefer vectors narrower than its widest."""
    return f'attributes #0 = {{ nounwind "min-legal-vector-width"="{64 * width}" }}\n'


class _Writer:
    """Writes the instructions of one function, one line each."""

    def __init__(self, network: Network, schedule: Schedule, width: int) -> None:
        self.lines: list[str] = []
        self._network, self._schedule = network, schedule
        self._vector, self._align = f"<{width} x i64>", 8 * width
        self._values: dict[int, str] = {}
        self._names = 0

    def read_lanes(self) -> None:
        """Load which lanes go on, and which begin anew: the two rows behind the nodes' rows."""
        nodes = len(self._network.first) - 1
        self._active = self._load("%rows", nodes * ROW_BYTES)
        restart = self._load("%rows", (nodes + 1) * ROW_BYTES)
        self._restart, self._not_restart = restart, self._invert(restart)

    def gate(self, operation: Operation) -> None:
        """The conjunction of some literals, to its place."""
        node, place, inverted = operation.node, self._schedule.place, self._schedule.inverted
        plain = [x >> 1 for x in operation.literals if not (x & 1) ^ inverted[x >> 1]]
        negated = [x >> 1 for x in operation.literals if (x & 1) ^ inverted[x >> 1]]
        if not plain:
            value = self._join("or", negated)
            if not inverted[node]:
                value = self._invert(value)
        elif not negated:
            value = self._join("and", plain)
        else:
            allowed = self._invert(self._join("or", negated))
            value = self._emit("and", self._join("and", plain), allowed)
        if place[node] == ROW:
            self._store(value, "%rows", node * ROW_BYTES)
        elif place[node] == SLOT:
            self._store(value, "%slots", self._schedule.slot[node] * ROW_BYTES)
        else:
            self._values[node] = value

    def fluent(self, operation: Operation) -> None:
        """A fluent's next value in active lanes, its initial one where a game begins anew."""
        row, (literal,) = operation.node, operation.literals
        old = self._load("%rows", row * ROW_BYTES)
        if literal >> 1:
            following = self._read(literal >> 1)
            if (literal & 1) ^ self._schedule.inverted[literal >> 1]:
                following = self._invert(following)
        else:
            following = _ONES if literal else "zeroinitializer"
        change = self._emit("and", self._emit("xor", old, following), self._active)
        value = self._emit("xor", old, change)
        if self._network.initial[row - 1]:
            value = self._emit("or", value, self._restart)
        else:
            value = self._emit("and", value, self._not_restart)
        self._store(value, "%rows", row * ROW_BYTES)

    def _join(self, instruction: str, nodes: list[int]) -> str:
        value = self._read(nodes[0])
        for node in nodes[1:]:
            value = self._emit(instruction, value, self._read(node))
        return value

    def _read(self, node: int) -> str:
        place = self._schedule.place[node]
        if place == REGISTER:
            return self._values[node]
        if place == SLOT:
            return self._load("%slots", self._schedule.slot[node] * ROW_BYTES)
        return self._load("%rows", node * ROW_BYTES)

    def _invert(self, value: str) -> str:
        return self._emit("xor", value, _ONES)

    def _emit(self, instruction: str, left: str, right: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = {instruction} {self._vector} {left}, {right}")
        return name

    def _load(self, base: str, offset: int) -> str:
        name, pointer = self._name(), self._pointer(base, offset)
        self.lines.append(f"{name} = load {self._vector}, ptr {pointer}, align {self._align}")
        return name

    def _store(self, value: str, base: str, offset: int) -> None:
        pointer = self._pointer(base, offset)
        self.lines.append(f"store {self._vector} {value}, ptr {pointer}, align {self._align}")

    def _pointer(self, base: str, offset: int) -> str:
        name = self._name()
        self.lines.append(f"{name} = getelementptr i8, ptr {base}, i64 {offset}")
        return name

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"
