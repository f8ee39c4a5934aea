"""Having everything loaded before a match: kernels come from their cache, or are compiled once.

Compiling takes a minute or two.  It is done in three stages, and whoever waits is told which one is
under way.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from gdl.grounding import ground
from gdl.rules import RuleSheet
from ggp_agent.agents import Agent
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.settings import settings_row
from ggp_agent.tuning.self_adaptive import adaptive
from propnet.machine import PropnetStateMachine
from propnet.network import compile_network

log = logging.getLogger(__name__)

STAGES = ("grounder", "simulator", "search")
LONG = 4.0
"""Seconds after which a stage is compiling, not loading."""

Tell = Callable[[str], None]


def warm_up(tuners: Iterable[str] = (), tell: Tell = log.info) -> None:
    """Load (or, the first time, compile) all kernels, and those of some tuners.

    This is done by searching a tiny game.  `tell` gets a line when a stage turns out to take long,
    and another one when it is done.
    """
    with _stage(0, tell):
        program = ground(RuleSheet.from_text(_TINY_GAME, "warm-up"))
    with _stage(1, tell):
        machine = PropnetStateMachine(compile_network(program))
        state = machine.next_state(machine.initial_state, ["a"])
        machine.goals(state)
    with _stage(2, tell):
        agent = Agent("warm", "", {"simulations": 64, "memory": 16, "solver": "on"})
        search = NativeSearch(machine.compiled, 0, agent, seed=0)
        search.think(time.monotonic() + 3600, lambda: False)
        for name in tuners:
            tuner = adaptive(agent.with_settings([f"tuner={name}", "tune=C"]), 1, 1, seed=0)
            if tuner is not None:
                alone, one = np.zeros(1, np.int32), np.ones(1, np.int32)
                tuner.ask(alone, one, settings_row(agent)[np.newaxis, np.newaxis].copy())
                tuner.tell(alone, np.zeros((1, 1)), one)
        search.enter(state, ["a"])


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


_TINY_GAME = """
(role one) (init (step 0)) (succ 0 1) (succ 1 2)
(legal one a) (legal one b)
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= (next won) (does one a)) (<= (next won) (true won))
(<= terminal (true (step 2)))
(<= (goal one 100) (true won)) (<= (goal one 0) (not (true won)))
"""
