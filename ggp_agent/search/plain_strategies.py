"""The strategies of the plain search: how playouts choose moves, and how the tree does.

A strategy is an object with hooks that the search calls; it lives for one game.  The tables at the
end are the only place that knows strategies by their names.
"""

# ruff: noqa: B027  # hooks do nothing where a strategy has no use for them
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random

from ggp_agent.agents import Agent
from ggp_agent.search.plain_tree import (
    Average,
    JointMove,
    Move,
    Node,
    Position,
    RewardRange,
    Values,
)
from ggp_agent.search.settings import EPSILON, FPU, REF, C, K

UNSEEN = 100.0
"""What MAST takes for the mean of a move that was never played, in percent."""


class PlayoutPolicy(ABC):
    """Chooses the moves of playouts, and of nodes with fewer than T visits."""

    def __init__(self, agent: Agent, ranges: Sequence[RewardRange]) -> None:
        """`ranges`: of the rewards, by role; they grow while the search goes on."""
        self._agent, self._ranges = agent, ranges

    @abstractmethod
    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """One of a role's legal moves; `settings` (COLUMNS,) are the role's."""

    def learn(self, moves: Sequence[JointMove], rewards: Sequence[float]) -> None:
        """The joint moves of a whole simulation and every role's reward, not normalised."""

    def forget_move(self) -> None:
        """The game went on by a real move."""


class UniformPolicy(PlayoutPolicy):
    """All moves are equally likely."""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlayoutPolicy.choose`."""
        return random.choice(moves)


class MastPolicy(PlayoutPolicy):
    """MAST, ε-greedy: a random move with probability ε, or else the one with the highest mean.

    Means are those over all simulations in which the role played the move, wherever that was.
    """

    def __init__(self, agent: Agent, ranges: Sequence[RewardRange]) -> None:
        super().__init__(agent, ranges)
        self.averages: dict[tuple[int, Move], Average] = {}
        """by role and move: rewards in percent, not normalised"""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlayoutPolicy.choose`."""
        if random.random() < float(settings[EPSILON]):
            return random.choice(moves)
        return moves[draw_among_best(self._means(role, moves), 0.0, random)]

    def learn(self, moves: Sequence[JointMove], rewards: Sequence[float]) -> None:
        """See `PlayoutPolicy.learn`; every occurrence of a move counts."""
        percents = [round(100 * reward, 9) for reward in rewards]  # so that GDL's goals are whole
        for joint in moves:
            for role, move in enumerate(joint):
                self.averages.setdefault((role, move), Average()).add(percents[role])

    def forget_move(self) -> None:
        """See `PlayoutPolicy.forget_move`; counts decay and means stay."""
        factor = self._agent.number("decay")
        for key, average in list(self.averages.items()):
            kept = math.floor(average.count * factor + 0.5)
            if kept == 0:
                del self.averages[key]
            else:
                self.averages[key] = Average(kept, kept * average.mean)

    def _means(self, role: int, moves: Sequence[Move]) -> list[float]:
        """The moves' normalised means in [0, 100]."""
        known = [self.averages.get((role, move)) for move in moves]
        in_percent = self._ranges[role].normalise
        return [in_percent(average.mean, 100) if average else UNSEEN for average in known]


class GibbsPolicy(MastPolicy):
    """MAST, by Gibbs measure: a move's probability is proportional to exp(mean / τ)."""

    def choose(self, role: int, moves: Sequence[Move], settings: Values, random: Random) -> Move:
        """See `PlayoutPolicy.choose`."""
        means, tau = self._means(role, moves), self._agent.number("tau")
        weights = [math.exp((mean - max(means)) / tau) for mean in means]
        return random.choices(moves, weights)[0]


class Selection(ABC):
    """Says which value selection goes by in the tree."""

    def __init__(self, agent: Agent, ranges: Sequence[RewardRange]) -> None:
        """`ranges`: of the rewards, by role; they grow while the search goes on."""
        self._agent, self._ranges = agent, ranges

    def begin(self, root: Position) -> None:
        """A simulation begins."""

    def arrive(self, position: Position, settings: Values) -> None:
        """The simulation is in this position; `settings` (R, COLUMNS)."""

    @abstractmethod
    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """The value of a role's move, by its place; `settings` (COLUMNS,) are the role's."""

    def learn(
        self, position: Position, level: int, moves: Sequence[JointMove], rewards: Sequence[float]
    ) -> None:
        """A simulation came through a position, before its joint moves[level].

        Called for all positions on its path, from the root down, visits being counted already;
        rewards are not normalised.
        """


class Uct(Selection):
    """UCT: mean + C · sqrt(ln N / n)."""

    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """See `Selection.value`."""
        own = node.statistics[place]
        if not own.count:
            return float(settings[FPU])
        mean = self._ranges[role].normalise(own.mean)
        return mean + exploration(node, own, settings)


class Grave(Selection):
    """GRAVE: UCT with (1 - β) · mean + β · AMAF in place of the mean.

    AMAF is taken from the closest node above, or this one, with at least Ref visits.
    """

    def begin(self, root: Position) -> None:
        """See `Selection.begin`."""
        self._reference = list(root.nodes)

    def arrive(self, position: Position, settings: Values) -> None:
        """See `Selection.arrive`."""
        for role, node in enumerate(position.nodes):
            if node.amaf is not None and node.visits >= settings[role, REF]:
                self._reference[role] = node

    def value(self, role: int, node: Node, place: int, settings: Values) -> float:
        """See `Selection.value`."""
        own, normalise, amaf = node.statistics[place], self._ranges[role].normalise, None
        if settings[K] > 0:
            amaf = (self._reference[role].amaf or {}).get(node.moves[place])
        if not own.count:
            return float(settings[FPU]) + (normalise(amaf.mean) if amaf else 0.0)
        mean = normalise(own.mean)
        if amaf:
            mean += beta(node.visits, float(settings[K])) * (normalise(amaf.mean) - mean)
        return mean + exploration(node, own, settings)

    def learn(
        self, position: Position, level: int, moves: Sequence[JointMove], rewards: Sequence[float]
    ) -> None:
        """See `Selection.learn`; every occurrence of a move counts."""
        for role, node in enumerate(position.nodes):
            if node.amaf is None and self._wants_amaf(position, node):
                node.amaf = {}
            if node.amaf is not None:
                for joint in moves[level:]:
                    node.amaf.setdefault(joint[role], Average()).add(rewards[role])

    def _wants_amaf(self, position: Position, node: Node) -> bool:
        return position.rewards is None and node.visits >= self._agent.number("amaf_from")


def exploration(node: Node, own: Average, settings: Values) -> float:
    """UCT's C · sqrt(ln N / n)."""
    return float(settings[C]) * math.sqrt(math.log(max(1, node.visits)) / own.count)


def beta(visits: int, k: float) -> float:
    """The weight of AMAF: sqrt(K / (3N + K)); 1 for K = ∞, 0 for K = 0."""
    if math.isinf(k):
        return 1.0
    return math.sqrt(k / (3 * visits + k)) if k else 0.0


def draw_among_best(values: Sequence[float], offset: float, random: Random) -> int:
    """The place of a value that is no more than `offset` below the highest."""
    threshold = max(values) - offset
    return random.choice([i for i, value in enumerate(values) if value >= threshold])


PLAYOUTS: Mapping[str, Callable[[Agent, Sequence[RewardRange]], PlayoutPolicy]] = {
    "random": UniformPolicy,
    "mast": MastPolicy,
    "gibbs": GibbsPolicy,
}

SELECTIONS: Mapping[str, Callable[[Agent, Sequence[RewardRange]], Selection]] = {
    "uct": Uct,
    "grave": Grave,
}
