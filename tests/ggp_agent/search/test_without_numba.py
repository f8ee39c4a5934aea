"""The search in plain Python, without numba: the same trees, and checks of what is read."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.ggp_agent.search.test_golden_trees import golden_file

SEARCH = """
import sys
from tests.ggp_agent.search.test_golden_trees import dump
sys.stdout.write(dump("native", "ticTacToe", "ap", 1))
"""

OUTSIDE = """
import numba
import numpy as np
from ggp_agent.search.memory import get_int, put_int

@numba.njit
def moved(words, source, target):
    put_int(words, target, get_int(words, source))

words = np.arange(4, dtype=np.int32)
moved(words, 0, 3)
assert words[3] == 0
for source, target in ((4, 0), (0, 4), (-1, 0)):
    try:
        moved(words, source, target)
    except IndexError:
        print("IndexError")
"""


def _run(code: str, **settings: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_the_tree_is_the_same() -> None:
    """With GRAVE and MAST, which use everything that is written in LLVM's words."""
    golden = golden_file("native", "ticTacToe", "ap", 1).read_text()
    assert _run(SEARCH, NUMBA_DISABLE_JIT="1") == golden


@pytest.mark.parametrize("setting", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
def test_words_outside_are_noticed_where_checks_are_on(setting: str) -> None:
    assert _run(OUTSIDE, **{setting: "1"}).split() == 3 * ["IndexError"]
