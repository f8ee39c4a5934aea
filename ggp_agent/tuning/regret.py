"""How much a tuner loses on a synthetic landscape against always choosing the best combination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.landscapes import make_landscape
from ggp_agent.tuning.side_information import LsiTuner
from ggp_agent.tuning.space import F32, I32
from ggp_agent.tuning.tuners import make_tuner


@dataclass(frozen=True, slots=True)
class Regret:
    """The loss of one tuner on one landscape, mean per simulation, as a share of the most there is.

    0 is the best combination all the time, 1 the worst; where all are alike it is 0.
    """

    overall: float
    last: float
    """over the last tenth of the simulations"""


def measure_regret(
    tuner: str, landscape: str, simulations: int, in_flight: int, seed: int
) -> Regret:
    """Let a tuner (for one role) choose so many simulations on a landscape."""
    ground = make_landscape(landscape, seed)
    player = make_tuner(tuner, ground.space, 1, in_flight, seed)
    if isinstance(player, LsiTuner):
        player.samples = simulations
    dice = np.random.Generator(np.random.PCG64([seed, 7]))
    losses = np.zeros(simulations)
    done = 0
    while done < simulations:
        count = min(in_flight, simulations - done)
        picks: I32
        if isinstance(player, CmaTuner):
            picks = ground.nearest(player.ask(count))
        else:
            picks = player.ask(count)
        values = ground.at(done / simulations)
        low, high = np.nanmin(values), np.nanmax(values)
        chances = values[ground.codes(picks)]
        losses[done : done + count] = ((high - chances) / max(high - low, 1e-9))[:, 0]
        rewards: F32 = (dice.random(chances.shape) < chances).astype(np.float32)
        player.tell(rewards)
        done += count
    last = max(1, simulations // 10)
    return Regret(float(losses.mean()), float(losses[-last:].mean()))
