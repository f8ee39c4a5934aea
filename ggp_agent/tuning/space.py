"""What is tuned: parameters, their domains, and which combinations of values are legal.

A space is the combinatorial multi-armed bandit of Sironi, Liu, Winands: Self-Adaptive MCTS in GGP
(2020), section IV: variables P, values V and the legality function L.  Tuners see numbers of
values only.

Where both K and Ref are tuned and K can be 0, which is UCT, Ref gets the value `UNUSED`, and
K = 0 is legal with it alone, and it with K = 0 alone.

Strategies are variables, too, of two values: without it, and with it as the agent has it.  They
need no switch in the search, where K = 0 is UCT, and epsilon = 1 a uniformly random playout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.errors import ParameterError
from ggp_agent.parameters import PARAMETERS, TUNABLE, Scope, parameters_of

I32 = NDArray[np.int32]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

UNUSED = -1.0
"""The value of Ref where GRAVE is off."""

STRATEGIES = {
    "selection": ("K", 0.0, ("uct", "grave")),
    "playout": ("epsilon", 1.0, ("uniform", "mast")),
}
"""Parameters that are strategies: the number that decides, its value without it, the names."""

MOST_COMBINATIONS = 4_000_000
"""Combinations, legal or not, that a space may have: tuners keep tables of them."""


@dataclass(frozen=True, slots=True)
class Space:
    """Variables, in the order in which tuners choose their values.

    A link (i, a, j, b) allows value number a of variable i only with value number b of variable j,
    and the other way round.  A variable is in one link at most.
    """

    names: tuple[str, ...]
    domains: tuple[tuple[float, ...], ...]
    intervals: tuple[tuple[float, float], ...]
    """where tuners with continuous domains choose"""
    links: tuple[tuple[int, int, int, int], ...] = ()
    defaults: tuple[int, ...] = ()
    """the combination that is the agent's own, or the values nearest to it; legal"""

    @property
    def columns(self) -> tuple[str, ...]:
        """The parameters that the variables set."""
        return tuple(STRATEGIES[n][0] if n in STRATEGIES else n for n in self.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Values per variable."""
        return tuple(map(len, self.domains))

    @property
    def combinations(self) -> int:
        """Combinations of values, legal or not."""
        return math.prod(self.sizes)

    def is_legal(self, picks: Sequence[int]) -> bool:
        """The function L, on numbers of values."""
        return all((picks[i] == a) == (picks[j] == b) for i, a, j, b in self.links)

    def legal_codes(self) -> I32:
        """The legal combinations by code: their picks are the digits, the last changes fastest."""
        digits = np.unravel_index(np.arange(self.combinations), self.sizes)
        legal = np.ones(self.combinations, bool)
        for i, a, j, b in self.links:
            legal &= (digits[i] == a) == (digits[j] == b)
        return np.flatnonzero(legal).astype(np.int32)

    def values_between(self, points: F64) -> F64:
        """The values of points of the unit cube in the intervals: (..., d) both."""
        low, high = np.array(self.intervals).T
        return np.asarray(low + points * (high - low), np.float64)

    def nearest(self, points: F64) -> I32:
        """(..., d) the legal combinations that points of the unit cube stand for.

        A variable's values share its interval in equal parts.
        """
        sizes = np.array(self.sizes)
        picks = np.minimum((points * sizes).astype(np.int32), sizes - 1).astype(np.int32)
        for i, a, j, b in self.links:
            picks[..., j][picks[..., i] == a] = b
            picks[..., j][(picks[..., i] != a) & (picks[..., j] == b)] = b - 1
        return picks

    def table(self) -> F64:
        """(d, most values of a variable) the values; `UNUSED` and missing ones are inf."""
        table = np.full((len(self.names), max(self.sizes)), math.inf)
        for row, domain in zip(table, self.domains, strict=True):
            row[: len(domain)] = [math.inf if value == UNUSED else value for value in domain]
        return table

    def describe(self, picks: Sequence[int]) -> str:
        """A combination in words: `K=250 Ref=50`."""
        return " ".join(f"{name}={self.label(i, picks[i])}" for i, name in enumerate(self.names))

    def label(self, variable: int, pick: int) -> str:
        """A value in words."""
        if self.names[variable] in STRATEGIES:
            return STRATEGIES[self.names[variable]][2][pick]
        value = self.domains[variable][pick]
        return "unused" if value == UNUSED else f"{value:g}"


def read_space(text: str, fixed: Mapping[str, float] | None = None) -> Space:
    """The space that a text like `K,Ref,C=0.1,0.2,0.4` stands for: names, some with own domains.

    All are of the same scope; see `read_spaces`.  Raises `ParameterError`.
    """
    spaces = read_spaces(text, fixed)
    if len(spaces) > 1:
        raise ParameterError(f"'{text}' mixes parameters of {len(spaces)} scopes")
    return next(iter(spaces.values()))


def read_spaces(text: str, fixed: Mapping[str, float] | None = None) -> dict[Scope, Space]:
    """The same for parameters of any scope: a space for each scope that has some, in its order.

    `fixed` has the agent's own values, by which strategies and the space's defaults go; default:
    the declared ones.
    Raises `ParameterError`.
    """
    values = {name: float(PARAMETERS[name].default) for name in tunable()} | dict(fixed or {})
    domains, own = _domains(text, values)
    _check(domains)
    spaces = {}
    for scope in TUNABLE:
        chosen = {name: domain for name, domain in domains.items() if _scope_of(name) is scope}
        if chosen:
            spaces[scope] = _space(chosen, own, values)
    return spaces


def tunable() -> tuple[str, ...]:
    """The names of the numbers that can be tuned."""
    # all strategies have to be there; not above, for tuners' kernels are none of theirs
    import ggp_agent.search.selection  # noqa: F401

    return tuple(name for scope in TUNABLE for name in parameters_of(scope))


def _scope_of(name: str) -> Scope:
    return PARAMETERS[STRATEGIES[name][0] if name in STRATEGIES else name].scope


def _domains(text: str, values: Mapping[str, float]) -> tuple[dict[str, list[float]], set[str]]:
    """The domains that a text names, and the names of those that it gives itself."""
    domains: dict[str, list[float]] = {}
    own: set[str] = set()
    name = ""
    for item in filter(None, (part.strip() for part in text.split(","))):
        head, equals, value = item.rpartition("=")
        if equals or not _is_number(item):
            name = _tunable(head if equals else item)
            if name in domains:
                raise ParameterError(f"{name} is to be tuned twice")
            domains[name] = [] if equals else _usual(name, values)
            if equals:
                own.add(name)
        elif name not in own:
            raise ParameterError(f"'{item}' is not a parameter; own domains look like K=0,10,50")
        if equals or name in own:
            domains[name].append(_number(name, value))
    return domains, own


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _tunable(name: str) -> str:
    known = (*tunable(), *STRATEGIES)
    if name not in known:
        raise ParameterError(f"'{name}' can't be tuned; those that can: {', '.join(known)}")
    return name


def _usual(name: str, values: Mapping[str, float]) -> list[float]:
    """A variable's declared domain."""
    if name in STRATEGIES:
        column, without, _ = STRATEGIES[name]
        return [without, values[column]]
    return list(PARAMETERS[name].discrete)


def _number(name: str, text: str) -> float:
    """A value of an own domain."""
    if name in STRATEGIES:
        raise ParameterError(f"{name} is tuned as it is: with the agent's own strategy or without")
    return float(PARAMETERS[name].parse(text))


def _check(domains: Mapping[str, Sequence[float]]) -> None:
    if not domains:
        raise ParameterError("no parameter to tune")
    for name, (column, _, choices) in STRATEGIES.items():
        if name in domains and column in domains:
            raise ParameterError(f"{name} and {column} can't both be tuned: one decides the other")
        if name in domains and domains[name][0] == domains[name][1]:
            raise ParameterError(f"{name} is {choices[0]} anyway: there is nothing to tune")
    for name, domain in domains.items():
        if len(domain) < 2 or len(set(domain)) < len(domain):
            raise ParameterError(f"{name}: two or more different values are needed for tuning")


def _space(domains: dict[str, list[float]], own: set[str], values: Mapping[str, float]) -> Space:
    names, links = list(domains), []
    if "K" in domains and "Ref" in domains and 0 in domains["K"]:
        domains["Ref"].append(UNUSED)
        unused = len(domains["Ref"]) - 1
        links.append((names.index("K"), domains["K"].index(0), names.index("Ref"), unused))
    space = Space(
        tuple(names),
        tuple(map(tuple, domains.values())),
        tuple(_interval(name, domain, name in own) for name, domain in domains.items()),
        tuple(links),
        _defaults(domains, links, values),
    )
    if space.combinations > MOST_COMBINATIONS:
        raise ParameterError(
            f"{space.combinations:,} combinations of values; at most {MOST_COMBINATIONS:,} can be"
            " tuned"
        )
    return space


def _defaults(
    domains: Mapping[str, Sequence[float]],
    links: Sequence[tuple[int, int, int, int]],
    values: Mapping[str, float],
) -> tuple[int, ...]:
    """The numbers of the values nearest to the agent's own, a strategy's being to use it."""
    picks = [
        1 if name in STRATEGIES else _nearest(domain, values[name])
        for name, domain in domains.items()
    ]
    for i, a, j, b in links:
        if picks[i] == a:
            picks[j] = b
    return tuple(picks)


def _nearest(domain: Sequence[float], value: float) -> int:
    """The number of the value nearest to another one; `UNUSED` is none."""
    if math.isinf(value):
        return domain.index(max(domain))
    usable = [number for number, other in enumerate(domain) if other != UNUSED]
    return min(usable, key=lambda number: abs(domain[number] - value))


def _interval(name: str, domain: list[float], own: bool) -> tuple[float, float]:
    """Where continuous tuners choose: as declared, or between the ends of an own domain."""
    declared = None if name in STRATEGIES else PARAMETERS[name].continuous
    if declared is not None and not own:
        return declared
    finite = [value for value in domain if math.isfinite(value) and value != UNUSED]
    return (min(finite), max(finite))
