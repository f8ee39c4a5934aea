"""The tuner that decides what it tunes: choice by choice, in the long run, and what it tells."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ggp_agent.tuning.choosing import TUNED, ChoosingTuner, Constants
from ggp_agent.tuning.model import ASKED, FIRST, KNOWN
from ggp_agent.tuning.space import Space, read_space
from tests.ggp_agent.tuning.oracle import (
    FLIGHTS,
    SPACES,
    Oracle,
    Picks,
    ask,
    rows,
    run,
    script,
    spread,
    tell,
)

CONSTANTS = Constants()
OTHER_DEFAULTS = {
    "without GRAVE": read_space("K=0,10,100,Ref=0,50,C=0.1,0.2,0.4", {"K": 0.0}),
    "nothing else legal": read_space("K=0,10,100,Ref=50,100", {"Ref": 60.0}),
    "Ref first": read_space("Ref=0,50,C=0.1,0.2,K=0,10,100"),
}
EVERY_SPACE = {**SPACES, **OTHER_DEFAULTS}


class Decisions:
    """What may be decided and chosen, by the formulas, for one role."""

    def __init__(self, space: Space, oracle: Oracle) -> None:
        self.space, self.oracle = space, oracle
        self.times = [0] * len(space.names)

    def tuned(self, picks: Picks) -> list[bool]:
        """Which variables were tuned; asserts that this, and their values, are for the best."""
        return [self._tuned(i, picks) for i in range(len(picks))]

    def _tuned(self, i: int, picks: Picks) -> bool:
        legal = {other[i] for other in self.oracle.legal if other[:i] == picks[:i]}
        assert picks[i] in legal
        default = self.space.defaults[i]
        others = legal - {default}
        if default not in legal or not others:
            return len(legal) > 1 and self._is_best(i, picks[i], others)
        stay = self.oracle.bound((f"of {i}", default), CONSTANTS.default)
        tune = self._worth_of_tuning(i, others)
        if picks[i] == default:
            assert stay >= tune - 1e-9
            return False
        assert tune >= stay - 1e-9
        return self._is_best(i, picks[i], others)

    def _worth_of_tuning(self, i: int, others: set[int]) -> float:
        if self.times[i] == 0:
            return 1.0
        keys = [key for value in others if (key := (f"of {i}", value)) in self.oracle.arms]
        best = max((self.oracle.bound(key, -CONSTANTS.doubt) for key in keys), default=-math.inf)
        n = max(1, self.oracle.frozen)
        return best + CONSTANTS.tuned * math.sqrt(math.log(n) / self.times[i])

    def _is_best(self, i: int, pick: int, others: set[int]) -> bool:
        bounds = {value: self.oracle.bound((f"of {i}", value), CONSTANTS.value) for value in others}
        assert bounds[pick] >= max(bounds.values()) - 1e-6
        return True


# Decision 38
@pytest.mark.parametrize(("batch", "share"), FLIGHTS)
@pytest.mark.parametrize("name", EVERY_SPACE)
def test_every_variable_stays_or_is_tuned_by_ucb1(name: str, batch: int, share: int) -> None:
    space = EVERY_SPACE[name]
    tuner, oracle, rewards = ChoosingTuner(space, 2, 64, 3), Oracle(space), script(1)
    decisions = Decisions(space, oracle)
    seen: Counter[tuple[bool, ...]] = Counter()
    for _ in range(1200 // batch):
        oracle.begin_batch()
        chosen = rows(ask(tuner, batch, share))
        everybody = spread(chosen, batch, share)
        for number, picks in enumerate(chosen):
            tuned = decisions.tuned(picks)
            weight = len(everybody[number * share : (number + 1) * share])
            oracle.ask(picks, weight)
            for i, on in enumerate(tuned):
                decisions.times[i] += weight * on
            seen[tuple(tuned)] += weight
        told = np.array([next(rewards) for _ in everybody], np.float32)
        tell(tuner, np.stack([told, 1 - told], axis=1), share)
        for picks, reward in zip(everybody, told.tolist(), strict=True):
            oracle.tell(picks, reward)
    arms, first = tuner.decided.arms[0], tuner.decided.shape[FIRST]
    assert [int(n) for n in arms[first[:-1] + TUNED, ASKED]] == decisions.times
    for code, times in enumerate(arms[first[-1] :, KNOWN]):
        on = np.unravel_index(code, tuner.decisions.sizes)
        assert times == seen[tuple(map(bool, on))]
    assert len(seen) > 1


# Decision 38
def test_where_all_are_alike_variables_stay_at_their_defaults() -> None:
    tuner = ChoosingTuner(read_space("K,Ref,C,epsilon,VO,T"), 1, 16, 1)
    run(tuner, 0.5, 4800, 16)
    tuned = tuner.decided.arms[0, tuner.decided.shape[FIRST, :-1] + TUNED, ASKED]
    assert (tuned >= 5).all(), "each is tried"
    assert (tuned < 0.15 * 4800).all()


def test_late_feedback_is_spread_over_values() -> None:
    """With 64 in flight several are tuned, with different values, before any reward is known."""
    space = read_space("K,Ref,C,epsilon,VO,T")
    tuner = ChoosingTuner(space, 1, 64, 1)
    run(tuner, 0.5, 640, 64)
    chosen = rows(ask(tuner, 64))
    assert len(set(chosen)) > 4
    for i, default in enumerate(space.defaults):
        values = Counter(picks[i] for picks in chosen)
        assert values[default] > 32
        assert len(values) == 1 + (len(chosen) - values[default])


def tune_where_only_c_matters(seed: int, batch: int) -> tuple[dict[str, Any], int]:
    """C = 0.8 brings 0.3 more than the default; K, Ref and epsilon lose where they leave theirs.

    Returns what is told of the decisions, and how often the best was chosen in the last 1600 of
    8000 simulations.
    """
    space = read_space("K,Ref,C=0.1,0.2,0.4,0.8,epsilon")
    tuner, dice, found = ChoosingTuner(space, 1, 32, seed), np.random.default_rng(seed), 0
    others = [0, 1, 3]
    for start in range(0, 8000, batch):
        picks = ask(tuner, batch)[:, 0]
        apart = (picks != np.array(space.defaults))[:, others].sum(axis=1)
        chances = 0.4 + 0.3 * (picks[:, 2] == 3) - 0.05 * apart
        found += int(((picks[:, 2] == 3) & (apart == 0)).sum()) if start >= 6400 else 0
        tell(tuner, (dice.random(batch) < chances).astype(np.float32)[:, None])
    return tuner.report(0)["tuned"], found


@pytest.mark.parametrize(("batch", "games"), [(1, 6), (32, 16)])
def test_mostly_it_tunes_what_brings_more_and_nothing_else(batch: int, games: int) -> None:
    """Not always: where the first few tries are unlucky, a variable stays at its default."""
    favourites, best, apart = Counter[str](), 0, []
    for seed in range(games):
        told, found = tune_where_only_c_matters(seed, batch)
        favourites[told["favourite"]] += 1
        best += found > 0.9 * 1600
        table = zip(told["parameters"]["values"], told["parameters"]["samples"], strict=True)
        apart += [samples for name, samples in table if name != "C"]
    assert favourites["C"] >= games / 2
    assert best >= games / 2
    assert np.mean(apart) < 0.1 * 8000


def test_what_it_tells() -> None:
    space = SPACES["linked"]
    tuner = ChoosingTuner(space, 2, 8, 1)
    picks: Counter[Picks] = Counter(run(tuner, 0.25, 400, 8))
    role = tuner.report(0)["tuned"]

    def tuned(picks: Picks) -> list[str]:
        # Ref is not tuned, but unused, where K = 0
        apart = zip(space.names, picks, space.defaults, strict=True)
        return [n for n, a, b in apart if a != b and not (n == "Ref" and picks[0] == 0)]

    sets = Counter[tuple[str, ...]]()
    for p, times in picks.items():
        sets[tuple(tuned(p))] += times
    assert role["favourite"] == (" ".join(sets.most_common(1)[0][0]) or "none")
    for name, samples in zip(space.names, role["parameters"]["samples"], strict=True):
        assert samples == sum(times for names, times in sets.items() if name in names)
    assert role["number"]["values"] == ["0", "1", "2", "3"]
    assert role["number"]["samples"] == [
        sum(times for names, times in sets.items() if len(names) == n) for n in range(4)
    ]
    assert all(mean in (0, 25) for mean in role["number"]["means"])
