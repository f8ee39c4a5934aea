"""The sequential test: bounds, verdicts by hand, and how often it errs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp_agent.statistics import Sprt, Verdict


def test_walds_bounds() -> None:
    assert Sprt(alpha=0.05, beta=0.1).bounds == pytest.approx((math.log(0.1 / 0.95), math.log(18)))


def test_wins_only_by_hand() -> None:
    """n wins are 0.55^n against 0.5^n likely: 31 are the first with a ratio of 19."""
    state = Sprt(0.5, 0.55).run([1] * 100)
    assert state.verdict is Verdict.H1
    assert state.blocks == math.ceil(math.log(19) / math.log(0.55 / 0.5)) == 31
    assert state.ratio == pytest.approx(31 * math.log(1.1))


def test_draws_only_by_hand() -> None:
    """Draws alone are certain at 0.5; at 0.55 they have 0.9 at most."""
    state = Sprt(0.5, 0.55).run([0.5] * 100)
    assert state.verdict is Verdict.H0
    assert state.blocks == math.ceil(math.log(19) / -math.log(0.9)) == 28


def test_wins_and_losses_are_the_binomial_test() -> None:
    state = Sprt(0.4, 0.6).evaluate([1, 1, 0, 1])
    assert state.ratio == pytest.approx(2 * math.log(0.6 / 0.4))
    assert state.verdict is Verdict.UNDECIDED


def test_nothing_seen_is_undecided() -> None:
    assert Sprt().run([]).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    "wrong", [{"h0": 0.6, "h1": 0.5}, {"h0": 0.0}, {"h1": 1.0}, {"alpha": 0.0}, {"beta": 0.5}]
)
def test_refuses_what_is_no_test(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Sprt(**wrong)


@pytest.mark.parametrize(("mean", "wrong"), [(0.4, Verdict.H1), (0.6, Verdict.H0)])
def test_errs_as_seldom_as_promised_by_simulation(mean: float, wrong: Verdict) -> None:
    """Blocks of two matches in a game where the first to move has a large advantage."""
    rng, test = np.random.default_rng(7), Sprt(0.4, 0.6, alpha=0.1, beta=0.1)
    verdicts = []
    for _ in range(150):
        first, second = rng.random(400) < mean + 0.2, rng.random(400) < mean - 0.2
        verdicts.append(test.run(((first.astype(float) + second) / 2).tolist()).verdict)
    assert Verdict.UNDECIDED not in verdicts
    assert verdicts.count(wrong) / len(verdicts) < 0.13
