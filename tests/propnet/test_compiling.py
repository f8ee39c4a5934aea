"""Machine code: the same results as the interpreter, on any machine, made in the background."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.grounding import ground
from gdl.rules import RuleSheet
from ggp_agent.library.games import Game, games
from propnet import compiling, kernels
from propnet.choice_code import MOST_MOVES
from propnet.compiling import Compilation, Target, compile_in_background, emit_objects
from propnet.layout import CHOICE_CODE, GATE_CODE, ONE_WORD, Lanes, Layout, layout_of, new_lanes
from propnet.network import Network, compile_network
from propnet.schedule import SLOT, schedule
from propnet.vectors import LANES, WORDS
from tests.small_sheets import SHEETS, small_sheet, tic_tac_toe

U64 = NDArray[np.uint64]

HOST = Target.host()
BASELINE = Target("x86_64-unknown-linux-gnu", "x86-64", "")
AVX2 = replace(BASELINE, cpu="x86-64-v3", features="+avx2")
AVX512 = replace(BASELINE, cpu="x86-64-v4", features="+avx512f")
ARM = Target("aarch64-unknown-linux-gnu", "generic", "+neon")


def _ready(network: Network, seed: int = 1) -> tuple[Layout, Lanes]:
    layout = layout_of(network)
    lanes = new_lanes(layout, seed)
    lanes.active[:] = kernels.ALL
    kernels.reset(layout, lanes, lanes.active)
    return layout, lanes


def _compiled(layout: Layout, network: Network, **how: object) -> Compilation:
    compilation = compile_in_background(network, layout, **how)  # type: ignore[arg-type]
    assert compilation is not None and compilation.wait(60)
    return compilation


def _fluents(layout: Layout, lanes: Lanes) -> U64:
    return lanes.values[1 : 1 + layout.fluents].copy()


def _played(layout: Layout, lanes: Lanes, steps: int) -> list[U64]:
    """Everything that others may read, at every step of random play with restarts."""
    seen = []
    goals = np.zeros((layout.goal_role.max(initial=0) + 1, LANES), np.uint8)
    legal = np.zeros((len(layout.legal), WORDS), np.uint64)
    terminal = np.array([layout.terminal], np.int32)
    for _ in range(steps):
        kernels.see_position(layout, lanes)
        kernels.legal_rows(layout, lanes, legal)
        kernels.read_goals(layout, lanes, goals)
        ended = lanes.values[terminal >> 1] ^ np.uint64(-(layout.terminal & 1) % 2**64)
        lanes.restart[:], lanes.active[:] = ended, ~ended
        lanes.active[0, 1] &= np.uint64(0x0F0F0F0F0F0F0F0F)  # some lanes stay
        kernels.choose_moves(layout, lanes)
        moves = lanes.values[layout.first_move :][: len(layout.legal)].copy()
        kernels.advance(layout, lanes)
        seen += [legal.copy(), goals.copy(), ended, moves, _fluents(layout, lanes)]
    return seen


def _assert_same(network: Network, steps: int, **how: object) -> None:
    layout, lanes = _ready(network)
    expected = _played(layout, lanes, steps)
    layout, lanes = _ready(network)
    _compiled(layout, network, **how)
    for number, (one, two) in enumerate(zip(_played(layout, lanes, steps), expected, strict=True)):
        assert (one == two).all(), f"step {number // 5}, item {number % 5}"


@pytest.mark.parametrize("name", SHEETS)
def test_machine_code_does_what_the_interpreter_does(name: str) -> None:
    """On small sheets with all that GDL has: constants, cycles, several roles, empty goals."""
    _assert_same(compile_network(ground(small_sheet(name))), 8)


@pytest.mark.parametrize("game", games(), ids=lambda game: game.key)
def test_both_kernels_play_the_same_games(game: Game) -> None:
    _assert_same(compile_network(ground(game.rule_sheet())), 30)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("target", [BASELINE, AVX2, HOST], ids=["baseline", "avx2", "host"])
def test_any_width_gives_the_same_games(target: Target, width: int) -> None:
    """A machine has wider or narrower vectors; a random stream belongs to a word of lanes."""
    if target is AVX2 and "+avx2" not in HOST.features.split(","):
        pytest.skip("no AVX2 here")
    if not HOST.triple.startswith("x86_64"):
        pytest.skip("not an x86-64 machine")
    network = compile_network(ground(tic_tac_toe()))
    _assert_same(network, 12, width=width, target=target)


def _choice(*counts: int) -> Network:
    """A game without end whose role r may make move i where the fluent (f r i) is true."""
    rules = ["(<= (next (f ?r ?i)) (true (f ?r ?i))) (<= terminal (true nothing))"]
    rules += ["(<= (legal ?r (m ?i)) (true (f ?r ?i))) (<= (goal ?r 0) (role ?r))"]
    for role, count in enumerate(counts):
        rules.append(f"(role r{role})")
        rules += [f"(init (f r{role} {i}))" for i in range(count)]
    return compile_network(ground(RuleSheet.from_text(" ".join(rules))))


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("counts", [(1,), (2, 1), (7, 8, 9), (16, 17), (128, 3), (129,)])
def test_machine_code_makes_the_same_moves(counts: tuple[int, ...], width: int) -> None:
    """Whatever is legal, and where only some lanes draw at random."""
    network = _choice(*counts)
    runs = []
    for compiled in (False, True):
        layout, lanes = _ready(network)
        if compiled:
            _compiled(layout, network, width=width)
            assert layout.code[:ONE_WORD].all()
        generator = np.random.Generator(np.random.PCG64(3))
        order = np.arange(len(layout.legal), dtype=np.int32)
        made = []
        for step in range(12):
            rows = lanes.values[1 : 1 + layout.fluents]
            rows[:] = generator.integers(0, 2**64, rows.shape, np.uint64)
            if step % 3 == 1:  # few moves, or none
                rows &= generator.integers(0, 2**64, rows.shape, np.uint64)
                rows &= generator.integers(0, 2**64, rows.shape, np.uint64)
            greedy = generator.integers(0, 2**64, (len(counts), WORDS), np.uint64)
            kernels.see_position(layout, lanes)
            if step % 2:
                kernels.choose_moves(layout, lanes)
            else:
                kernels.choose_moves_greedily(layout, lanes, order, greedy)
            moves = lanes.values[layout.first_move :][: len(layout.legal)]
            made += [moves.copy(), lanes.random.copy()]
        runs.append(made)
    assert all((one == two).all() for one, two in zip(*runs, strict=True))


def test_too_many_moves_are_chosen_from_by_the_kernels() -> None:
    network = _choice(MOST_MOVES + 1)
    layout, lanes = _ready(network)
    _compiled(layout, network)
    assert layout.code[GATE_CODE] and not layout.code[CHOICE_CODE]
    kernels.see_position(layout, lanes)
    kernels.choose_moves(layout, lanes)
    assert np.bitwise_count(lanes.values[layout.first_move :][: MOST_MOVES + 1]).sum() == LANES


@pytest.mark.parametrize("count", [64, 256, 320])
def test_few_lanes_do_what_they_do_among_many(count: int) -> None:
    """Where only half of the lanes is in use, the code for the other half is left out."""
    network = compile_network(ground(tic_tac_toe()))
    runs = []
    for loaded in (count, LANES):
        layout, lanes = _ready(network)
        _compiled(layout, network)
        states = np.repeat(layout.initial[np.newaxis], LANES, axis=0)
        kernels.load_states(layout, lanes, states, loaded)
        assert bool(lanes.half[0]) == (loaded <= LANES // 2)
        goals = np.zeros((2, LANES), np.uint8)
        for _ in range(6):
            kernels.see_position(layout, lanes)
            kernels.choose_moves(layout, lanes)
            kernels.advance(layout, lanes)
        kernels.see_position(layout, lanes)
        kernels.read_goals(layout, lanes, goals)
        kernels.save_states(layout, lanes, states, count)
        runs.append((states[:count].copy(), goals[:, :count].copy()))
    for one, other in zip(*runs, strict=True):
        assert (one == other).all()
    assert len(np.unique(runs[0][0], axis=0)) > count // 4


@pytest.mark.parametrize("chunk", [1, 7, 60])
def test_chunks_and_slots_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With small chunks most values go through slots, many values through each."""
    monkeypatch.setattr(compiling, "CHUNK_EDGES", chunk)
    network = compile_network(ground(tic_tac_toe()))
    _assert_same(network, 12)
    plan = schedule(network, chunk)
    crossing = sum(place == SLOT for place in plan.place)
    assert crossing > plan.slots if chunk < 60 else plan.slots > 0


@pytest.mark.parametrize("target", [BASELINE, AVX2, AVX512, ARM], ids=lambda t: f"{t.cpu}")
def test_other_machines_get_code_too(target: Target) -> None:
    network = compile_network(ground(tic_tac_toe()))
    objects = list(emit_objects(network, target))
    assert objects and all(code.startswith(b"\x7fELF") for code in objects)
    machine = {"x86_64": 62, "aarch64": 183}[target.triple.split("-")[0]]
    assert {int.from_bytes(code[18:20], "little") for code in objects} == {machine}
    assert target.width == {"x86-64-v3": 4, "x86-64-v4": 8}.get(target.cpu, 2)


def test_code_is_put_in_place_between_positions() -> None:
    """A position that the interpreter has seen is the interpreter's until the next one."""
    network = compile_network(ground(tic_tac_toe()))
    layout, lanes = _ready(network)
    expected = _played(layout, lanes, 6)
    layout, lanes = _ready(network)
    other, _ = _ready(network)
    _compiled(other, network)
    played = _played(layout, lanes, 3)
    kernels.see_position(layout, lanes)
    layout.code[:] = other.code
    assert not lanes.code.any()
    played += _played(layout, lanes, 3)
    assert lanes.code.all() and (lanes.code == other.code[:ONE_WORD]).all()
    assert all((one == two).all() for one, two in zip(played, expected, strict=True))


def test_too_large_a_network_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    network = compile_network(ground(tic_tac_toe()))
    monkeypatch.setattr(compiling, "MOST_EDGES", network.edge_count - 1)
    layout = layout_of(network)
    assert compile_in_background(network, layout) is None
    assert not layout.code.any()


def test_a_compilation_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    network = compile_network(ground(tic_tac_toe()))
    asked = threading.Event()
    original = compiling._Code.add

    def add(self: compiling._Code, text: str, names: list[str]) -> list[int]:
        asked.set()
        stopped.wait(10)
        return original(self, text, names)

    stopped = threading.Event()
    monkeypatch.setattr(compiling._Code, "add", add)
    layout = layout_of(network)
    compilation = compile_in_background(network, layout)
    assert compilation is not None and asked.wait(10)
    threading.Timer(0.05, stopped.set).start()
    compilation.stop()
    assert not compilation.ready and not layout.code.any()


def test_an_error_of_llvm_leaves_the_interpreter(caplog: pytest.LogCaptureFixture) -> None:
    network = compile_network(ground(tic_tac_toe()))
    layout, lanes = _ready(network)
    unknown = replace(HOST, triple="nonsense-unknown-none")
    compilation = compile_in_background(network, layout, target=unknown)
    assert compilation is not None and not compilation.wait(10)
    assert "no machine code" in caplog.text
    assert len(_played(layout, lanes, 2)) == 10


def test_a_process_that_ends_while_compiling_ends_well() -> None:
    code = (
        "from gdl.grounding import ground\n"
        "from ggp_agent.library.games import find_game\n"
        "from propnet.compiling import compile_in_background\n"
        "from propnet.layout import layout_of\n"
        "from propnet.network import compile_network\n"
        "network = compile_network(ground(find_game('breakthrough').rule_sheet()))\n"
        "compile_in_background(network, layout_of(network))\n"
        "print('ending')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, timeout=60, text=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ending\n", "")


def test_code_goes_when_its_layout_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[int] = []
    original = compiling._Code.release

    def release(self: compiling._Code) -> None:
        released.append(1)
        original(self)

    monkeypatch.setattr(compiling._Code, "release", release)
    network = compile_network(ground(tic_tac_toe()))
    layout = layout_of(network)
    compilation = _compiled(layout, network)
    assert not released
    del layout, compilation
    gc.collect()
    assert released
