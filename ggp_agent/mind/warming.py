"""Having everything loaded before a match: kernels come from their cache, or are compiled once.

Compiling takes most of a minute.  It is done in three stages, and whoever waits is told which one
is under way.  Where there are two cores, another process compiles the largest kernel, a batch of
the search, meanwhile; this one then finds it in the cache.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from forward_model.compiled import CompiledModel
from gdl.grounding import ground
from gdl.kernel_cache import compile_for, is_kept
from gdl.rules import RuleSheet
from ggp_agent.agents import Agent
from ggp_agent.mind.tiny_game import TINY_GAME
from ggp_agent.search.arrays import new_arrays
from ggp_agent.search.exact.search import ExactSearch
from ggp_agent.search.few_lanes import new_few
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.room import make_much_room, new_tree_for
from ggp_agent.search.self_play import Searches, SelfPlay
from ggp_agent.search.settings import settings_row
from ggp_agent.search.simulation import NEVER, Batch, simulate_batches
from ggp_agent.system.child_process import die_with_parent
from ggp_agent.system.cores import cores
from ggp_agent.tuning.self_adaptive import adaptive
from propnet.layout import new_lanes
from propnet.machine import PropnetStateMachine
from propnet.network import compile_network

log = logging.getLogger(__name__)

STAGES = ("grounder", "simulator", "search")
LONG = 4.0
"""Seconds after which a stage is compiling, not loading."""

Tell = Callable[[str], None]

_AGENT = Agent("warm", "", {"simulations": 64, "memory": 16, "solver": "on"})


def warm_up(tuners: Iterable[str] = (), tell: Tell = log.info) -> None:
    """Load (or, the first time, compile) all kernels, and those of some tuners.

    This is done by searching a tiny game.  `tell` gets a line when a stage turns out to take long,
    and another one when it is done.
    """
    with _little_garbage_collection(), _search_compiled_aside() as wait_for_it:
        with _stage(0, tell):
            program = ground(RuleSheet.from_text(TINY_GAME, "warm-up"))
        with _stage(1, tell):
            machine = PropnetStateMachine(compile_network(program))
            machine.goals(machine.next_state(machine.initial_state, ["a"]))
        with _stage(2, tell):
            _warm_up_tuners(tuners)
            search = NativeSearch(machine.compiled, 0, _AGENT, seed=0)
            _warm_up_exact_search(machine.compiled)
            wait_for_it()
            search.think(time.monotonic() + 3600, lambda: False)
            search.enter(machine.initial_state, ["a"])
            make_much_room(search.tree, search.root, 1)
            _warm_up_self_play(machine.compiled)


def _compile_batches(game: CompiledModel) -> None:
    """Compile the one kernel that takes longer than all others, without running anything."""
    layout, lanes = game.layout, new_lanes(game.layout, seed=0)
    tree, arrays = new_tree_for(game, _AGENT), new_arrays(game, _AGENT, seed=0)
    few = new_few(layout, arrays)
    batch = Batch(1, 1, 1, 0, 1, NEVER, 0)
    compile_for(simulate_batches, layout, lanes, few, tree, arrays, 0, batch)


def _warm_up_self_play(game: CompiledModel) -> None:
    self_play = SelfPlay(game, _AGENT, simulations=1, seed=0)
    states = self_play.initial_states(1)
    nodes, _, _ = self_play.see(states)
    searches = Searches(nodes, settings_row(_AGENT)[np.newaxis], np.ones(1, np.bool_), 0)
    self_play.advance(states, self_play.search(searches, 1))


def _warm_up_exact_search(game: CompiledModel) -> None:
    exact = ExactSearch(game, memory=2**20)
    exact.grow()
    while not exact.is_over:
        exact.work()


def _warm_up_tuners(tuners: Iterable[str]) -> None:
    for name in tuners:
        tuner = adaptive(_AGENT.with_settings([f"tuner={name}", "tune=C"]), 1, 1, seed=0)
        if tuner is not None:
            alone, one = np.zeros(1, np.int32), np.ones(1, np.int32)
            tuner.ask(alone, one, settings_row(_AGENT)[np.newaxis, np.newaxis].copy())
            tuner.tell(alone, np.zeros((1, 1)), one)


@contextmanager
def _little_garbage_collection() -> Iterator[None]:
    """Compiling makes objects by the million, most of which stay: looking at them takes long."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _search_compiled_aside() -> Iterator[Callable[[], object]]:
    """Another process compiles the batches of the search, if need be; gives what waits for that.

    It gets the tiny game's network from a third one that does without compiled code.
    """
    if is_kept(simulate_batches) or cores() < 2:
        yield lambda: None
        return
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    out, parent = subprocess.DEVNULL, str(os.getpid())

    def command(module: str) -> list[str]:
        return [sys.executable, "-P", "-m", module, parent]

    with (
        subprocess.Popen(
            command("ggp_agent.mind.tiny_game"), env=plain, stdout=subprocess.PIPE, stderr=out
        ) as network,
        subprocess.Popen(
            command("ggp_agent.mind.warming"), stdin=network.stdout, stdout=out, stderr=out
        ) as search,
    ):
        try:
            yield search.wait  # should it fail, this process compiles them itself
        finally:
            network.kill()
            search.kill()


@contextmanager
def _stage(number: int, tell: Tell) -> Iterator[None]:
    name = f"{STAGES[number]} ({number + 1} of {len(STAGES)})"
    begin = time.monotonic()
    timer = threading.Timer(LONG, tell, [f"compiling kernels, this once: {name}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    seconds = time.monotonic() - begin
    if seconds > LONG:
        tell(f"compiled kernels: {name}, {seconds:.0f} s")


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    with _little_garbage_collection():
        _compile_batches(PropnetStateMachine(pickle.load(sys.stdin.buffer)).compiled)
