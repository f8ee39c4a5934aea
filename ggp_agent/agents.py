"""Agents are values: a name and the parameters in which it differs from the defaults."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggp_agent.errors import ParameterError
from ggp_agent.parameters import PARAMETERS, Value


@dataclass(frozen=True, slots=True)
class Agent:
    """A named set of parameters."""

    name: str
    summary: str
    settings: Mapping[str, Value]

    def __getitem__(self, name: str) -> Value:
        return self.settings.get(name, PARAMETERS[name].default)

    def number(self, name: str) -> float:
        """The value of a parameter that is a number."""
        return float(self[name])

    def with_settings(self, assignments: Iterable[str]) -> Agent:
        """The agent with `KEY=VALUE` texts applied.  Raises `ParameterError`."""
        settings = dict(self.settings)
        for assignment in assignments:
            name, equals, text = assignment.partition("=")
            if not equals:
                raise ParameterError(f"'{assignment}' is not of the form KEY=VALUE")
            if name not in PARAMETERS:
                known = ", ".join(PARAMETERS)
                raise ParameterError(f"unknown parameter '{name}'; known: {known}")
            settings[name] = PARAMETERS[name].parse(text)
        return Agent(self.name, self.summary, settings)


def tuners_of(agents: Iterable[Agent]) -> list[str]:
    """The tuners that agents use."""
    return sorted({str(agent["tuner"]) for agent in agents} - {"off"})


DEFAULT_AGENT = "default"

_DECLARED = (
    Agent(
        "default",
        "our own: AP with more playouts, proven scores, decisive moves, and what self-play tells",
        {
            "selection": "grave",
            "playout": "mast",
            "C": 0.3,
            "epsilon": 0.7,
            "FPU": 2.0,  # every move is tried before one again: no win at once is overlooked
            "playouts": 4,
            "solver": "on",
            "decisive": "blocks",
            "self_play": math.inf,
        },
    ),
    Agent(
        "fixed",
        "the same without decisive moves and self-play (the default of commit aea81e0)",
        {
            "selection": "grave",
            "playout": "mast",
            "C": 0.3,
            "epsilon": 0.7,
            "FPU": 2.0,
            "playouts": 4,
            "solver": "on",
        },
    ),
    Agent("sp", "the paper's SP: UCT with MAST playouts", {"playout": "mast"}),
    Agent(
        "ap", "the paper's AP: GRAVE with MAST playouts", {"selection": "grave", "playout": "mast"}
    ),
    Agent("uct", "decoupled UCT with random playouts", {}),
    Agent("random", "a legal move at random", {"strategy": "random"}),
    Agent("legal", "the first legal move", {"strategy": "legal"}),
)

AGENTS = {agent.name: agent for agent in _DECLARED}


def find_agent(name: str) -> Agent:
    """The agent of that name, or composed like `ap-ntbea`: an agent, a tuner.

    Raises `ParameterError` that lists the agents there are.
    """
    base, _, tuner = name.partition("-")
    if name in AGENTS:
        return AGENTS[name]
    tuners = _tuners()
    if base in AGENTS and tuner and (tuner in tuners or not tuners):
        agent = AGENTS[base]
        summary = f"{agent.summary}; tuned by {tuner}"
        return Agent(name, summary, {**agent.settings, "tuner": tuner})
    listed = f" ({', '.join(tuners)})" if tuners else ""
    raise ParameterError(
        f"unknown agent '{name}'; known: {', '.join(AGENTS)}; with a tuner: sp-ntbea, ap-nmc, ..."
        f"{listed}"
    )


def _tuners() -> list[str]:
    """The names of the tuners; none in a process that has not loaded them, and takes any."""
    parameter = PARAMETERS.get("tuner")
    return [name for name in parameter.choices if name != "off"] if parameter else []
