"""Measurements that don't disturb each other."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from gdl.grounding import ground
from ggp_agent.library.games import find_game
from propnet.layout import layout_of
from propnet.network import compile_network
from propnet.simulator import Simulator


def in_own_process(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Call a function with everything loaded, and with a peak of memory that is the call's own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        process.submit(_load).result()
        return process.submit(function, *arguments).result()


def _load() -> None:
    """Have everything imported, and the network's kernels loaded, before the measurement."""
    network = compile_network(ground(find_game("ticTacToe").rule_sheet()))
    Simulator(layout_of(network), seed=0).run(0)
