"""Machine code for one game: made by LLVM in the background, put in place of the interpreter.

`compile_in_background` returns at once.  When the code is there, its address is written to
`Layout.code`, and kernels use it from the next position on (see `propnet.kernels.see_position`);
until then, and where code isn't worth its price, they interpret the network.  First comes the code
for 512 lanes, which nobody can do without for long, then that for 64.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from propnet.choice_code import MOST_MOVES, choice_slots, write_choice
from propnet.codegen import ENTRY, Form, attributes, write_chunk, write_copies, write_entry
from propnet.layout import CHOICE_CODE, GATE_CODE, ONE_WORD, Layout
from propnet.network import Network
from propnet.phases import POSITION
from propnet.schedule import CHUNK_EDGES, CODE_PHASES, Schedule, schedule
from propnet.vectors import WORDS

log = logging.getLogger(__name__)

MOST_EDGES = 400_000
"""Gate inputs beyond which no code is made: it takes too long, and no cache holds it."""
MOST_EDGES_OPTIMISED = 60_000
"""Gate inputs beyond which LLVM doesn't optimise: code is made in a third of the time, runs in
twice the time."""
CHUNKS_AT_A_TIME = 8
"""What LLVM compiles at a stretch: it can't be stopped in between, nor used by another thread."""


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that code is made for, in LLVM's words."""

    triple: str
    cpu: str
    features: str

    @classmethod
    def host(cls) -> Target:
        """This machine."""
        features = llvm.get_host_cpu_features().flatten()
        return cls(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)

    @property
    def width(self) -> int:
        """Words in a vector of the machine's widest integer instructions."""
        features = self.features.split(",")
        if "+avx512f" in features:
            return 8
        return 4 if "+avx2" in features else 2

    def machine(self, optimised: bool) -> Any:
        """LLVM's code generator for the machine."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=int(optimised), jit=True
        )


def emit_objects(network: Network, target: Target, width: int = 0) -> Iterator[bytes]:
    """Object code for any machine, module by module (to look at, and to test)."""
    form = Form(WORDS, width or target.width)
    plan = schedule(network, CHUNK_EDGES)
    machine = target.machine(network.edge_count <= MOST_EDGES_OPTIMISED)
    names = []
    for _, functions, text in _modules(network, plan, form):
        names += functions
        yield machine.emit_object(llvm.parse_assembly(text))
    entry = write_entry([range(len(names))], plan.slots, form) + attributes(form)
    yield machine.emit_object(llvm.parse_assembly(entry))


def _modules(network: Network, plan: Schedule, form: Form) -> Iterator[tuple[int, list[str], str]]:
    """Phase, names of the functions, and assembly of some chunks at a time.

    The choice of moves counts as the phase behind those of the gates; 64 lanes, of which few are in
    use, do without (see `propnet.choice_by_lane`).
    """
    for phase, chunks in enumerate(plan.phases):
        for low in range(0, len(chunks), CHUNKS_AT_A_TIME):
            some = chunks[low : low + CHUNKS_AT_A_TIME]
            names = [f"chunk{i}" for i in range(len(some))]
            functions = [
                write_chunk(name, chunk, phase, network, plan, form)
                for name, chunk in zip(names, some, strict=True)
            ]
            yield phase, names, "\n".join(functions) + attributes(form)
    if form.words == 1:
        moves = range(len(network.legal))
        for part in (moves[low : low + CHUNK_EDGES] for low in moves[::CHUNK_EDGES]):
            text = write_copies("copies", part, network, form) + attributes(form)
            yield POSITION, ["copies"], text
    elif len(network.legal) <= MOST_MOVES:
        for names, text in write_choice(network, form):
            yield CODE_PHASES, names, text + attributes(form)


class _Code:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, target: Target, optimised: bool) -> None:
        self._target, self._optimised = target, optimised
        self._engines: list[Any] = []

    def add(self, text: str, names: list[str]) -> list[int]:
        """Compile a module; the addresses of its functions."""
        machine = self._target.machine(self._optimised)  # the engine's own from now on
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.finalize_object()
        self._engines.append(engine)
        return [engine.get_function_address(name) for name in names]

    def add_entry(self, addresses: list[list[int]], slots: int, form: Form) -> int:
        """Compile the function that calls these functions; its address."""
        (address,) = self.add(write_entry(addresses, slots, form) + attributes(form), [ENTRY])
        return address

    def release(self) -> None:
        """Free the memory."""
        self._engines.clear()


class Compilation:
    """Code for a game in the making: a thread that `Layout.code` gets its result from."""

    def __init__(self, network: Network, layout: Layout, target: Target, width: int) -> None:
        self.width = width
        self.seconds = 0.0
        """from the start of the thread until the code was there"""
        self._network, self._layout, self._target = network, layout, target
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="compile", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether kernels of 512 lanes run machine code from the next position on."""
        return bool(self._layout.code[0])

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the thread ends (not longer than `seconds`); whether any code is there."""
        self._thread.join(seconds)
        return self.ready

    def stop(self) -> None:
        """End the thread as soon as LLVM allows; code that is there stays."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        started = time.perf_counter()
        try:
            plan = schedule(self._network, CHUNK_EDGES)
            for first, form in ((0, Form(WORDS, self.width)), (ONE_WORD, Form(1, 1))):
                addresses = self._compile(plan, form)
                if not addresses:
                    return
                seconds = time.perf_counter() - started
                self.seconds = self.seconds or seconds
                self._layout.code[first + GATE_CODE] = addresses[GATE_CODE]
                self._layout.code[first + CHOICE_CODE] = addresses[CHOICE_CODE]
                log.info("machine code after %.2f s, %d words wide", seconds, form.width)
        except (RuntimeError, OSError, MemoryError):  # LLVM's; the interpreter goes on
            log.exception("no machine code for this game")

    def _compile(self, plan: Schedule, form: Form) -> list[int]:
        """The entries for gates and choice (0: none), nothing where told to stop."""
        network = self._network
        code = _Code(self._target, network.edge_count <= MOST_EDGES_OPTIMISED)
        phases: list[list[int]] = [[] for _ in range(CODE_PHASES + 1)]
        for phase, names, text in _modules(network, plan, form):
            if self._stop.is_set():
                return []
            phases[phase] += code.add(text, names)
        *gates, choice = phases
        entries = [code.add_entry(gates, plan.slots, form), 0]
        if choice:
            entries[CHOICE_CODE] = code.add_entry([choice], choice_slots(network), form)
        # the code lives as long as the array through which kernels find it
        weakref.finalize(self._layout.code, code.release).atexit = False
        return entries


_running: weakref.WeakSet[Compilation] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """LLVM must not be at work while the process takes itself apart."""
    for compilation in list(_running):
        compilation.stop()


def compile_in_background(
    network: Network, layout: Layout, *, width: int = 0, target: Target | None = None
) -> Compilation | None:
    """Begin to make machine code for a layout of the network; None where it isn't worth it.

    `width` is the number of words (1, 2, 4 or 8) that the code computes at once, 0 for what suits
    the machine.  `target` restricts what of the host CPU is used.
    """
    if network.edge_count > MOST_EDGES:
        log.info("no machine code: %d gate inputs are too many", network.edge_count)
        return None
    target = target or Target.host()
    compilation = Compilation(network, layout, target, width or target.width)
    _running.add(compilation)
    return compilation
