"""Loading kernels: quick where they are there, and a line per stage where it takes long."""

from __future__ import annotations

import logging
import subprocess
import time
from typing import Any

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


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started, as on a machine of two cores without kernels."""
    started: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    monkeypatch.setattr(warming, "is_kept", lambda kernel: False)
    monkeypatch.setattr(warming, "cores", lambda: 2)
    return started


def test_another_process_compiles_the_search_meanwhile(
    children: list[subprocess.Popen[bytes]],
) -> None:
    with warming._search_compiled_aside() as wait_for_it:
        wait_for_it()
        network, search = children
        assert search.returncode == 0
    assert network.returncode is not None


def test_an_interruption_ends_the_other_processes(
    children: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(sheet: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(warming, "ground", interrupt)
    with pytest.raises(KeyboardInterrupt):
        warming.warm_up()
    assert [child.returncode for child in children] == [-9, -9]


def test_one_core_has_no_use_for_another_process(
    children: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "cores", lambda: 1)
    with warming._search_compiled_aside() as wait_for_it:
        wait_for_it()
    assert children == []
