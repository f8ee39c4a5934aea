"""Agents as texts: `uct`, `ap-ntbea:tune=K,Ref,C:simulations=1000`."""

from __future__ import annotations

import ggp_agent.search.exact.puzzle
import ggp_agent.search.selection  # it and all strategies declare parameters
import ggp_agent.tuning.start_clock  # noqa: F401  # likewise
from ggp_agent.agents import Agent, find_agent
from ggp_agent.tuning.tuned_parameters import check_tuning


def read_agent(text: str) -> Agent:
    """The agent of a text `NAME:KEY=VALUE:...`.

    Raises `ParameterError` where there is no such agent or parameter, a value lies outside its
    domain, or what is to be tuned can't be.
    """
    name, *settings = text.split(":")
    agent = find_agent(name).with_settings(settings)
    check_tuning(agent)
    return agent
