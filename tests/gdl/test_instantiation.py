"""Instantiation against clingo's grounder, and its parts one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from gdl.errors import GroundingTimeout
from gdl.grounding import needed
from gdl.instantiation.engine import Instances, Instantiation
from gdl.instantiation.memory import EXHAUSTED, LENGTH, append, extend, new_memory
from gdl.instantiation.plan_code import Functor
from gdl.instantiation.terms import begin, find, intern
from gdl.magic_sets import possible, with_magic_sets
from gdl.rules import Clause, Literal, RuleSheet
from ggp_agent.library.games import Game, games
from tests.gringo import gringo
from tests.small_sheets import SHEETS, small_sheet

MEMORY = 2**28


def _clauses(text: str) -> list[Clause]:
    return list(RuleSheet.from_text(text).clauses())


def _instances(
    text: str, choices: str = "", relations: Iterable[Functor] = (), memory: int = MEMORY
) -> Instances:
    work = Instantiation(_clauses(text), _clauses(choices) if choices else [], memory)
    for _ in work.run():
        pass
    return work.result(relations)


def _named(instances: Instances) -> dict[str, list[set[str]]]:
    """The rules by name, of atoms without arguments."""
    names = {
        number: functor[0] for functor, atoms in instances.atoms.items() for _, number, _ in atoms
    }
    found: dict[str, list[set[str]]] = {}
    for head, (low, high) in zip(
        instances.heads.tolist(), itertools.pairwise(instances.offsets.tolist()), strict=True
    ):
        body = {("-" if x < 0 else "") + names[abs(x)] for x in instances.bodies[low:high].tolist()}
        found.setdefault(names[head], []).append(body)
    return found


OUTPUT = [("init", 1), ("true", 1), ("next", 1), ("does", 2), ("legal", 2), ("goal", 2)]


def _frame(fluents: str, moves: str) -> list[Clause]:
    def choice(head: tuple[str, ...], *body: tuple[str, ...]) -> Clause:
        return Clause(head, tuple(Literal(True, atom) for atom in body))

    return [
        choice(("true", "?f"), ("init", "?f")),
        choice(("true", "?f"), (fluents, "?f")),
        choice(("does", "?r", "?m"), (moves, "?r", "?m"), ("role", "?r")),
    ]


def _assert_like_gringo(sheet: RuleSheet) -> None:
    plain = needed(sheet.clauses())
    guarded = list(with_magic_sets(plain))
    for clauses, choices in (
        (plain, _frame("next", "legal")),
        (guarded, _frame(possible("true"), possible("does"))),
    ):
        relations = [*OUTPUT, ("terminal", 0)]
        work = Instantiation(clauses, choices, MEMORY)
        for _ in work.run():
            pass
        ours = work.result(relations).atoms
        theirs = gringo(clauses, choices, relations)
        for relation in relations:
            certain = {arguments: known for arguments, _, known in ours[relation]}
            assert certain.keys() == theirs[relation].keys(), relation
            # gringo may not see that something always holds, but never the other way round
            assert all(certain[a] for a, fact in theirs[relation].items() if fact), relation


@pytest.mark.parametrize("name", SHEETS)
def test_small_sheets_like_gringo(name: str) -> None:
    _assert_like_gringo(small_sheet(name))


@pytest.mark.parametrize("game", games()[:8], ids=lambda game: game.key)
def test_own_games_like_gringo(game: Game) -> None:
    _assert_like_gringo(game.rule_sheet())


def test_static_relations_leave_no_rules() -> None:
    found = _instances(
        "(s 1 2) (s 2 3) (<= (less ?a ?b) (s ?a ?b)) (<= (less ?a ?c) (s ?a ?b) (less ?b ?c))"
        "(<= (far ?a ?b) (less ?a ?b) (not (s ?a ?b)))",
        relations=[("less", 2), ("far", 2)],
    )
    assert {arguments for arguments, *_ in found.atoms["less", 2]} == {
        ("1", "2"), ("2", "3"), ("1", "3"),
    }  # fmt: skip
    assert [(arguments, certain) for arguments, _, certain in found.atoms["far", 2]] == [
        (("1", "3"), True)
    ]
    assert len(found.heads) == len(found.bodies) == 0


def test_literals_that_always_hold_are_left_out_of_bodies() -> None:
    found = _instances(
        "(fact) (domain) (<= head a fact (not never) (not b))",
        "(<= a domain) (<= b domain)",
        [("head", 0), ("a", 0), ("b", 0)],
    )
    assert _named(found) == {"head": [{"a", "-b"}]}


def test_what_turns_out_certain_later_is_removed_from_rules_written_before() -> None:
    """In a cycle `p` is used before it is known to be certain; `q` before it is known to fail."""
    found = _instances(
        "domain (<= p a) (<= r p) (<= r (not p) a) (<= p r domain) (<= a s) (<= s domain)"
        "(<= p s) (<= s p)",
        "(<= c domain)",
        [("p", 0), ("r", 0), ("a", 0), ("s", 0)],
    )
    assert all(certain for atoms in found.atoms.values() for _, _, certain in atoms)
    assert len(found.heads) == 0


def test_each_instance_is_found_once() -> None:
    """Two recursive literals in one body: neither new pairs nor old ones come twice."""
    edges = " ".join(f"(d {i} {i + 1})" for i in range(6))
    found = _instances(
        f"{edges} (<= (t ?a ?b) (e ?a ?b)) (<= (t ?a ?c) (t ?a ?b) (t ?b ?c))",
        "(<= (e ?a ?b) (d ?a ?b))",
        [("t", 2)],
    )
    assert len(found.atoms["t", 2]) == 21
    rules = [
        (head, tuple(sorted(found.bodies[low:high].tolist())))
        for head, (low, high) in zip(
            found.heads.tolist(), itertools.pairwise(found.offsets.tolist()), strict=True
        )
    ]
    assert (
        len(rules)
        == len(set(rules))
        == 6 + sum(n * (7 - n) for n in range(2, 7)) - sum(7 - n for n in range(2, 7))
    )


def test_nested_terms_are_taken_apart_and_built() -> None:
    found = _instances(
        "(p (f (g a b) c)) (p (f (g a a) a)) (p (f x c)) (p b)"
        "(<= (q (h ?y (g ?x ?x))) (p (f (g ?x ?y) ?z)) (distinct (g ?x ?y) (g ?z ?z)))"
        "(<= (r ?x) (p (f (g ?x ?x) ?x)))",
        relations=[("q", 1), ("r", 1)],
    )
    assert {arguments for arguments, *_ in found.atoms["q", 1]} == {(("h", "b", ("g", "a", "a")),)}
    assert {arguments for arguments, *_ in found.atoms["r", 1]} == {("a",)}


def test_a_run_can_be_interrupted_at_any_row(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "(d 1) (d 2) (d 3) (d 4) (<= (p ?a ?b ?c) (d ?a) (d ?b) (d ?c) (distinct ?a ?b))"
    whole = _instances(text, relations=[("p", 3)])
    monkeypatch.setattr("gdl.instantiation.engine.SLICE", 1)
    work = Instantiation(_clauses(text), [], MEMORY)
    assert sum(1 for _ in work.run()) > 50
    assert work.result([("p", 3)]).atoms == whole.atoms


def test_memory_is_limited_wherever_it_ends() -> None:
    """Whatever the last straw is, it is an error and nothing else."""
    digits = " ".join(f"(d {i})" for i in range(30))
    text = f"{digits} (<= (p (f ?a ?b) ?c) (d ?a) (d ?b) (d ?c))"
    for kibibytes in range(0, 1024, 60):
        with pytest.raises(GroundingTimeout, match="more than"):
            _instances(text, memory=1024 * kibibytes)
    assert len(_instances(text, relations=[("p", 2)]).atoms["p", 2]) == 27_000


def test_regions_keep_their_content_when_they_move() -> None:
    memory = new_memory(10_000, 3)
    for number in range(1000):
        append(memory, 0, number)
        append(memory, 2, -number)
    assert memory.content(0).tolist() == list(range(1000))
    assert memory.content(2).tolist() == [-n for n in range(1000)]
    assert memory.regions[1, LENGTH] == 0
    assert extend(memory, 1, 10_000) == -1 and memory.state[EXHAUSTED]


def test_equal_terms_have_equal_numbers() -> None:
    memory = new_memory(2**20, 7)
    arity = np.array([0, 0, 2], np.int32)
    begin(memory, arity, np.array([0, 1], np.int32))
    numbers = {}
    for left, right in itertools.product(range(1, 60), repeat=2):
        numbers[left, right] = intern(memory, arity, 2, np.array([left, right], np.int32))
    assert len(set(numbers.values())) == len(numbers) == 59 * 59
    for (left, right), number in numbers.items():
        arguments = np.array([left, right], np.int32)
        assert find(memory, 2, arguments, 2) == number
        assert intern(memory, arity, 2, arguments) == number
    assert find(memory, 2, np.array([10**6, 1], np.int32), 2) == 0
