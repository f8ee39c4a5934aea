"""Every parameter of an agent, declared once: name, default, domain, unit, meaning, source.

Command-line flags, help texts, checks and (later) the tuners' domains come from these
declarations; nothing else knows a default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggp_agent.errors import ParameterError

Value = float | int | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: a number between `low` and `high`, or one of `choices`."""

    name: str
    default: Value
    help: str
    low: float = 0.0
    high: float = math.inf
    unit: str = ""
    source: str = ""
    choices: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return " | ".join(self.choices)
        kind = "integer" if isinstance(self.default, int) else "number"
        return f"{kind} in [{self.low:g}, {self.high:g}]"

    def parse(self, text: str) -> Value:
        """The value that a text stands for.  Raises `ParameterError` outside the domain."""
        if self.choices:
            if text in self.choices:
                return text
            raise self._error(text)
        try:
            value = int(text) if isinstance(self.default, int) else float(text)
        except ValueError:
            raise self._error(text) from None
        if not self.low <= value <= self.high:
            raise self._error(text)
        return value

    def _error(self, text: str) -> ParameterError:
        return ParameterError(f"{self.name}={text}: {self.name} must be {self.domain}")


SP_PAPER = "Sironi, Liu, Winands: Self-Adaptive MCTS in GGP, Table I"

PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "strategy",
            "uct",
            "how moves are chosen: by search, at random, or the first legal one",
            choices=("uct", "random", "legal"),
        ),
        Parameter(
            "C",
            0.2,
            "exploration constant of the UCT formula, for rewards in [0, 1]",
            high=10.0,
            source=SP_PAPER,
        ),
        Parameter("FPU", 1.0, "value of a move that was never tried", high=1000.0),
        Parameter(
            "VO",
            0.01,
            "a move is drawn among those whose value is within VO of the best",
            high=1.0,
            source=SP_PAPER,
        ),
        Parameter(
            "in_flight", 512, "most simulations in flight; 1 is the sequential search", 1, 512
        ),
        Parameter(
            "ramp",
            16,
            "at most (visits of the root) / ramp simulations in flight; 0: no such limit",
            high=1e6,
        ),
        Parameter(
            "playouts",
            0,
            "playouts per simulation; 0: as many as the simulator's lanes allow for free",
            high=512,
        ),
        Parameter("depth", 500, "longest simulation, tree and playout together", 1, 1e5, "moves"),
        Parameter(
            "simulations", 0, "budget per move; 0: until the clock runs out", unit="simulations"
        ),
        Parameter("memory", 2048, "most that the tree may take", 16, 1e6, "MiB"),
        Parameter(
            "margin", 0.2, "how long before the clock runs out the answer leaves", 0, 60, "s"
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent is a value: a name and the parameters in which it differs from the defaults."""

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


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "uct",
            "decoupled UCT with random playouts, in batches over the propnet",
            {"strategy": "uct"},
        ),
        Agent("random", "a legal move at random", {"strategy": "random"}),
        Agent("legal", "the first legal move", {"strategy": "legal"}),
    )
}


def find_agent(name: str) -> Agent:
    """The agent of that name.  Raises `ParameterError` that lists the agents there are."""
    try:
        return AGENTS[name]
    except KeyError:
        raise ParameterError(f"unknown agent '{name}'; known: {', '.join(AGENTS)}") from None
