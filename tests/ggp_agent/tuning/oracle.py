"""The statistics of all tuners once more, in plain Python, straight from the papers' formulas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.space import Space, read_space
from ggp_agent.tuning.value_tuner import ValueTuner

Picks = tuple[int, ...]

SPACES = {
    "linked": read_space("K=0,10,100,Ref=0,50,C=0.1,0.2,0.4"),
    "two": read_space("C=0.1,0.2,0.4,0.8,epsilon=0,0.5,1"),
    "one": read_space("C=0.1,0.2,0.4,0.8"),
}

FLIGHTS = [(1, 1), (7, 1), (64, 1), (31, 4)]
"""Simulations in flight, and how many share a combination."""


@dataclass
class Arm:
    """Rewards known, and how often the arm was asked for."""

    asked: int = 0
    rewards: list[float] = field(default_factory=list)
    first_mean: float = 0.5
    """what it counted as until something was known"""

    @property
    def mean(self) -> float:
        return sum(self.rewards) / len(self.rewards) if self.rewards else self.first_mean


class Oracle:
    """UCB1 over values and combinations of one role."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.arms: dict[tuple[object, ...], Arm] = {}
        self.all = Arm()
        self.frozen = 0
        """N: what was asked for before the batch, or an earlier one"""
        self.legal = [
            picks for picks in itertools.product(*map(range, space.sizes)) if space.is_legal(picks)
        ]

    def begin_batch(self, growth: float = 1.0) -> None:
        if self.all.asked > growth * self.frozen:
            self.frozen = self.all.asked

    def ask(self, picks: Picks, times: int = 1) -> None:
        for key in self._keys(picks):
            arm = self.arms.setdefault(key, Arm(first_mean=self.all.mean))
            arm.asked += times
        self.all.asked += times

    def tell(self, picks: Picks, reward: float) -> None:
        for key in self._keys(picks):
            self.arms[key].rewards.append(reward)
        self.all.rewards.append(reward)

    def bound(self, key: tuple[object, ...], c: float) -> float:
        """UCB1 with first-play urgency 1."""
        arm = self.arms.get(key)
        if arm is None:
            return 1.0
        return arm.mean + c * math.sqrt(math.log(max(1, self.frozen)) / arm.asked)

    def best_values(self, picks: Picks, c: float) -> bool:
        """Whether every value is one of the best that are legal with those before it."""
        for i, pick in enumerate(picks):
            legal = {other[i] for other in self.legal if other[:i] == picks[:i]}
            if (
                self.bound((f"of {i}", pick), c)
                < max(self.bound((f"of {i}", v), c) for v in legal) - 1e-6
            ):
                return False
        return True

    def is_best(self, picks: Picks, among: Sequence[Picks], c: float) -> bool:
        """Whether a combination is one of the best."""
        return self.bound(picks, c) >= max(self.bound(other, c) for other in among) - 1e-6

    def seen(self) -> list[Picks]:
        return [picks for picks in self.legal if picks in self.arms]

    def landscape(self, picks: Picks, c: float) -> float:
        """Algorithm 4, UCBValue, with tuples of length 1 and d."""
        keys = [key for key in self._keys(picks) if key in self.arms]
        return sum(self.bound(key, c) for key in keys) / len(keys) if keys else 0.0

    def _keys(self, picks: Picks) -> list[tuple[object, ...]]:
        return [*((f"of {i}", pick) for i, pick in enumerate(picks)), picks]


def script(seed: int) -> Iterator[float]:
    """Rewards of a game with draws."""
    dice = np.random.default_rng(seed)
    while True:
        yield float(dice.choice([0.0, 0.5, 1.0]))


def rows(picks: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> list[Picks]:
    """The combinations of the first role."""
    return [tuple(row) for row in picks[:, 0].tolist()]


def spread(chosen: Sequence[Picks], count: int, share: int) -> list[Picks]:
    """The combination of each of `count` simulations."""
    assert len(chosen) == math.ceil(count / share)
    return [chosen[simulation // share] for simulation in range(count)]


def ask(tuner: ValueTuner, count: int, share: int = 1) -> Any:
    """Ask for combinations for `count` simulations, in the first slots; returns their picks."""
    return tuner.picks_at(_ask(tuner, count, share))


def ask_points(tuner: CmaTuner, count: int, share: int = 1) -> Any:
    """The same, as points of the unit cube."""
    return tuner.points_at(_ask(tuner, count, share))


def _ask(tuner: ValueTuner, count: int, share: int) -> Any:
    number = math.ceil(count / share)
    weights = np.minimum(share, count - share * np.arange(number)).astype(np.int32)
    slots = np.arange(number, dtype=np.int32)
    tuner.ask(slots, weights)
    return slots


def tell(tuner: ValueTuner, rewards: Any, share: int = 1) -> None:
    """Tell the rewards (count, R) of the simulations asked for last."""
    firsts = np.arange(0, len(rewards), share)
    totals = np.add.reduceat(rewards.astype(np.float64), firsts, axis=0)
    weights = np.minimum(share, len(rewards) - firsts).astype(np.int32)
    tuner.tell(np.arange(len(firsts), dtype=np.int32), totals, weights)


def run(
    tuner: ValueTuner, rewards: dict[Picks, float] | float, count: int, batch: int
) -> list[Picks]:
    """Ask and tell; rewards by combination, 0 for others, or one for all."""
    chosen: list[Picks] = []
    while len(chosen) < count:
        picks = rows(ask(tuner, batch))
        told = [rewards if isinstance(rewards, float) else rewards.get(p, 0.0) for p in picks]
        roles = tuner.picks_at(np.zeros(1, np.int32)).shape[1]
        tell(tuner, np.tile(np.array(told, np.float32)[:, None], (1, roles)))
        chosen += picks
    return chosen[:count]
