"""Parameters of agents: how they are declared, and those that all agents have.

A parameter is declared once, by the module whose work it controls: name, default, domain, unit,
meaning, source, and how often it may change (`Scope`).  Command-line flags, help texts, checks, the
search's columns and the tuners' domains come from these declarations; nothing else knows a default.
The parameters of strategies and tuners are known where these have been imported.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from ggp_agent.errors import ParameterError

Value = float | int | str


class Scope(enum.Enum):
    """For how long a parameter keeps its value; all but those of a match can be tuned."""

    SIMULATION = "simulation"
    BATCH = "batch"
    MOVE = "move"
    MATCH = "match"


TUNABLE = (Scope.SIMULATION, Scope.BATCH, Scope.MOVE)
"""Scopes of what can be tuned, the shortest first."""


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
    """paper, with section, table or equation"""
    choices: tuple[str, ...] = ()
    infinite: bool = False
    """whether infinity is one of its values"""
    discrete: tuple[float, ...] = ()
    """the values among which tuners with a discrete domain choose"""
    continuous: tuple[float, float] | None = None
    """the interval in which tuners with a continuous domain choose"""
    text: str = ""
    """for parameters that are texts: what they look like; whoever reads one checks it"""
    scope: Scope = Scope.MATCH
    used_by: tuple[tuple[str, str], ...] = ()
    """(parameter, value) of the strategies of which one at least must be in use for the parameter
    to have an effect; () for one that always has"""

    @property
    def domain(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return " | ".join(self.choices)
        if self.text:
            return self.text
        kind = "integer" if isinstance(self.default, int) else "number"
        end = "inf]" if self.infinite else f"{self.high:g}]"
        return f"{kind} in [{self.low:g}, {end}"

    def parse(self, text: str) -> Value:
        """The value that a text stands for.  Raises `ParameterError` outside the domain."""
        if self.choices:
            if text in self.choices:
                return text
            raise self._error(text)
        if self.text:
            return text
        try:
            value = int(text) if isinstance(self.default, int) else float(text)
        except ValueError:
            raise self._error(text) from None
        inside = self.low <= value <= self.high
        if not inside or (math.isinf(value) and not self.infinite):
            raise self._error(text)
        return value

    def _error(self, text: str) -> ParameterError:
        return ParameterError(f"{self.name}={text}: {self.name} must be {self.domain}")


PARAMETERS: dict[str, Parameter] = {}
"""All parameters that have been declared, by name."""


def declare(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Make parameters known.  Raises `ValueError` for a name that is taken."""
    for parameter in parameters:
        if parameter.name in PARAMETERS:
            raise ValueError(f"the parameter {parameter.name} is declared twice")
        PARAMETERS[parameter.name] = parameter
    return parameters


def parameters_of(scope: Scope) -> tuple[str, ...]:
    """The names of the parameters of a scope, in the order of their declarations."""
    return tuple(name for name, parameter in PARAMETERS.items() if parameter.scope is scope)


def column_of(name: str) -> int:
    """The column of a parameter in the search's settings: its place among those of its scope."""
    return parameters_of(PARAMETERS[name].scope).index(name)


TABLE_1 = "Sironi, Liu, Winands: Self-Adaptive MCTS in GGP (2020), Table I"
UNOBSERVED_PAPER = "Liu, Chen, Yu, Zhai, Zhou, Liu: Watch the Unobserved (2020)"
PARALLEL_PAPER = "Chaslot, Winands, van den Herik: Parallel Monte-Carlo Tree Search (2008)"
SOLVER_PAPER = "Cazenave, Saffidine: Score bounded MCTS (2010)"

declare(
    Parameter(
        "strategy",
        "mcts",
        "how moves are chosen: by search, at random, or the first legal one",
        choices=("mcts", "random", "legal"),
    ),
    Parameter(
        "final",
        "mean",
        "the move played: the one with the highest mean, or with the most visits",
        choices=("mean", "visits"),
    ),
    Parameter(
        "solver",
        "off",
        "back up proven scores, play proven wins, stop when nothing is left to find out",
        choices=("off", "on"),
        source=SOLVER_PAPER,
    ),
    Parameter(
        "in_flight",
        512,
        "most simulations in flight; 1 is the sequential search",
        1,
        512,
        source=UNOBSERVED_PAPER,
    ),
    Parameter(
        "ramp",
        64,
        "at most (visits of the root) / ramp simulations in flight; 0: no such limit",
        high=1e6,
    ),
    Parameter(
        "ramp_doubling",
        8192,
        "visits of the root from which on twice as many are, after as many more three times, ...; "
        "0: never",
        high=1e9,
    ),
    Parameter(
        "playouts",
        1,
        "playouts per simulation (leaf parallelization); 0: as many as the simulator's lanes allow "
        "for free",
        high=512,
        source="Cazenave, Jouandeau: On the Parallelization of UCT (2007)",
    ),
    Parameter(
        "threads",
        0,
        "threads that search one tree; 0: one per core, but one in matches run here, and where "
        "simulations are the budget",
        high=1024,
        source=PARALLEL_PAPER,
    ),
    Parameter("depth", 500, "longest simulation, tree and playout together", 1, 1e5, "moves"),
    Parameter("simulations", 0, "budget per move; 0: until the clock runs out", unit="simulations"),
    Parameter("seconds", 0.0, "most to think per move; 0: until the clock runs out", unit="s"),
    Parameter("memory", 2048, "most that the tree may take", 16, 65536, "MiB"),
    Parameter("nodes", 4_000_000, "most nodes that the tree may have", 1024, 4_000_000, "nodes"),
    Parameter(
        "margin",
        0.2,
        "how long before the clock runs out the answer leaves, at least; grows with the delays "
        "that are measured",
        0,
        60,
        "s",
    ),
)
