"""How much a tuner loses on a synthetic landscape against always choosing the best combination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ggp_agent.statistics import Interval, mean_interval
from ggp_agent.tuning.landscapes import make_landscape
from ggp_agent.tuning.tuners import make_tuner
from ggp_agent.tuning.value_tuner import SearchFacts

STEPS = 100
"""In which a landscape drifts."""
CLEARLY = 0.8
"""Share of the regret of random choices below which a tuner can be clearly better than them."""


@dataclass(frozen=True, slots=True)
class Regret:
    """The loss of one tuner on one landscape, mean per simulation, as a share of the most there is.

    0 is the best combination all the time, 1 the worst; where all are alike it is 0.
    """

    overall: float
    last: float
    """over the last tenth of the simulations"""


def measure_regret(
    tuner: str,
    landscape: str,
    variables: int,
    simulations: int,
    in_flight: int,
    seed: int,
) -> Regret:
    """Let a tuner (for one role) choose so many simulations on a landscape."""
    ground = make_landscape(landscape, variables, seed)
    player = make_tuner(tuner, ground.space, 1, in_flight, seed)
    player.prepare(SearchFacts(in_flight, samples=simulations))
    random = np.random.Generator(np.random.PCG64([seed, 7]))
    losses = np.zeros(simulations)
    done, step = 0, -1
    while done < simulations:
        count = min(in_flight, simulations - done)
        slots, weights = np.arange(count, dtype=np.int32), np.ones(count, np.int32)
        player.ask(slots, weights)
        if step != STEPS * done // simulations:
            step = STEPS * done // simulations
            values = ground.at(step / STEPS)
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
        chances = values[ground.codes(player.picks_at(slots))]
        losses[done : done + count] = ((high - chances) / max(high - low, 1e-9))[:, 0]
        rewards = (random.random(chances.shape) < chances).astype(np.float64)
        player.tell(slots, rewards, weights)
        done += count
    last = max(1, simulations // 10)
    return Regret(float(losses.mean()), float(losses[-last:].mean()))


def mean_difference(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The mean of `first` - `second`, paired, of numbers in [0, 1], with its 95 % interval."""
    # the interval is for scores in [0, 1]
    half = mean_interval((1 + a - b) / 2 for a, b in zip(first, second, strict=True))
    return Interval(2 * half.value - 1, 2 * half.low - 1, 2 * half.high - 1)


def is_clearly_less(regrets: Sequence[float], chance: Sequence[float]) -> bool:
    """Whether regrets are clearly below those of random choices on the same landscapes.

    The 95 % interval of the mean difference excludes 0, and the mean is at most `CLEARLY` times
    theirs.
    """
    return mean_difference(regrets, chance).high < 0 and sum(regrets) <= CLEARLY * sum(chance)
