"""Agents as texts."""

from __future__ import annotations

import math

import pytest

from ggp_agent.agents import find_agent
from ggp_agent.errors import ParameterError
from ggp_agent.mind.agents import read_agent


def test_a_name_alone_is_the_agent_of_that_name() -> None:
    assert read_agent("ap") == find_agent("ap")
    assert read_agent("ap-nmc") == find_agent("ap-nmc")


def test_settings_follow_after_colons_and_the_last_one_counts() -> None:
    agent = read_agent("ap-ntbea:tune=K,Ref,C=0.1,0.2:K=inf:threads=1:threads=2")
    assert (agent.name, agent["tuner"], agent["tune"]) == ("ap-ntbea", "ntbea", "K,Ref,C=0.1,0.2")
    assert (agent["K"], agent["threads"]) == (math.inf, 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "unknown agent ''"),
        ("nobody", "unknown agent 'nobody'"),
        ("uct:", "'' is not of the form KEY=VALUE"),
        ("uct:C", "'C' is not of the form KEY=VALUE"),
        ("uct:C=11", "C must be number in"),
        ("uct:colour=red", "unknown parameter 'colour'"),
        ("uct:tune=C", "needs a tuner"),
        ("random:tuner=nmc", "nothing to tune"),
        ("uct-nmc:tune=K", "K"),
    ],
)
def test_what_is_wrong_is_said(text: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        read_agent(text)
