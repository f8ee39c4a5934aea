"""What all reasoners share: what a goal is worth, and the order of moves."""

from __future__ import annotations

import random

import pytest

from gdl.rules import Term, read_term
from gdl.state_machine import goal_value, order


@pytest.mark.parametrize(
    ("values", "goal"),
    [
        ([], 0),
        (["100"], 100),
        (["0"], 0),
        (["007"], 7),
        (["50", "90", "10"], 90),
        (["101"], 0),
        (["101", "20"], 20),
        (["-5"], 0),
        (["high"], 0),
        (["+5", "5.5", "1e2", "٣", "²"], 0),
        ([("f", "100")], 0),
    ],
)
def test_a_goal_is_the_highest_integer_up_to_100(values: list[Term], goal: int) -> None:
    assert goal_value(values) == goal


def test_moves_have_one_order_however_they_come() -> None:
    """Constants first, numbers by value; what differs is never tied."""
    texts = ["01", "1", "2", "09", "9", "10", "100", "-1", "1.0", "noop", "pass"]
    texts += ["(drop 2)", "(drop 10)", "(mark 1 2)", "(mark 01 2)", "(mark 1 10)", "(mark (f 1) 2)"]
    terms = [read_term(text) for text in texts]
    ranked = sorted(terms, key=order)
    assert len({order(term) for term in terms}) == len(terms)
    for seed in range(20):
        shuffled = random.Random(seed).sample(terms, len(terms))
        assert sorted(shuffled, key=order) == ranked
    assert [t for t in ranked if isinstance(t, str) and t.isdigit()] == terms[:7]
    assert isinstance(ranked[10], str) and isinstance(ranked[11], tuple)
    assert ranked.index(("drop", "2")) < ranked.index(("drop", "10"))
