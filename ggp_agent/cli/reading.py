"""What commands that search or compute games themselves make of their options."""

from __future__ import annotations

import click

from gdl.errors import GgpError
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from gdl.state_machine import StateMachine
from ggp_agent.agents import Agent
from ggp_agent.cli.common import agent_text
from ggp_agent.manager.referee import referee_machine
from ggp_agent.mind.agents import read_agent
from propnet.machine import PropnetStateMachine


def agent_from(name: str, settings: tuple[str, ...]) -> Agent:
    """An agent by name with `KEY=VALUE` settings (see `agent_text`); errors are those of usage."""
    try:
        return read_agent(agent_text(name, settings))
    except GgpError as error:
        raise click.UsageError(str(error)) from error


def state_machine(sheet: RuleSheet, reasoner: str) -> StateMachine:
    """The state machine of a sheet by reasoner: `propnet`, `prolog`, or `auto`.

    `auto` is the propnet where the rules can be grounded in a minute, else Prolog.
    """
    if reasoner == "prolog":
        return PrologStateMachine(sheet)
    if reasoner == "propnet":
        return PropnetStateMachine.from_rules(sheet)
    return referee_machine(sheet)
