"""Kernels with numba's checks on, and without numba: a process each, as numba is set up once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PLAY = """
import numpy as np
from gdl.grounding import ground
from propnet import kernels
from propnet.compiling import compile_in_background
from propnet.layout import layout_of, new_lanes
from propnet.network import compile_network
from propnet.vectors import LANES
from tests.small_sheets import tic_tac_toe

network = compile_network(ground(tic_tac_toe()))
for compiled in (False, True):
    layout = layout_of(network)
    lanes = new_lanes(layout, 3)
    if compiled:
        compile_in_background(network, layout).wait()
    lanes.active[:] = kernels.ALL
    kernels.reset(layout, lanes, lanes.active)
    lengths, goals = np.zeros(LANES, np.int32), np.zeros((2, LANES), np.uint8)
    kernels.playout(layout, lanes, np.full(LANES, 500, np.int32), lengths)
    kernels.read_goals(layout, lanes, goals)
    states = np.zeros((LANES, len(layout.initial)), np.uint64)
    kernels.save_states(layout, lanes, states, LANES)
    print(lengths.tolist(), goals.tolist(), states.tolist())
"""

OUTSIDE = """
import numba
from propnet.vectors import load, rows, store

@numba.njit
def copied(values, source, target):
    store(values, target, load(values, source))

values = rows(3)
copied(values, 0, 2)
for source, target in ((3, 0), (0, 3), (-1, 0)):
    try:
        copied(values, source, target)
    except IndexError:
        print("IndexError")
"""


def _run(code: str, **settings: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore:overflow:RuntimeWarning", "-c", code],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_numba_changes_nothing() -> None:
    """Playouts of tic-tac-toe, by both kernels, with numba and in plain Python."""
    compiled = _run(PLAY)
    first, second = compiled.splitlines()
    assert first == second
    assert _run(PLAY, NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.parametrize("setting", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
def test_rows_outside_are_noticed_where_checks_are_on(setting: str) -> None:
    assert _run(OUTSIDE, **{setting: "1"}).split() == 3 * ["IndexError"]
