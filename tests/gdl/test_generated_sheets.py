"""Random stratified rule sheets: reader, both ways of grounding, network and reasoners agree.

A sheet is made of a few fluents, moves and helper relations over constants.  Relations come in
strata: a body uses its own stratum (recursion) and lower ones positively, and lower ones negated.
Whatever variables a rule has are bound by a relation that lists what they may stand for, so that
all rules are safe and all recursion ends; function terms are one deep.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gdl import kif
from gdl.formatting import format_text
from gdl.grounding import WAYS, GroundProgram, ground
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from gdl.state_machine import JointMove, State, StateMachine
from gdl.validation import check_rules
from propnet import network as network_module
from propnet.machine import PropnetStateMachine
from propnet.network import Network, compile_network
from propnet.sources import Sources
from tests.naive import NaiveStateMachine

Relation = tuple[str, int]
"""Name and number of arguments."""
Relations = tuple[Relation, ...]

CONSTANTS = ("a", "b")
DOMAIN = (*CONSTANTS, "(k a)")
"""What a variable may stand for."""
VARIABLES = ("?x", "?y")
FLUENTS: Relations = (("f", 1), ("g", 2), ("h", 0))
MOVES: Relations = (("go", 1), ("put", 2))
STATIC: Relations = (("e", 2), ("m", 1))
"""Given by facts."""
STRATA: tuple[Relations, ...] = ((("s1", 1), ("s2", 2)), (("t1", 0), ("t2", 2)), (("u1", 1),))
LATE_STRATA: tuple[Relations, ...] = ((("v1", 1), ("v2", 2)), (("w1", 0),))
"""Those that look at the joint move, for `next` only."""
GOALS = (("100", "0"), ("50",), ("30", "70", "?x"), ())
STEPS = 4


def _atom(name: str, *arguments: str) -> str:
    return f"({' '.join((name, *arguments))})" if arguments else name


class _Author:
    """Writes one rule sheet; what to write next comes from hypothesis's dice."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.lines: list[str] = []

    def sheet(self) -> str:
        """A sheet in which every role always has the move `wait`."""
        self.lines += ["(role r) (role s) (legal r wait) (legal s wait)"]
        self.lines += [f"(dom {term})" for term in DOMAIN]
        for name, arity in STATIC:
            self._facts("{}", name, arity, 1)
        for name, arity in FLUENTS:
            self._facts("(init {})", name, arity, 1)
        lower = STATIC
        for stratum in STRATA:
            self._define("{}", stratum, stratum, lower, False)
            lower += stratum
        self._define(f"(legal {self._dice.choice('rs')} {{}})", MOVES, (), lower, False)
        self._rule("terminal", (), lower, False, least=3)
        for role in "rs":
            for value in self._dice.choice(GOALS):
                self._rule(f"(goal {role} {value})", (), lower, False)
        for stratum in LATE_STRATA:
            self._define("{}", stratum, stratum, lower, True)
            lower += stratum
        self._define("(next {})", FLUENTS, (), lower, True)
        self._dice.shuffle(self.lines)
        return "\n".join(self.lines)

    def _facts(self, form: str, name: str, arity: int, least: int) -> None:
        for _ in range(self._dice.randint(least, 2)):
            arguments = (self._dice.choice(CONSTANTS) for _ in range(arity))
            self.lines.append(form.format(_atom(name, *arguments)))

    def _define(
        self, form: str, relations: Relations, own: Relations, lower: Relations, moves: bool
    ) -> None:
        """A few rules for each relation."""
        for name, arity in relations:
            for _ in range(self._dice.randint(1, 3)):
                arguments = (self._dice.choice(("a", *VARIABLES * 2)) for _ in range(arity))
                self._rule(form.format(_atom(name, *arguments)), own, lower, moves)

    def _rule(
        self, head: str, own: Relations, lower: Relations, moves: bool, least: int = 1
    ) -> None:
        count = self._dice.choice((least, 2, 3))
        body = [self._literal(own, lower, moves) for _ in range(count)]
        used = head + " ".join(body)
        body += [f"(dom {variable})" for variable in VARIABLES if variable in used]
        body += ["(role ?p)"] if "?p" in used else []
        self._dice.shuffle(body)
        self.lines.append(f"(<= {head} {' '.join(body)})")

    def _literal(self, own: Relations, lower: Relations, moves: bool, depth: int = 0) -> str:
        """Positive, negated, `distinct`, or a connective of such."""
        kind = self._dice.choice(["yes"] * 5 + ["not", "not", "distinct", "or", "or", "nor", "and"])
        if kind == "not":
            return f"(not {self._positive(lower, moves)})"
        if kind == "distinct":
            return f"(distinct {self._term()} {self._term()})"
        if kind == "yes" or depth == 2:
            return self._positive(lower + own, moves)
        if kind == "nor":  # there is no recursion through negation
            own = ()
        parts = " ".join(self._literal(own, lower, moves, depth + 1) for _ in range(2))
        return f"(not (or {parts}))" if kind == "nor" else f"({kind} {parts})"

    def _positive(self, usable: Relations, moves: bool) -> str:
        """What a body may ask: the state, the moves where allowed, a relation."""
        kind = self._dice.choice(["true", "relation", *(["does"] if moves else [])])
        table = {"true": FLUENTS, "does": MOVES, "relation": usable}[kind]
        if kind == "relation":  # the latest are the most alive
            table = table[-self._dice.randint(1, len(table)) :]
        name, arity = self._dice.choice(table)
        atom = _atom(name, *(self._term() for _ in range(arity)))
        if kind == "does":
            return f"(does {self._dice.choice(['r', 's', '?p'])} {atom})"
        return f"(true {atom})" if kind == "true" else atom

    def _term(self) -> str:
        """A constant or a variable, now and then inside a function."""
        inner = self._dice.choice(CONSTANTS + VARIABLES * 2)
        return f"(k {inner})" if self._dice.random() < 0.05 else inner


rule_sheets = st.randoms(use_true_random=False).map(lambda dice: _Author(dice).sheet())
"""Random rule sheets, as text."""


# ------------------------------------------------------------------------------------- agreement


def _play(machine: StateMachine, seed: int) -> list[tuple[State, JointMove]]:
    """A random game of a few steps; goes on from a terminal initial state, to see something."""
    rng, state = random.Random(seed), machine.initial_state
    path: list[tuple[State, JointMove]] = []
    while len(path) < STEPS and (not path or not machine.is_terminal(state)):
        moves = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        path.append((state, tuple(map(rng.choice, moves))))
        state = machine.next_state(*path[-1])
    return [*path, (state, ())]


def _view(machine: StateMachine, state: State) -> tuple[object, ...]:
    """Everything that can be asked about a state."""
    legal = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
    return machine.is_terminal(state), machine.goals(state), machine.fluents(state), legal


def _assert_same_game(first: StateMachine, others: list[StateMachine], text: str) -> None:
    """Everything that can be asked, along two random games of the first machine."""
    for seed in range(2):
        states = [machine.initial_state for machine in others]
        for state, joint_move in _play(first, seed):
            expected = _view(first, state)
            for i, machine in enumerate(others):
                assert machine.roles == first.roles
                assert _view(machine, states[i]) == expected, (i, text)
                if joint_move:
                    states[i] = machine.next_state(states[i], joint_move)


def _with_passes(program: GroundProgram, *inline: bool) -> Network:
    """The network with only these of the passes that make the gates again."""
    sources = Sources.of(program)
    gates, outputs = network_module._factored(program, sources)
    for value in inline:
        gates, outputs = network_module._pass(gates, outputs, value)
    found = network_module._with_wins(sources, gates, outputs)
    return network_module._arranged(program, sources, *found)


def _networks(sheet: RuleSheet) -> Iterator[Network]:
    """By each way of grounding; and without passes, with each of them alone."""
    plain, asked = (ground(sheet, seconds=60, ways=(way,)) for way in WAYS)
    yield compile_network(plain)
    yield compile_network(asked)
    for passes in ((), (True,), (False,)):
        yield _with_passes(plain, *passes)


def _assert_all_agree(text: str) -> None:
    sheet = RuleSheet.from_text(text)
    machines: list[StateMachine] = [PropnetStateMachine(n) for n in _networks(sheet)]
    with closing(PrologStateMachine(sheet)) as prolog:
        _assert_same_game(NaiveStateMachine(sheet), [prolog, *machines], text)


def _few(examples: int) -> settings:
    """Settings for tests that take their time over an example: too much to look for smaller ones.

    Give `phases` its default to have a sheet on which something fails made smaller.
    """
    return settings(
        max_examples=examples,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow],
    )


@given(rule_sheets)
@_few(20)
def test_all_machines_play_the_same_game(text: str) -> None:
    _assert_all_agree(text)


@pytest.mark.slow
@given(rule_sheets)
@_few(60)
def test_all_machines_play_the_same_game_of_many(text: str) -> None:
    _assert_all_agree(text)


@given(rule_sheets)
@_few(50)
def test_writing_and_formatting_keep_what_was_read(text: str) -> None:
    written = "\n".join(map(kif.write, kif.read(kif.Source(text))))
    assert "\n".join(map(kif.write, kif.read(kif.Source(written)))) == written
    rules = [(rule.head, rule.body) for rule in RuleSheet.from_text(text).rules]
    for again in (written, format_text(text)):
        assert [(rule.head, rule.body) for rule in RuleSheet.from_text(again).rules] == rules


@given(rule_sheets)
@_few(50)
def test_the_validator_finds_no_error(text: str) -> None:
    """They are safe, stratified and end; what else is odd about them are warnings."""
    errors = {finding.code for finding in check_rules(text, "x") if finding.severity == "error"}
    assert errors <= {"missing-goal"}, (errors, text)  # which is none to the reasoners
