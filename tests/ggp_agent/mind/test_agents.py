"""Agents as texts, in a process that has loaded nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ggp_agent.errors import ParameterError
from ggp_agent.mind.agents import read_agent

READ = "from ggp_agent.mind.agents import read_agent; print(dict(read_agent({!r}).settings))"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("uct:selection=progressive_history:W=2", {"selection": "progressive_history", "W": 2.0}),
        ("uct:playout=gibbs:tau=5", {"playout": "gibbs", "tau": 5.0}),
        ("uct:VO=0.02:T=5:seconds=1", {"VO": 0.02, "T": 5.0, "seconds": 1.0}),
        ("uct-nmc:tune=C,VO", {"tuner": "nmc", "tune": "C,VO"}),
    ],
)
def test_all_parameters_are_known(text: str, settings: dict[str, object]) -> None:
    command = [sys.executable, "-c", READ.format(text)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout.strip() == str(settings), run.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nobody", "unknown agent 'nobody'"),
        ("uct-nobody", "unknown agent 'uct-nobody'"),
        ("uct:Q=1", "unknown parameter 'Q'"),
        ("uct:C=99", "C must be number in"),
        ("uct:C", "not of the form KEY=VALUE"),
        ("random-nmc", "nothing to tune"),
        ("uct-nmc:tune=W", "selection=progressive_history"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_agent(text)
