"""Grounding: the ground rules mean what the rule sheet does; what can't be grounded is an error."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np
import pytest

from gdl.errors import GroundingError, GroundingTimeout
from gdl.grounding import ALWAYS, WAYS, GroundProgram, ground
from gdl.rules import RuleSheet, Term
from gdl.state_machine import JointMove
from tests.naive import NaiveStateMachine, random_playout
from tests.small_sheets import SHEETS, small_sheet, tic_tac_toe

ENDLESS = """
(role r) (init (n zero)) (legal r count) (goal r 100)
(<= (next (n (f ?x ?y))) (true (n ?x)) (true (n ?y)))
(<= terminal (true (n (f (f zero zero) (f zero zero)))))
"""
"""A game of two moves whose rules, taken apart from each other, describe ever more fluents."""


def _ground(text: str, **limits: float) -> GroundProgram:
    return ground(RuleSheet.from_text(text, "x.kif"), seconds=limits.get("seconds", 60.0))


def _rules(program: GroundProgram) -> Iterator[tuple[int, list[int]]]:
    for i, head in enumerate(program.heads.tolist()):
        yield head, program.bodies[program.offsets[i] : program.offsets[i + 1]].tolist()


class _Evaluator:
    """A ground program by recursion over its rules; only for programs without cycles."""

    def __init__(self, program: GroundProgram) -> None:
        self.program = program
        self._bodies: dict[int, list[list[int]]] = {}
        for head, body in _rules(program):
            self._bodies.setdefault(head, []).append(body)

    def holding(
        self, numbers: dict[Term, int], fluents: frozenset[Term], joint_move: JointMove = ()
    ) -> set[Term]:
        """Which of the propositions hold in a state with a joint move made."""
        program = self.program
        known = {ALWAYS: True}
        for fluent, atom in program.fluents.items():
            known[atom] = fluent in fluents
        for role, table in enumerate(program.moves):
            for move, atom in table.items():
                known[atom] = bool(joint_move) and joint_move[role] == move

        def holds(atom: int) -> bool:
            if atom not in known:
                known[atom] = any(
                    all(holds(abs(part)) == (part > 0) for part in body)
                    for body in self._bodies.get(atom, ())
                )
            return known[atom]

        return {term for term, atom in numbers.items() if holds(atom)}


CYCLIC = {"recursion over fluents", "mutual recursion, and a cycle below a negated one"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [name for name in SHEETS if name not in CYCLIC])
def test_ground_rules_mean_what_the_rules_do(name: str, way: str) -> None:
    sheet = small_sheet(name)
    naive, program = NaiveStateMachine(sheet), ground(sheet, seconds=60, ways=[way])
    evaluator = _Evaluator(program)
    assert program.roles == naive.roles
    assert program.initial == naive.fluents(naive.initial_state)
    assert [set(made) for made in program.moves] == [set(legal) for legal in program.legal]
    for seed in range(5):
        for state, joint_move in random_playout(naive, random.Random(seed), 8):
            fluents = naive.fluents(state)
            terminal: dict[Term, int] = (
                {} if program.terminal is None else {"terminal": program.terminal}
            )
            ended = evaluator.holding(terminal, fluents)
            assert bool(ended) == naive.is_terminal(state)
            for role, legal in enumerate(program.legal):
                assert evaluator.holding(legal, fluents) == set(naive.legal_moves(state, role))
            if joint_move:
                following = naive.fluents(naive.next_state(state, joint_move))
                assert evaluator.holding(program.next, fluents, joint_move) == following


def test_fluents_and_moves_are_just_those_in_reach() -> None:
    program = _ground(
        """(role r) (init (at 1)) (s 1 2) (s 2 3) (s 7 8)
        (<= (legal r (go ?y)) (true (at ?x)) (s ?x ?y)) (legal r stay)
        (<= (next (at ?y)) (does r (go ?y))) (<= terminal (true (at 3))) (goal r 1)"""
    )
    assert set(program.fluents) == {("at", "1"), ("at", "2"), ("at", "3")}
    assert set(program.moves[0]) == {"stay", ("go", "2"), ("go", "3")}
    assert set(program.legal[0]) == set(program.moves[0])


def test_what_holds_in_every_state_has_the_number_for_it() -> None:
    program = _ground(
        "(role r) (init a) (legal r x) (goal r 50) (<= (next a) (p 1)) (p 1) (<= terminal (p 1))"
    )
    assert program.legal == ({"x": ALWAYS},)
    assert program.goals == ({"50": ALWAYS},)
    assert program.next == {"a": ALWAYS}
    assert program.terminal == ALWAYS
    assert program.moves[0]["x"] != ALWAYS
    assert program.fluents["a"] != ALWAYS


def test_a_game_that_never_ends_has_no_terminal() -> None:
    program = _ground("(role r) (init a) (legal r x) (goal r 50) (<= terminal (true b))")
    assert program.terminal is None


def test_static_relations_leave_nothing_in_the_rules() -> None:
    program = _ground(
        """(role r) (init (n 1)) (legal r x) (goal r 1) (s 1 2) (s 2 3)
        (<= (less ?a ?b) (s ?a ?b)) (<= (less ?a ?c) (s ?a ?b) (less ?b ?c))
        (<= (next (n ?b)) (true (n ?a)) (less ?a ?b) (not (s ?a ?b)))
        (<= terminal (true (n 3)))"""
    )
    three = program.fluents[("n", "3")]
    rules = [(head, body) for head, body in _rules(program) if body]
    assert (
        rules
        == [
            (program.next[("n", "3")], [program.fluents[("n", "1")]]),
            (program.terminal, [three]),
        ]
        or program.next[("n", "3")] == program.fluents[("n", "1")]
    )
    assert set(program.next) == {("n", "3")}


def test_relations_that_nothing_needs_are_dropped() -> None:
    """`base` and `input` could cost more than all the rest, or be unsafe."""
    needless = """(<= (base (f ?a ?b ?c ?d)) (d ?a) (d ?b) (d ?c) (d ?d))
        (<= (input ?r ?open) (base ?x)) (<= (helper ?x) (base ?x) (true ?x))
        (d 1) (d 2) (d 3)"""
    text = "(role r) (init a) (legal r x) (goal r 1) (<= terminal (true a))"
    lean, loaded = _ground(text), _ground(text + needless)
    assert list(_rules(loaded)) == list(_rules(lean))
    assert loaded.fluents == lean.fluents


def test_base_is_kept_where_a_rule_uses_it() -> None:
    program = _ground(
        """(role r) (base a) (base b) (<= (init ?x) (base ?x)) (legal r x) (goal r 1)
        (<= terminal (true a))"""
    )
    assert program.initial == {"a", "b"}


def test_goal_and_legal_of_what_is_no_role_are_left_out() -> None:
    program = ground(small_sheet("legal and goal of what is no role"))
    assert program.roles == ("r",)
    assert [set(table) for table in program.moves] == [{"x"}]
    assert [set(table) for table in program.legal] == [{"x"}]
    assert [set(table) for table in program.goals] == [{"60"}]
    assert "bad" not in program.fluents


def test_roles_by_facts_come_first_then_those_by_rules_sorted() -> None:
    program = _ground(
        """(p zoe) (p adam) (<= (role ?p) (p ?p)) (role mia) (role bob)
        (legal bob x) (goal bob 1) terminal"""
    )
    assert program.roles == ("mia", "bob", "adam", "zoe")


def test_atom_count_is_above_every_number() -> None:
    for name in SHEETS:
        program = ground(small_sheet(name))
        numbers = [*program.fluents.values(), *program.next.values(), program.terminal or 0]
        for tables in (program.moves, program.legal, program.goals):
            numbers += [atom for table in tables for atom in table.values()]
        numbers += program.heads.tolist() + np.abs(program.bodies).tolist()
        assert program.atom_count == max(numbers) + 1


def test_offsets_frame_the_bodies() -> None:
    program = ground(tic_tac_toe())
    assert program.offsets[0] == 0 and program.offsets[-1] == len(program.bodies)
    assert (np.diff(program.offsets) >= 0).all()
    assert len(program.offsets) == len(program.heads) + 1
    assert (program.heads > 0).all() and (program.bodies != 0).all()


def test_a_variable_named_underscore_is_one_variable() -> None:
    program = _ground(
        """(role r) (init (f a b)) (init (f c c)) (legal r x) (goal r 1)
        (<= (same ?_) (true (f ?_ ?_))) (<= (next (g ?_)) (same ?_)) (<= terminal (same d))"""
    )
    assert set(program.next) == {("g", "c")}


# --------------------------------------------------------------------------------------- errors


def test_unsafe_rules_are_named_with_place_and_variable() -> None:
    with pytest.raises(GroundingError) as caught:
        _ground("(role r)\n(legal r x) (goal r 1) terminal\n  (<= (next ?f) (not (true ?f)))")
    assert str(caught.value).startswith("x.kif:3:3: unsafe rule: ?f occurs in no positive literal")
    assert not isinstance(caught.value, GroundingTimeout)


def test_facts_with_variables_are_unsafe_rules() -> None:
    with pytest.raises(GroundingError, match=r"^x\.kif:1:1: unsafe rule: \?x "):
        _ground("(role ?x) (legal r x) (goal r 1) terminal")


@pytest.mark.parametrize(
    "roles", ["", "(role)", "(<= (role ?x) (player ?x))", "(<= (role r) (true a))"]
)
def test_a_sheet_without_role_is_refused(roles: str) -> None:
    with pytest.raises(GroundingError, match=r"no role; add \(role NAME\) facts"):
        _ground(f"{roles} (legal r x) (goal r 1) (<= terminal (true a))")


def test_endless_grounding_is_stopped_in_time() -> None:
    begin = time.monotonic()
    with pytest.raises(GroundingTimeout, match="longer than 1 s"):
        _ground(ENDLESS, seconds=1)
    assert time.monotonic() - begin < 60  # it ends at all


def test_memory_is_limited() -> None:
    digits = " ".join(f"(d {i})" for i in range(20))
    body = " ".join(f"(d ?{name})" for name in "abcdef")
    sheet = RuleSheet.from_text(
        f"(role r) (legal r x) (goal r 1) {digits} (<= (init (c ?a ?b ?c ?d ?e ?f)) {body})"
    )
    with pytest.raises(GroundingTimeout, match="more than 48 MiB"):
        ground(sheet, seconds=240, memory=48 * 2**20)


def test_alternatives_without_end_are_refused() -> None:
    pairs = " ".join(f"(or (true a{i}) (true b{i}))" for i in range(13))
    with pytest.raises(GroundingError, match="8192 alternatives"):
        _ground(f"(role r) (legal r x) (goal r 1) (<= terminal {pairs})")
