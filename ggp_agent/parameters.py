"""Every parameter of an agent, declared once: name, default, domain, unit, meaning, source.

Command-line flags, help texts, checks and the tuners' domains come from these declarations;
nothing else knows a default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from ggp_agent.errors import ParameterError

Value = float | int | str


class Scope(Enum):
    """For how long a value holds: what can be tuned may change that often."""

    SIMULATION = "simulation"
    BATCH = "batch"
    MOVE = "move"
    """the search of one state"""
    MATCH = "match"
    """it can't be tuned"""


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
    infinite: bool = False
    """whether infinity is one of its values"""
    discrete: tuple[float, ...] = ()
    """the values among which tuners with a discrete domain choose"""
    continuous: tuple[float, float] | None = None
    """the interval in which tuners with a continuous domain choose"""
    text: str = ""
    """for parameters that are texts: what they look like; whoever reads one checks it"""
    scope: Scope = Scope.MATCH

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


TABLE_1 = "Sironi, Liu, Winands: Self-Adaptive MCTS in GGP (2020), Table I"
UCT_PAPER = "Kocsis, Szepesvari: Bandit based Monte-Carlo planning (2006)"
GRAVE_PAPER = "Cazenave: Generalized Rapid Action Value Estimation (2015)"
MAST_PAPER = "Bjornsson, Finnsson: CadiaPlayer (2009)"
DECAY_PAPER = "Tak, Winands, Bjornsson: Decaying simulation strategies (2014)"
UNOBSERVED_PAPER = "Liu, Chen, Yu, Zhai, Zhou, Liu: Watch the Unobserved (2020)"
PARALLEL_PAPER = "Chaslot, Winands, van den Herik: Parallel Monte-Carlo Tree Search (2008)"
SOLVER_PAPER = "Cazenave, Saffidine: Score bounded MCTS (2010)"

_TENTHS = tuple(n / 10 for n in range(11))

PARAMETERS: dict[str, Parameter] = {}
"""All that are declared, by name.  Those of the tuners are once `ggp_agent.tuning` is loaded."""


def declare(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Make parameters known; returns them.  Raises `ValueError` for a name declared before."""
    for parameter in parameters:
        if parameter.name in PARAMETERS:
            raise ValueError(f"the parameter {parameter.name} is declared twice")
        PARAMETERS[parameter.name] = parameter
    return parameters


def parameters_of(scope: Scope) -> tuple[str, ...]:
    """The names of the parameters of a scope, in order of declaration: the order of columns."""
    return tuple(name for name, parameter in PARAMETERS.items() if parameter.scope is scope)


declare(
    Parameter(
        "strategy",
        "mcts",
        "how moves are chosen: by search, at random, or the first legal one",
        choices=("mcts", "random", "legal"),
    ),
    Parameter(
        "selection",
        "uct",
        "which value selection goes by in the tree",
        choices=("uct", "grave"),
        source=f"{UCT_PAPER}; {GRAVE_PAPER}",
    ),
    Parameter(
        "playout",
        "random",
        "moves of playouts: uniform, MAST with epsilon-greedy choice, or MAST with Gibbs measure",
        choices=("random", "mast", "gibbs"),
        source=MAST_PAPER,
    ),
    Parameter(
        "C",
        0.2,
        "exploration constant of the UCT formula, for rewards in [0, 1]",
        high=10.0,
        source=TABLE_1,
        discrete=_TENTHS[1:10],
        continuous=(0.0, 1.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "epsilon",
        0.4,
        "probability of a uniformly random move in a MAST playout",
        high=1.0,
        source=TABLE_1,
        discrete=_TENTHS,
        continuous=(0.0, 1.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "K",
        250.0,
        "visits at which GRAVE weighs AMAF and mean alike; 0 is UCT, inf is AMAF alone",
        infinite=True,
        unit="visits",
        source=TABLE_1,
        discrete=(0, 10, 50, 100, 250, 500, 750, 1000, 2000, math.inf),
        continuous=(0.0, 2000.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "Ref",
        50.0,
        "GRAVE takes AMAF values from the closest ancestor with so many visits; inf is the root",
        infinite=True,
        unit="visits",
        source=TABLE_1,
        discrete=(0, 50, 100, 250, 500, 1000, 10000, math.inf),
        continuous=(0.0, 10000.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "VO",
        0.01,
        "a move is drawn among those whose value is within VO of the best",
        high=1.0,
        source=TABLE_1,
        discrete=(0.001, 0.005, 0.01, 0.015, 0.02, 0.025),
        continuous=(0.0, 0.025),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "T",
        0.0,
        "in nodes with fewer visits the playout's policy picks the move",
        infinite=True,
        unit="visits",
        source=TABLE_1,
        discrete=(0, 5, 10, 20, 30, 40, 50, 100, 200, math.inf),
        continuous=(0.0, 200.0),
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "FPU",
        1.0,
        "value of a move that was never tried",
        high=1000.0,
        scope=Scope.SIMULATION,
    ),
    Parameter(
        "tau",
        10.0,
        "temperature of the Gibbs measure, for goals in [0, 100]",
        low=0.1,
        high=1000.0,
        unit="goal points",
        source=MAST_PAPER,
        discrete=(1, 2, 5, 8, 10, 15, 20, 30, 50),
        continuous=(1.0, 50.0),
        scope=Scope.BATCH,
    ),
    Parameter(
        "decay",
        0.2,
        "factor of MAST's visit counts after each real move",
        high=1.0,
        source=DECAY_PAPER,
        discrete=(0, 0.2, 0.4, 0.6, 0.8, 1),
        continuous=(0.0, 1.0),
        scope=Scope.MOVE,
    ),
    Parameter(
        "amaf_from",
        9,
        "visits from which a node keeps AMAF statistics (and can serve as GRAVE's reference)",
        low=1,
        high=1e6,
        unit="visits",
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
        "playouts per simulation; 0: as many as the simulator's lanes allow for free",
        high=512,
    ),
    Parameter(
        "threads",
        0,
        "trees that are searched at once, one thread each, and put together for the move; 0: one "
        "per core, but one in matches run here, and where simulations are the budget",
        high=1024,
        source=PARALLEL_PAPER,
    ),
    Parameter("depth", 500, "longest simulation, tree and playout together", 1, 1e5, "moves"),
    Parameter("simulations", 0, "budget per move; 0: until the clock runs out", unit="simulations"),
    Parameter("seconds", 0.0, "most to think per move; 0: until the clock runs out", unit="s"),
    Parameter("memory", 2048, "most that the trees may take", 16, 65536, "MiB"),
    Parameter("nodes", 4_000_000, "most nodes that the trees may have", 1024, 4_000_000, "nodes"),
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
