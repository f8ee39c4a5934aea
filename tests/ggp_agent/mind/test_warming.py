"""Loading kernels: quick where they are there, and a line per stage where it takes long."""

from __future__ import annotations

import logging
import time

import pytest

from ggp_agent.mind import warming


def test_what_is_quick_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    warming.warm_up(tell=lambda line: None)  # now everything is loaded
    monkeypatch.setattr(warming, "LONG", 60.0)
    told: list[str] = []
    warming.warm_up(tell=told.append)
    assert told == []


def test_stages_that_take_long_are_told_when_they_begin_and_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(warming, "LONG", 0.05)
    monkeypatch.setattr(warming, "ground", lambda sheet: time.sleep(0.3))
    monkeypatch.setattr(warming, "compile_network", lambda program: 1 / 0)
    with caplog.at_level(logging.INFO, "ggp_agent"), pytest.raises(ZeroDivisionError):
        warming.warm_up()
    begin, end = caplog.messages
    assert begin == "compiling kernels, this once: grounder (1 of 3)"
    assert end.startswith("compiled kernels: grounder (1 of 3), ")
