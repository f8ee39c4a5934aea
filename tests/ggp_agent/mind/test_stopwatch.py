"""The two kinds of seconds that thinking takes."""

from __future__ import annotations

import time

import pytest

from ggp_agent.mind.stopwatch import Stopwatch


def test_a_stopwatch_tells_waiting_from_working() -> None:
    watch = Stopwatch()
    with watch.running():
        time.sleep(0.2)
    waited = watch.lap()
    assert waited["thinking_s"] >= 0.2 and waited["cpu_s"] < 0.1
    with pytest.raises(ZeroDivisionError), watch.running():
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        raise ZeroDivisionError
    assert watch.lap()["cpu_s"] >= 0.05, "time is counted whatever ends the block"
    assert watch.lap() == {"thinking_s": 0.0, "cpu_s": 0.0}
