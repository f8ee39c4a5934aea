"""Histories are left out where they make no difference, and only there."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from gdl.grounding import needed
from gdl.path_histories import without_path_histories
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet, arguments_of, name_of
from propnet.machine import PropnetStateMachine
from tests.conformance import assert_agree, shared_sheet
from tests.naive import random_playout

SHEET = """
(role r) (init (free a)) (init (free b)) (init (free c)) (init (free d))
(next_to a b) (next_to b a) (next_to b c) (next_to c d) (next_to d b) (next_to a d) (next_to c a)
(id a e1) (id b e2) (id c e3) (id d e4)
(element e1) (element e2) (element e3) (element e4)
(<= (legal r (close ?x)) (true (free ?x))) (legal r wait)
(<= (next (free ?x)) (true (free ?x)) (not (does r (close ?x))))
(<= terminal (not (true (free a))))
(<= (goal r 100) (way a d nil)) (<= (goal r 30) (not (way b d nil))) (<= (goal r 60) (way c c nil))
(<= (way ?x ?y ?seen) (id ?x ?e) (add ?e ?seen ?more) (on ?x ?y ?more))
(<= (on ?x ?y ?seen) (next_to ?x ?y) (true (free ?y)))
(<= (on ?x ?y ?seen) (next_to ?x ?z) (true (free ?z)) (way ?z ?y ?seen) (short ?seen))
(<= (add ?e nil (list ?e nil)) (element ?e))
(<= (add ?e (list ?f ?rest) (list ?f ?more))
    (element ?e) (element ?f) (distinct ?e ?f) (add ?e ?rest ?more))
(short nil) (<= (short (list ?e ?rest)) (short1 ?rest)) (short1 nil)
(<= (short1 (list ?e ?rest)) (short2 ?rest)) (short2 nil)
(<= (short2 (list ?e ?rest)) (short3 ?rest)) (short3 nil)
(<= (short3 (list ?e nil)) (element ?e))
"""
"""Ways over free places, told apart by the list of the places passed."""

NO_PROOF = {
    "the list holds fewer than all elements": (
        "(<= (short3 (list ?e nil)) (element ?e))",
        "",
    ),
    "two places push the same element": ("(id b e2)", "(id b e1)"),
    "an element that must not come second": (
        "(distinct ?e ?f) (add",
        "(distinct ?e ?f) (distinct ?e e3) (add",
    ),
    "a start that is an element": ("(way a d nil)", "(way a d e1)"),
    "a start that is not known": ("(way a d nil)", "(short ?l) (way a d ?l)"),
    "the list is looked at by something else": (
        "(way ?z ?y ?seen) (s",
        "(way ?z ?y ?seen) (p ?x ?seen) (s",
    ),
    "the list is negated": ("(short ?seen))", "(not (short ?seen)))"),
    "two calls in a rule": ("(way ?z ?y ?seen)", "(way ?z ?y ?seen) (way ?z a ?seen)"),
    "a list that is taken apart": (
        "(<= (on ?x ?y ?seen) (next_to ?x ?y)",
        "(<= (on ?x ?y (list ?e ?seen)) (element ?e) (short ?seen) (next_to ?x ?y)",
    ),
}  # fmt: skip


def _has_history(text: str) -> bool:
    clauses = without_path_histories(needed(RuleSheet.from_text(text).clauses()))
    arities = {len(arguments_of(c.head)) for c in clauses if name_of(c.head) == "way"}
    assert arities in ({2}, {3})
    return arities == {3}


def test_a_history_that_makes_no_difference_is_left_out() -> None:
    assert not _has_history(SHEET)


@pytest.mark.parametrize("case", NO_PROOF)
def test_a_history_without_proof_is_kept(case: str) -> None:
    old, new = NO_PROOF[case]
    assert old in SHEET
    text = SHEET.replace(old, new) + "(p a nil) (<= (p ?x (list ?e ?l)) (id ?x ?e) (short ?l))"
    assert _has_history(text)


def test_the_game_is_the_same_without_the_history() -> None:
    assert _agree(SHEET) > 20


def test_where_the_history_counts_the_game_keeps_it() -> None:
    """With `e3` never second, some ways are not found; leaving the list out would find them."""
    old, new = NO_PROOF["an element that must not come second"]
    assert _agree(SHEET.replace(old, new)) > 20


def _agree(text: str) -> int:
    sheet = RuleSheet.from_text(text)
    propnet = PropnetStateMachine.from_rules(sheet, seconds=60)
    with closing(PrologStateMachine(sheet, seconds=60)) as prolog:
        return assert_agree(propnet, prolog, playouts=12, steps=6)


def test_paths_as_lists_of_a_public_sheet() -> None:
    """Far too many paths for any other reasoner; red's line is checked by a search of our own."""
    machine = PropnetStateMachine.from_rules(shared_sheet("laikLee_hex"), seconds=120)
    ended = {"red": 0, "blue": 0}
    for seed in range(10):
        state = random_playout(machine, random.Random(seed))[-1][0]
        cells = {f[1:3]: f[3] for f in machine.fluents(state) if f[0] == "cell"}
        winners = [who for who in ended if _connected(cells, who)]
        goals = dict(zip(machine.roles, machine.goals(state), strict=True))
        assert winners == [who for who in ended if goals[who] == 100]
        for who in winners:
            ended[who] += 1
    assert min(ended.values()) > 0


def _connected(cells: dict[tuple[str, str], str], who: str) -> bool:
    """Whether `who`'s stones join the two edges: red from row 1 to row 5, blue the columns."""
    axis = 0 if who == "red" else 1
    own = {(int(x), int(y)) for (x, y), colour in cells.items() if colour == who}
    reached = {cell for cell in own if cell[axis] == 1}
    waiting = list(reached)
    while waiting:
        x, y = waiting.pop()
        near = {(x + 1, y), (x - 1, y), (x, y + 1), (x + 1, y + 1), (x, y - 1), (x - 1, y - 1)}
        waiting += (near & own) - reached
        reached |= near & own
    return any(cell[axis] == 5 for cell in reached)
