"""What rules mean: one small sheet per line of GDL's semantics, the same game by both reasoners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet, read_term, write_term
from gdl.state_machine import State, StateMachine
from ggp_agent.agents import find_agent
from ggp_agent.errors import GameError
from ggp_agent.manager.match_setup import MatchSetup
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.runner import run_match
from ggp_agent.mind.search_factory import make_thinker
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.manager.fake_players import FakePlayer

REASONERS: dict[str, Callable[[RuleSheet], StateMachine]] = {
    "prolog": PrologStateMachine,
    "propnet": lambda sheet: PropnetStateMachine.from_rules(sheet, seconds=60),
}


@dataclass(frozen=True)
class Position:
    """A state of a game, with everything in it as text."""

    machine: StateMachine
    state: State

    @property
    def roles(self) -> str:
        return " ".join(map(write_term, self.machine.roles))

    def legal(self, role: int = 0) -> str:
        """A role's legal moves; constants come first, numbers by value."""
        return " ".join(map(write_term, self.machine.legal_moves(self.state, role)))

    @property
    def fluents(self) -> str:
        return " ".join(sorted(map(write_term, self.machine.fluents(self.state))))

    @property
    def terminal(self) -> bool:
        return self.machine.is_terminal(self.state)

    @property
    def goals(self) -> tuple[int, ...]:
        return self.machine.goals(self.state)

    def after(self, *moves: str) -> Position:
        """The position after a joint move."""
        following = self.machine.next_state(self.state, tuple(map(read_term, moves)))
        return Position(self.machine, following)


Game = Callable[[str], Position]


@pytest.fixture(params=REASONERS)
def game(request: pytest.FixtureRequest) -> Iterator[Game]:
    """Makes the initial position of a rule sheet, by one reasoner and by the other."""
    machines: list[StateMachine] = []

    def initial(text: str) -> Position:
        machines.append(REASONERS[request.param](RuleSheet.from_text(text)))
        return Position(machines[-1], machines[-1].initial_state)

    yield initial
    for machine in machines:
        machine.close()


ENDLESS_GAME = "(role r) (goal r 1) (<= terminal (true over)) "
"""A frame for sheets that are about legal moves and the next state."""


# ------------------------------------------------------------------------------------ connectives


def test_or_and_and_may_be_nested_in_each_other(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init a) (init b) (p 1) (p 2) (p 3)
        (<= (legal r (pick ?x))
            (p ?x)
            (or (and (true a) (or (and (true b) (distinct ?x 2)) (true c)))
                (and (true c) (true d))))
        (legal r noop)
        (<= (next a) (true a)) (<= (next c) (does r (pick ?x)))
        (<= (next d) (or (or (true c) (true d)) (and (true e) (true e))))"""
    )
    assert start.legal() == "noop (pick 1) (pick 3)"
    only_a = start.after("noop")
    assert (only_a.fluents, only_a.legal()) == ("a", "noop")
    a_and_c = start.after("(pick 3)")
    assert (a_and_c.fluents, a_and_c.legal()) == ("a c", "noop (pick 1) (pick 2) (pick 3)")
    assert a_and_c.after("(pick 2)").fluents == "a c d"


@pytest.mark.parametrize("fluents", ["", "a", "b", "c", "a b", "a c", "b c", "a b c"])
def test_not_of_compound_bodies(game: Game, fluents: str) -> None:
    given = " ".join(f"(init {fluent})" for fluent in fluents.split())
    start = game(
        f"(role r) (init z) {given} (goal r 1) (<= terminal (true over))"
        """(legal r noop)
        (<= (legal r neither) (not (or (true a) (true b))))
        (<= (legal r notboth) (not (and (true a) (true b))))
        (<= (legal r deep) (not (or (and (true a) (not (true b))) (not (or (true c) (true b))))))
        (<= (next a) (does r noop))"""
    )
    a, b, c = ("a" in fluents, "b" in fluents, "c" in fluents)
    expected = {
        "deep": not ((a and not b) or not (c or b)),
        "neither": not (a or b),
        "noop": True,
        "notboth": not (a and b),
    }
    assert start.legal() == " ".join(name for name, holds in expected.items() if holds)


def test_not_of_not_is_the_formula_and_binds_nothing_wrong(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init (f 1)) (n 1) (n 2) (n 3)
        (<= (legal r ?x) (n ?x) (not (not (true (f ?x)))))
        (<= (legal r (three ?x)) (n ?x) (not (not (not (true (f ?x))))))
        (<= (next (f 2)) (not (not (does r 1))))
        (<= (next (f 3)) (not (not (or (does r (three 2)) (does r (three 3))))))"""
    )
    assert start.legal() == "1 (three 2) (three 3)"
    assert start.after("1").fluents == "(f 2)"
    assert start.after("(three 3)").fluents == "(f 3)"


def test_or_and_and_without_operands(game: Game) -> None:
    """Nothing holds in an empty `or`, and an empty `and` asks for nothing."""
    start = game(
        ENDLESS_GAME
        + """(<= (legal r never) (or)) (<= (legal r always) (and)) (<= (legal r too) (not (or)))
        (<= (legal r nor) (not (and))) (<= (next f) (or (and) (or)))"""
    )
    assert start.legal() == "always too"
    assert start.after("too").fluents == "f"


def test_a_rule_without_a_body_is_a_fact(game: Game) -> None:
    start = game("(<= (role r)) (<= (init a)) (<= (legal r x)) (<= (goal r 9)) (<= terminal)")
    assert (start.roles, start.fluents, start.terminal, start.goals) == ("r", "a", True, (9,))


def test_distinct_anywhere(game: Game) -> None:
    """First in the body, in `or`, in `not`, in both, between function terms and constants."""
    start = game(
        ENDLESS_GAME
        + """(n 1) (n 2) (n 3) (init (f (g 1))) (init (f (g 2))) (init (f 3))
        (<= (legal r (first ?x ?y)) (distinct ?x ?y) (n ?x) (n ?y) (distinct ?y 3))
        (<= (legal r (in ?x)) (or (distinct ?x 2) (true none)) (n ?x))
        (<= (legal r (no ?x)) (not (distinct ?x 2)) (n ?x))
        (<= (legal r (nor ?x ?y)) (n ?x) (n ?y) (not (or (distinct ?x ?y) (distinct ?y 1))))
        (<= (legal r (term ?x)) (true (f ?x)) (distinct ?x (g 1)))
        (<= (legal r (half ?x)) (true (f ?x)) (n ?n) (not (distinct ?x (g ?n))))
        (<= (legal r same) (distinct a a)) (<= (legal r other) (distinct a b))"""
    )
    assert start.legal() == (
        "other (first 1 2) (first 2 1) (first 3 1) (first 3 2) (half (g 1)) (half (g 2)) "
        "(in 1) (in 3) (no 2) (nor 1 1) (term 3) (term (g 2))"
    )


# ------------------------------------------------------------------------------------------ names


def test_a_constant_in_parentheses_is_the_constant(game: Game) -> None:
    start = game(
        """(role (r)) (init (a)) (init b) (n (1))
        (<= (legal r (go)) (true a)) (<= (legal (r) (to ?x)) (true (b)) (n ?x))
        (<= (next b) (does r go)) (<= (next (a)) (does (r) (to 1)))
        (<= (terminal) (not (true (a)))) (<= (goal r 10) (not (terminal))) (<= (goal r 20) terminal)
        """
    )
    assert (start.roles, start.fluents, start.legal()) == ("r", "a b", "go (to 1)")
    assert (start.terminal, start.goals) == (False, (10,))
    ended = start.after("(go)")
    assert (ended.fluents, ended.terminal, ended.goals) == ("b", True, (20,))
    assert start.after("(to (1))").fluents == "a"


def test_moves_and_fluents_may_be_functions_without_arguments(game: Game) -> None:
    start = game(
        """(role r) (init (ready)) (<= (legal r (fire)) (true (ready))) (legal r (wait))
        (<= (next (fired)) (does r (fire))) (<= (next (ready)) (does r (wait)))
        (<= terminal (true (fired))) (<= (goal r 100) (true fired)) (<= (goal r 0) (true ready))"""
    )
    assert (start.fluents, start.legal(), start.goals) == ("ready", "fire wait", (0,))
    assert start.after("(wait)").state == start.after("wait").state == start.state
    fired = start.after("fire")
    assert (fired.fluents, fired.terminal, fired.goals) == ("fired", True, (100,))


def test_one_name_for_a_relation_a_function_a_constant_and_a_role(game: Game) -> None:
    start = game(
        """(role cell) (cell 1) (cell 2) (init (cell 1)) (init cell) (cell cell)
        (<= (legal cell (cell ?x)) (cell ?x) (not (true (cell ?x))))
        (<= (next (cell ?x)) (does cell (cell ?x)))
        (<= (next legal) (true cell)) (<= (cell 3 4) (true legal)) (<= terminal (cell 3 4))
        (<= (goal cell 70) (cell 3 4) (cell 2)) (<= (goal cell 0) (not (cell 3 4)))"""
    )
    assert start.legal() == "(cell 2) (cell cell)"
    second = start.after("(cell cell)")
    assert (second.fluents, second.terminal, second.goals) == ("(cell cell) legal", True, (70,))


def test_keywords_in_any_case(game: Game) -> None:
    start = game(
        """(ROLE Red) (Init (Cell A)) (INIT b) (SUCC a c) (suCC c D)
        (<= (LEGAL red (GO ?X)) (TRUE (cell ?x)) (DISTINCT ?X c)
            (OR (True B) (AND (nOT (true b)) (Not (OR (true (cell a)))))))
        (<= (legal RED stay) (TRUE (CELL C)))
        (<= (NEXT (cell ?Y)) (DOES Red (go ?y0)) (Succ ?y0 ?y))
        (<= (next (CELL ?y)) (does red STAY) (true (cell ?x)) (succ ?x ?y))
        (<= TERMINAL (true (cell d))) (<= (GOAL red 100) Terminal) (<= (goal red 1) (NOT terminal))
        """
    )
    assert (start.fluents, start.legal()) == ("(cell a) b", "(go a)")
    second = start.after("(GO A)")
    assert (second.fluents, second.legal(), second.goals) == ("(cell c)", "stay", (1,))
    assert second.after("Stay").goals == (100,)


def test_numbers_are_symbols_negative_ones_too(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init (t -1)) (init (t 01)) (dec 1 0) (dec 0 -1) (dec -1 -2)
        (<= (legal r ?y) (true (t ?x)) (dec ?x ?y)) (<= (legal r 1) (true (t 01)))
        (<= (legal r (- 1)) (not (true (t 1)))) (legal r -)
        (<= (next (t ?x)) (does r ?x)) (<= (next (t +1)) (does r -))"""
    )
    assert (start.fluents, start.legal()) == ("(t -1) (t 01)", "- -2 1 (- 1)")
    assert start.after("-2").fluents == "(t -2)"
    assert start.after("1").legal() == "- 0"
    assert start.after("-").fluents == "(t +1) (t -)"


def test_terms_nested_25_deep(game: Game) -> None:
    def deep(inner: str, depth: int = 25) -> str:
        return "(s " * depth + inner + ")" * depth

    start = game(
        ENDLESS_GAME
        + f"""(init {deep("a")}) (init {deep("b")}) (<= (legal r ?x) (true {deep("?x")}))
        (<= (legal r (same ?x)) (true ?x) (not (distinct ?x {deep("b")})))
        (<= (next {deep("?m")}) (does r ?m))"""
    )
    assert start.legal() == f"a b (same {deep('b')})"
    assert start.after("b").fluents == deep("b")
    assert start.after(f"(same {deep('b')})").fluents == deep(f"(same {deep('b')})")


# -------------------------------------------------------------------------------------- recursion


def test_left_recursion(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init (e 1 2)) (init (e 2 3)) (init (e 3 2)) (init (e 4 1))
        (<= (path ?x ?z) (path ?x ?y) (true (e ?y ?z))) (<= (path ?x ?y) (true (e ?x ?y)))
        (<= (legal r (go ?x ?y)) (path ?x ?y)) (<= (next (e ?x ?y)) (does r (go ?x ?y)))"""
    )
    assert start.legal() == " ".join(
        f"(go {pair})" for pair in ("1 2", "1 3", "2 2", "2 3", "3 2", "3 3", "4 1", "4 2", "4 3")
    )
    assert start.after("(go 4 3)").legal() == "(go 4 3)"


def test_mutual_recursion(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init (at 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4)
        (<= (even ?x) (true (at ?x))) (<= (even ?y) (odd ?x) (s ?x ?y))
        (<= (odd ?y) (even ?x) (s ?x ?y))
        (<= (legal r (even ?x)) (even ?x)) (<= (legal r (odd ?x)) (odd ?x))
        (<= (next (at ?x)) (does r (odd ?x))) (<= (next (at ?x)) (does r (even ?x)))"""
    )
    assert start.legal() == "(even 0) (even 2) (even 4) (odd 1) (odd 3)"
    assert start.after("(odd 3)").legal() == "(even 3) (odd 4)"


def test_recursion_through_functions_that_takes_terms_apart(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(suffix (c a (c b (c a nil)))) (suffix (c b (c a nil))) (suffix (c a nil)) (suffix nil)
        (init (list (c a (c b (c a nil))))) (s 0 1) (s 1 2) (s 2 3) (length nil 0)
        (<= (length (c ?h ?t) ?n) (suffix (c ?h ?t)) (length ?t ?m) (s ?m ?n))
        (<= (legal r (is ?n)) (true (list ?l)) (length ?l ?n))
        (<= (legal r (cut ?t)) (true (list (c ?h ?t))))
        (<= (next (list ?t)) (does r (cut ?t)))"""
    )
    assert start.legal() == "(cut (c b (c a nil))) (is 3)"
    assert start.after("(cut (c b (c a nil)))").legal() == "(cut (c a nil)) (is 2)"


def test_recursion_through_functions_that_builds_bounded_terms(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(bound zero) (bound (s zero)) (bound (s (s zero))) (init (n zero))
        (<= (up ?x) (true (n ?x))) (<= (up (s ?x)) (up ?x) (bound (s ?x)))
        (<= (legal r ?x) (up ?x)) (<= (next (n ?x)) (does r ?x))"""
    )
    assert start.legal() == "zero (s zero) (s (s zero))"
    assert start.after("(s zero)").legal() == "(s zero) (s (s zero))"


@pytest.mark.parametrize("body", ["(up (s ?x)) (bound ?x)", "(bound ?x) (up (s ?x))"])
def test_recursion_through_functions_is_bounded_by_any_literal(game: Game, body: str) -> None:
    """Whichever is written first: what is larger than all bounds is never asked for."""
    start = game(
        ENDLESS_GAME
        + f"""(bound zero) (bound (s zero)) (init (n (s (s zero)))) (init (n (s (s (s (s zero))))))
        (<= (up ?x) (true (n ?x))) (<= (up ?x) {body})
        (<= (legal r ?x) (up ?x)) (<= (next (n ?x)) (does r ?x))"""
    )
    assert start.legal() == "zero (s zero) (s (s zero)) (s (s (s (s zero))))"
    assert start.after("(s zero)").legal() == "zero (s zero)"


def test_a_cycle_of_ground_rules_holds_only_if_something_outside_supports_it(game: Game) -> None:
    """The least fixpoint: the stones of a ring don't hold each other in the air."""
    start = game(
        """(role r) (init (stone 1)) (init (stone 2)) (init (stone 3)) (init (post 2))
        (ring 1 2) (ring 2 3) (ring 3 1) (ring 2 1) (ring 3 2) (ring 1 3)
        (<= (held ?x) (true (stone ?x)) (true (post ?x)))
        (<= (held ?x) (true (stone ?x)) (ring ?x ?y) (held ?y))
        (<= (legal r (take ?x)) (true (stone ?x))) (<= (legal r (fell ?x)) (true (post ?x)))
        (<= (next (stone ?x)) (held ?x) (not (does r (take ?x))))
        (<= (next (post ?x)) (true (post ?x)) (not (does r (fell ?x))))
        (<= terminal (not (held 1)) (not (held 2)) (not (held 3)))
        (<= (goal r 100) (held 1) (held 3)) (<= (goal r 0) (not (held 3)))"""
    )
    assert (start.terminal, start.goals) == (False, (100,))
    unsupported = start.after("(fell 2)")
    assert unsupported.fluents == "(stone 1) (stone 2) (stone 3)"
    assert (unsupported.terminal, unsupported.goals) == (True, (0,))
    bridged = start.after("(take 3)").after("(take 2)")
    assert (bridged.fluents, bridged.terminal) == ("(post 2) (stone 1)", True)


def test_a_cycle_of_ground_rules_over_moves(game: Game) -> None:
    start = game(
        ENDLESS_GAME
        + """(init b) (legal r push) (legal r rest)
        (<= x1 (does r push)) (<= x1 x2) (<= x2 x1 (true b)) (<= x2 x3) (<= x3 x2)
        (<= (next three) x3) (<= (next b) (not x1))"""
    )
    assert start.after("rest").fluents == "b"
    assert start.after("push").fluents == "three"
    assert start.after("push").after("push").fluents == ""


def test_negation_by_strata(game: Game) -> None:
    """Each stratum is settled before its negation is read, static or not."""
    start = game(
        ENDLESS_GAME
        + """(n 1) (n 2) (n 3) (n 4) (edge 1 2) (edge 2 1) (edge 3 4) (init (block 4))
        (<= (linked ?x ?y) (edge ?x ?y)) (<= (linked ?x ?z) (linked ?x ?y) (edge ?y ?z))
        (<= (free ?x) (n ?x) (not (linked ?x ?x)) (not (true (block ?x))))
        (<= (lonely ?x) (n ?x) (not (free ?x)) (not (linked ?x 1)))
        (<= quiet (not busy)) (<= busy (lonely ?x) (not (true (block ?x))))
        (<= (legal r (free ?x)) (free ?x)) (<= (legal r (lonely ?x)) (lonely ?x))
        (<= (legal r rest) quiet) (legal r noop)
        (<= (next (block 3)) (does r (free 3)))"""
    )
    assert start.legal() == "noop rest (free 3) (lonely 4)"
    assert start.after("noop").legal() == "noop rest (free 3) (free 4)"
    assert start.after("(free 3)").legal() == "noop rest (free 4) (lonely 3)"


# --------------------------------------------------------------- what the rules say of the game


def test_goal_and_legal_in_bodies(game: Game) -> None:
    start = game(
        """(role a) (role b) (init (n a 0)) (init (n b 0)) (s 0 40) (s 40 80) (s 80 100)
        (<= (legal ?r up) (true (n ?r ?x)) (s ?x ?y)) (<= (legal ?r wait) (role ?r))
        (<= (legal b copy) (legal a up) (not (goal a 0)))
        (<= (next (n ?r ?y)) (does ?r up) (true (n ?r ?x)) (s ?x ?y))
        (<= (next (n b ?x)) (does b copy) (goal a ?x))
        (<= (next (n ?r ?x)) (does ?r wait) (goal ?r ?x))
        (<= (goal ?r ?x) (true (n ?r ?x)))
        (<= terminal (goal ?r 100)) (<= terminal (not (legal b up)))"""
    )
    assert (start.legal(0), start.legal(1), start.goals) == ("up wait", "up wait", (0, 0))
    second = start.after("up", "wait")
    assert (second.legal(1), second.goals) == ("copy up wait", (40, 0))
    third = second.after("up", "copy")
    assert (third.goals, third.terminal) == ((80, 40), False)
    assert third.after("up", "wait").terminal


def test_computed_goal_values(game: Game) -> None:
    start = game(
        """(role a) (role b) (init (has a 2)) (init (has b 1))
        (worth 0 0) (worth 1 25) (worth 2 50) (worth 3 75) (less 3 2) (less 2 1) (less 1 0)
        (<= (legal ?r give) (true (has ?r ?n)) (less ?n ?m)) (<= (legal ?r keep) (role ?r))
        (<= (next (has ?r ?m)) (does ?r give) (does ?o keep) (true (has ?r ?n)) (less ?n ?m))
        (<= (next (has ?o ?m)) (does ?r give) (does ?o keep) (true (has ?o ?n)) (less ?m ?n))
        (<= (goal ?r ?v) (true (has ?r ?n)) (worth ?n ?v)) (<= terminal (true (has ?r 0)))"""
    )
    assert start.goals == (50, 25)
    richer = start.after("keep", "give")
    assert (richer.goals, richer.terminal) == ((75, 0), True)


def test_goals_that_are_missing_several_or_not_integers(game: Game) -> None:
    """See `gdl.state_machine.goal_value`: none and nonsense count as 0, of several the highest."""
    start = game(
        """(role missing) (role several) (role word) (role high) (role negative) (role mixed)
        (role fraction) (role padded) (init a) (<= (legal ?r x) (role ?r))
        (<= (goal missing 50) (true b)) (goal several 30) (goal several 70) (goal several 0)
        (goal word win) (goal word (100 points)) (goal high 101) (goal negative -5)
        (goal mixed much) (goal mixed 12) (goal mixed 1000) (goal fraction 99.5) (goal padded 042)
        (<= (next b) (true a)) (<= terminal (true b))"""
    )
    assert start.goals == (0, 70, 0, 0, 0, 12, 0, 42)
    ended = start.after(*["x"] * 8)
    assert (ended.terminal, ended.goals) == (True, (50, 70, 0, 0, 0, 12, 0, 42))


def test_roles_defined_by_rules(game: Game) -> None:
    """Facts come first, in their order; then what the rules add, sorted."""
    start = game(
        """(team red sue) (team red ann) (team blue joe) (role zed)
        (<= (role ?p) (team ?t ?p) (distinct ?t blue)) (init (turn sue))
        (<= (legal ?p go) (true (turn ?p))) (<= (legal ?p wait) (role ?p) (not (true (turn ?p))))
        (<= (legal joe go)) (<= (next (turn ann)) (does sue go)) (<= terminal (true (turn ann)))
        (<= (goal ?p 60) (role ?p))"""
    )
    assert start.roles == "zed ann sue"
    assert [start.legal(role) for role in range(3)] == ["wait", "wait", "go"]
    ended = start.after("wait", "wait", "go")
    assert (ended.fluents, ended.terminal, ended.goals) == ("(turn ann)", True, (60, 60, 60))


def test_no_init(game: Game) -> None:
    start = game(
        """(role r) (<= (legal r wake) (not (true awake))) (<= (next awake) (does r wake))
        (<= terminal (true awake)) (<= (goal r 5) (true awake))"""
    )
    assert (start.fluents, start.legal(), start.terminal, start.goals) == ("", "wake", False, (0,))
    assert start.after("wake").goals == (5,)


def test_no_next(game: Game) -> None:
    start = game("(role r) (init a) (legal r x) (<= terminal (not (true a))) (goal r 33)")
    assert (start.after("x").fluents, start.after("x").terminal) == ("", True)


def test_init_by_rules(game: Game) -> None:
    start = game(
        """(role r) (role s) (n 1) (n 2) (<= (init (cell ?x ?y)) (n ?x) (n ?y) (distinct ?x ?y))
        (<= (init (hand ?r)) (role ?r)) (<= (legal ?r x) (role ?r)) (<= (goal ?r 1) (role ?r))
        (<= terminal (true nothing))"""
    )
    assert start.fluents == "(cell 1 2) (cell 2 1) (hand r) (hand s)"


@pytest.mark.parametrize("end", ["terminal", "(<= terminal (true a))", "(<= terminal (goal r 8))"])
def test_an_initial_state_that_is_terminal(game: Game, end: str) -> None:
    start = game(f"(role r) (init a) {end} (goal r 8) (<= (legal r x) (true b))")
    assert (start.terminal, start.goals) == (True, (8,))


def test_a_game_that_never_ends(game: Game) -> None:
    start = game("(role r) (init a) (legal r x) (<= (next a) (true a)) (goal r 8)")
    assert not start.terminal
    assert start.after("x").state == start.state


# ----------------------------------------------------------- roles without moves, and of chance

STUCK = """
(role Left) (role Right) (init (Step 1)) (legal Left go)
(<= (legal Right go) (true (step 1))) (<= (next (step 2)) (true (step 1)))
(<= terminal (true (step 3))) (goal left 1) (goal right 2)
"""

DICE = """
(role random) (role better) (init fresh) (side 1) (side 2) (side 3) (side 4)
(<= (legal random (roll ?n)) (side ?n) (true fresh))
(<= (legal better bet) (true fresh)) (<= (legal better pass) (true fresh))
(<= (next won) (does random (roll 1)) (does better bet))
(<= (next passed) (does better pass))
(<= terminal (not (true fresh)))
(<= (goal better 100) (true won)) (<= (goal better 50) (true passed))
(<= (goal better 0) (not (true won)) (not (true passed)))
(<= (goal random 100) (true won)) (<= (goal random 0) (not (true won)))
"""
"""Betting pays once in four times, unless one takes `random` for somebody who wants to help."""


async def _match(sheet: RuleSheet, machine: StateMachine, players: int, seed: int) -> MatchRecord:
    setup = MatchSetup(
        match_id="m",
        game="tiny",
        game_url="http://localhost/games/tiny/v0/",
        sheet=sheet,
        machine=machine,
        start_clock=10,
        play_clock=10,
        seed=seed,
    )
    return await run_match(setup, [FakePlayer(machine, sheet) for _ in range(players)])


def test_a_role_without_a_legal_move(game: Game) -> None:
    start = game(STUCK)
    stuck = start.after("go", "go")
    assert (stuck.legal(0), stuck.legal(1), stuck.terminal) == ("go", "", False)


@pytest.mark.parametrize("reasoner", REASONERS)
def test_the_manager_says_which_role_has_no_legal_move_in_which_state(reasoner: str) -> None:
    sheet = RuleSheet.from_text(STUCK)
    with closing(REASONERS[reasoner](sheet)) as machine, pytest.raises(GameError) as caught:
        asyncio.run(_match(sheet, machine, players=2, seed=1))
    assert "role Right has no legal move in state 1, ( ( Step 2 ) )" in str(caught.value)


@pytest.mark.parametrize("reasoner", REASONERS)
def test_the_manager_plays_for_random(reasoner: str) -> None:
    sheet = RuleSheet.from_text(DICE)
    with closing(REASONERS[reasoner](sheet)) as machine:
        records = [asyncio.run(_match(sheet, machine, players=1, seed=s)) for s in range(30)]
    rolls = {record.moves[0][0] for record in records}
    assert rolls == {f"( roll {n} )" for n in "1234"}  # missing one: once in 1400 seeds
    assert {record.moves[0][1] for record in records} == {"bet"}
    assert all(not any(map(any, record.errors)) for record in records)


@pytest.mark.parametrize("reasoner", REASONERS)
def test_the_search_takes_random_for_chance(reasoner: str) -> None:
    agent = find_agent("uct").with_settings(["simulations=600", "memory=16"])
    with closing(REASONERS[reasoner](RuleSheet.from_text(DICE))) as machine:
        thinker = make_thinker(machine, 1, agent, seed=1)
        thinker.enter(machine.initial_state, None)
        thinker.think(time.monotonic() + 1e6, lambda: False)
        assert thinker.choose() == "pass"
