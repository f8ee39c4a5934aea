"""NTBEA against Algorithms 4 and 5, choice by choice."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from ggp_agent.tuning.ntbea import EXPLORATION, NtbeaTuner
from ggp_agent.tuning.space import Space
from tests.ggp_agent.tuning.oracle import (
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


def is_mutant(space: Space, old: Picks, new: Picks) -> bool:
    """Whether one random mutation leads from one to the other, with the repair of a link."""
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    if len(changed) <= 1:
        return len(changed) == 1 and space.is_legal(new)
    ends = [{i, j} for i, _, j, _ in space.links]
    alone = [new[i] if i == changed[0] else old[i] for i in range(len(old))]
    other = [new[i] if i == changed[-1] else old[i] for i in range(len(old))]
    needed = not space.is_legal(alone) or not space.is_legal(other)
    return set(changed) in ends and space.is_legal(new) and needed


# Decision 16
@pytest.mark.parametrize(("batch", "share"), [(1, 1), (7, 1), (14, 4)])
@pytest.mark.parametrize("name", SPACES)
def test_the_best_of_five_mutants_replaces_the_individual(
    name: str, batch: int, share: int
) -> None:
    space = SPACES[name]
    tuner, oracle, rewards = NtbeaTuner(space, 1, 16, 3), Oracle(space), script(2)
    individual: Picks | None = None
    for _ in range(700 // batch):
        oracle.begin_batch()
        chosen = rows(ask(tuner, batch, share))
        everybody = spread(chosen, batch, share)
        for number, picks in enumerate(chosen):
            if individual is not None:
                assert is_mutant(space, individual, picks)
                if number == len(chosen) - 1:  # the last choice's mutants are still there
                    mutants = [tuple(mutant) for mutant in tuner._mutants[0].tolist()]
                    assert len(mutants) == 5
                    assert all(is_mutant(space, individual, mutant) for mutant in mutants)
                    bounds = {mutant: oracle.landscape(mutant, EXPLORATION) for mutant in mutants}
                    assert bounds[picks] >= max(bounds.values()) - 1e-9
            oracle.ask(picks, len(everybody[number * share : (number + 1) * share]))
            individual = picks
        told = [next(rewards) for _ in everybody]
        tell(tuner, np.array(told, np.float32)[:, None], share)
        for picks, reward in zip(everybody, told, strict=True):
            oracle.tell(picks, reward)


def test_mutations_reach_every_legal_combination() -> None:
    space = SPACES["linked"]
    chosen = set(run(NtbeaTuner(space, 1, 1, 1, neighbours=1), 0.5, 2000, 1))
    assert chosen == set(Oracle(space).legal)


def test_the_individual_starts_at_random() -> None:
    space = SPACES["two"]
    firsts = Counter(run(NtbeaTuner(space, 1, 1, seed), 0.5, 1, 1)[0] for seed in range(600))
    assert len(firsts) == 12
    assert min(firsts.values()) > 20


@pytest.mark.parametrize("batch", [1, 32])
def test_good_combinations_get_most(batch: int) -> None:
    chosen = Counter(run(NtbeaTuner(SPACES["two"], 1, 32, 1), {(2, 1): 1.0}, 3000, batch))
    # an individual always moves on: at best it comes back every other time
    assert chosen[2, 1] > 0.25 * 3000


# Decision 35
def test_late_feedback_does_not_stop_evolution() -> None:
    """With 32 in flight the individual moves on 32 times, led by visits where nothing is known."""
    tuner = NtbeaTuner(SPACES["two"], 1, 32, 1, c=1.0)
    run(tuner, 0.5, 32, 32)
    second = rows(ask(tuner, 32))
    assert len(set(second)) > 6
    assert all(a != b for a, b in pairwise(second))
