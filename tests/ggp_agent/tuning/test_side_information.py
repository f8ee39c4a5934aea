"""LSI against Algorithm 2."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ggp_agent.tuning.side_information import ALIVE, FIXED, GENERATING, HALVING, LsiTuner
from tests.ggp_agent.tuning.oracle import SPACES, ask, rows, run, script, tell


# Decision 14
def test_the_stages_one_by_one() -> None:
    space, rewards = SPACES["linked"], script(4)
    values = [(i, v) for i, size in enumerate(space.sizes) for v in range(size)]
    # three quarters are 5 passes over 9 values and some; a quarter is 20
    tuner = LsiTuner(space, 1, 1, 2, samples=64, candidates=6)
    sums = dict.fromkeys(values, 0.0)
    for _ in range(5):
        sampled = []
        for _ in values:
            (picks,) = rows(ask(tuner, 1))
            value = values[int(tuner._rewards.candidate[0, 0])]
            assert picks[value[0]] == value[1]
            assert space.is_legal(picks)
            sampled.append(value)
            reward = next(rewards)
            sums[value] += reward
            tell(tuner, np.array([[reward]], np.float32))
        assert sorted(sampled) == values, "every value once in a pass"
    assert tuner._rewards.table[0, : len(values), 0].tolist() == pytest.approx(list(sums.values()))
    evaluated: list[int] = []
    picks = rows(ask(tuner, 1))[0]
    assert tuner.stages == [HALVING]
    drawn = int(tuner._lsi.state[0, ALIVE])
    candidates = [tuple(c) for c in tuner._lsi.candidates[0, :drawn].tolist()]
    assert len(set(candidates)) == drawn <= 6
    assert all(space.is_legal(c) for c in candidates)
    alive, totals = list(range(drawn)), dict.fromkeys(range(drawn), (0.0, 0))
    rounds = max(1, (drawn - 1).bit_length())
    first = True
    while len(alive) > 1:
        share = max(1, 16 // (len(alive) * rounds))
        for turn in range(share * len(alive)):
            if not (first and turn == 0):
                picks = rows(ask(tuner, 1))[0]
            candidate = int(tuner._rewards.candidate[0, 0]) - len(values)
            assert candidates[candidate] == picks
            evaluated.append(candidate)
            reward = next(rewards)
            total, count = totals[candidate]
            totals[candidate] = (total + reward, count + 1)
            tell(tuner, np.array([[reward]], np.float32))
        first = False
        in_round = Counter(evaluated[-share * len(alive) :])
        assert in_round == dict.fromkeys(alive, share), "equal shares"
        means = {c: totals[c][0] / totals[c][1] for c in alive}
        kept = (len(alive) + 1) // 2
        threshold = sorted(means.values(), reverse=True)[kept - 1]
        picks = rows(ask(tuner, 1))[0]
        left = tuner._lsi.alive[0, :kept].tolist()
        assert tuner._lsi.state[0, ALIVE] == kept
        assert all(means[c] >= threshold for c in left)
        alive, first = left, True
    assert tuner.stages == [FIXED]
    assert picks == candidates[alive[0]]
    tell(tuner, np.zeros((1, 1), np.float32))
    assert set(run(tuner, 0.0, 50, 1)) == {picks}


# Decision 14
def test_candidates_are_drawn_in_proportion_to_rewards() -> None:
    space = SPACES["two"]
    rewards = {(2, v): 1.0 for v in range(3)} | {(1, v): 0.5 for v in range(3)}
    found: Counter[int] = Counter()
    for seed in range(150):
        tuner = LsiTuner(space, 1, 1, seed, samples=280, candidates=1)
        run(tuner, rewards, 211, 1)
        assert tuner.stages == [FIXED]
        found[int(tuner._lsi.candidates[0, 0, 0])] += 1
    # values of the first variable have means 0, 1/2, 1 and 0
    assert found[0] + found[3] == 0
    assert 75 <= found[2] <= 125  # 100 expected


def test_without_any_reward_candidates_are_random() -> None:
    tuner = LsiTuner(SPACES["linked"], 1, 64, 1, samples=200, candidates=200)
    run(tuner, 0.0, 256, 64)
    ask(tuner, 1)
    assert tuner._lsi.state[0, ALIVE] > 5 or tuner.stages == [HALVING]
    drawn = {tuple(c) for c in tuner._lsi.candidates[0, :12].tolist()}
    assert len(drawn) > 6


def test_until_the_budget_is_known_the_passes_go_on() -> None:
    tuner = LsiTuner(SPACES["two"], 2, 1, 1)
    run(tuner, 0.5, 500, 1)
    assert tuner.stages == [GENERATING, GENERATING]
    tuner.samples = 600
    run(tuner, 0.5, 1, 1)
    assert tuner.stages == [HALVING, HALVING]


def test_no_candidate_is_left_out_where_simulations_share_them() -> None:
    """A round lasts one whole pass, even where that costs more than its budget."""
    tuner = LsiTuner(SPACES["two"], 1, 64, 1, samples=60, candidates=8)
    run(tuner, 0.5, 64, 64)
    ask(tuner, 16, 8)
    drawn = int(tuner._lsi.state[0, ALIVE])
    assert drawn > 4
    tried = []
    while int(tuner._lsi.state[0, ALIVE]) == drawn:
        tried += tuner._rewards.candidate[:2, 0].tolist()
        tell(tuner, np.ones((16, 1), np.float32), 8)
        ask(tuner, 16, 8)
    assert set(tried) == set(range(7, 7 + drawn))
    assert len(tried) <= drawn + 1


# Decision 35
def test_late_feedback_lets_the_passes_go_on() -> None:
    """A stage ends with a batch: what is over its share goes to the same values or candidates."""
    tuner = LsiTuner(SPACES["two"], 1, 64, 1, samples=40, candidates=8)
    run(tuner, 0.5, 64, 64)  # 30 would do
    assert tuner._rewards.table[0, :7, 1].sum() == 64
    ask(tuner, 64)
    assert tuner.stages == [HALVING]
    alive = int(tuner._lsi.state[0, ALIVE])
    counts = Counter(tuner._rewards.candidate[:64, 0].tolist())
    assert len(counts) == alive
    assert max(counts.values()) - min(counts.values()) <= 1
