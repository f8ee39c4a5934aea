"""Slow and obvious oracles in plain Python, which stand on nothing but `gdl.rules`.

- `consequences` evaluates rules bottom up, stratum by stratum;
- `NaiveStateMachine` is a `StateMachine` made of it;
- `Prover` evaluates rules top down, for sheets that bottom up would take too long on;
- `random_playout` plays any `StateMachine` at random;
- `random_tic_tac_toe` is the exact distribution of random games of it;
- `truth` evaluates and-inverter gates by recursion.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gdl.rules import (
    ANONYMOUS,
    Clause,
    Literal,
    RuleSheet,
    Term,
    arguments_of,
    is_variable,
    name_of,
    variables_of,
    write_term,
)
from gdl.state_machine import JointMove, Move, State, StateMachine, goal_value, order

Bindings = dict[str, Term]
Known = dict[str, set[Term]]
"""By relation: the atoms that hold."""


# ------------------------------------------------------------------------------------ bottom up


def consequences(clauses: Iterable[Clause], facts: Iterable[Term] = ()) -> Known:
    """All that follows: the clauses are applied until nothing is new, stratum by stratum."""
    known: Known = {}
    for fact in facts:
        known.setdefault(name_of(fact), set()).add(fact)
    for stratum in _strata(list(clauses)):
        growing = True
        while growing:
            found = [atom for clause in stratum for atom in _heads(clause, known)]
            growing = False
            for atom in found:
                own = known.setdefault(name_of(atom), set())
                growing |= atom not in own
                own.add(atom)
    return known


def _strata(clauses: list[Clause]) -> list[list[Clause]]:
    """The clauses in groups, each after those that define what it negates."""
    level = {name_of(clause.head): 0 for clause in clauses}
    for _ in range(len(level) + 1):
        stable = True
        for head, body in clauses:
            for positive, atom in body:
                needed = level.get(name_of(atom), 0) + (not positive)
                if level[name_of(head)] < needed:
                    level[name_of(head)], stable = needed, False
        if stable:
            groups = range(max(level.values(), default=0) + 1)
            return [[c for c in clauses if level[name_of(c.head)] == group] for group in groups]
    raise ValueError("the rules are not stratified")


def _heads(clause: Clause, known: Known) -> Iterator[Term]:
    binding = [lit for lit in clause.body if lit.positive and name_of(lit.atom) != "distinct"]
    tests = [literal for literal in clause.body if literal not in binding]
    for bindings in _solutions([*binding, *tests], known, {}):
        yield _instance(clause.head, bindings)


def _solutions(body: list[Literal], known: Known, bindings: Bindings) -> Iterator[Bindings]:
    if not body:
        yield bindings
        return
    (positive, atom), rest = body[0], body[1:]
    if name_of(atom) == "distinct":
        left, right = (_instance(term, bindings) for term in arguments_of(atom))
        if (left != right) == positive:
            yield from _solutions(rest, known, bindings)
    elif positive:
        for fact in known.get(name_of(atom), ()):
            found = _matched(atom, fact, bindings)
            if found is not None:
                yield from _solutions(rest, known, found)
    elif _instance(atom, bindings) not in known.get(name_of(atom), ()):
        yield from _solutions(rest, known, bindings)


def _matched(pattern: Term, term: Term, bindings: Bindings) -> Bindings | None:
    """The bindings that turn the pattern into the term, added to those there are."""
    if isinstance(pattern, str):
        if pattern == ANONYMOUS:
            return bindings
        if is_variable(pattern) and pattern not in bindings:
            return {**bindings, pattern: term}
        return bindings if bindings.get(pattern, pattern) == term else None
    if isinstance(term, str) or len(term) != len(pattern) or term[0] != pattern[0]:
        return None
    found: Bindings | None = bindings
    for part, value in zip(pattern[1:], term[1:], strict=True):
        found = None if found is None else _matched(part, value, found)
    return found


def _instance(term: Term, bindings: Bindings) -> Term:
    if isinstance(term, str):
        return bindings.get(term, term)
    return (term[0], *(_instance(argument, bindings) for argument in term[1:]))


class NaiveStateMachine(StateMachine):
    """`gdl.state_machine.StateMachine` by `consequences`; states are frozensets of fluents."""

    roles: tuple[Term, ...] = ()
    initial_state: State = None

    def __init__(self, sheet: RuleSheet) -> None:
        self._clauses = list(sheet.clauses())
        start = consequences(self._clauses)
        self.roles = tuple(
            dict.fromkeys([*sheet.roles, *sorted(_values(start, "role"), key=write_term)])
        )
        self.initial_state = _values(start, "init")

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        legal = self._derived(state).get("legal", ())
        return tuple(sorted((atom[2] for atom in legal if atom[1] == self.roles[role]), key=order))

    def next_state(
        self, state: State, joint_move: JointMove, random: random.Random | None = None
    ) -> State:
        return _values(self._derived(state, joint_move), "next")

    def is_terminal(self, state: State) -> bool:
        return bool(self._derived(state).get("terminal"))

    def goals(self, state: State) -> tuple[int, ...]:
        found = self._derived(state).get("goal", set())
        return tuple(goal_value(a[2] for a in found if a[1] == role) for role in self.roles)

    def fluents(self, state: State) -> frozenset[Term]:
        assert isinstance(state, frozenset)
        return state

    def state_from(self, fluents: Iterable[Term]) -> State:
        return frozenset(fluents)

    def close(self) -> None:
        pass

    def _derived(self, state: State, joint_move: JointMove = ()) -> Known:
        facts: list[Term] = [("true", fluent) for fluent in self.fluents(state)]
        pairs = zip(self.roles, joint_move, strict=False)
        facts += [("does", role, move) for role, move in pairs]
        return consequences(self._clauses, facts)


def _values(known: Known, relation: str) -> frozenset[Term]:
    return frozenset(atom[1] for atom in known.get(relation, ()))


def random_playout(
    machine: StateMachine, rng: random.Random, limit: int = 500
) -> list[tuple[State, JointMove]]:
    """The states of a random game, each with the joint move made in it (`()` in the last)."""
    state = machine.initial_state
    path: list[tuple[State, JointMove]] = []
    while not machine.is_terminal(state) and len(path) < limit:
        moves = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        joint_move = tuple(map(rng.choice, moves))
        path.append((state, joint_move))
        state = machine.next_state(state, joint_move)
    return [*path, (state, ())]


Outcomes = dict[tuple[int, tuple[int, int]], float]
"""(joint moves, goals of x and o) → probability."""


def random_tic_tac_toe() -> Outcomes:
    """How games of tic-tac-toe end when all free squares are equally likely, exactly."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    outcomes: Outcomes = {}
    boards = {"." * 9: 1.0}
    for length in range(10):
        following: dict[str, float] = {}
        for board, probability in boards.items():
            winner = next(
                (p for p in "xo" if any(all(board[i] == p for i in line) for line in lines)), ""
            )
            free = [i for i in range(9) if board[i] == "."]
            if winner or not free:
                goals = {"x": (100, 0), "o": (0, 100), "": (50, 50)}[winner]
                key = (length, goals)
                outcomes[key] = outcomes.get(key, 0.0) + probability
                continue
            for i in free:
                after = board[:i] + "xo"[length % 2] + board[i + 1 :]
                following[after] = following.get(after, 0.0) + probability / len(free)
        boards = following
    return outcomes


def mean_and_deviation(outcomes: Outcomes, value: int | None) -> tuple[float, float]:
    """Of the games' lengths (value None) or of a role's goals (value its number)."""
    pairs = [(n if value is None else goals[value], p) for (n, goals), p in outcomes.items()]
    mean = sum(x * p for x, p in pairs)
    return mean, sum((x - mean) ** 2 * p for x, p in pairs) ** 0.5


# ------------------------------------------------------------------------------------- top down


class Prover:
    """Top-down evaluation of a rule sheet in a state, rule by rule, nothing remembered."""

    def __init__(self, sheet: RuleSheet) -> None:
        self.roles = sheet.roles
        self._renamings = 0
        self._rules: dict[str, list[Clause]] = {}
        self._facts: dict[str, dict[Term, None]] = {}
        for clause in sheet.clauses():
            if clause.body:
                self._rules.setdefault(name_of(clause.head), []).append(clause)
            else:
                self._facts.setdefault(name_of(clause.head), {})[clause.head] = None

    def all(self, query: Term, state: frozenset[Term] = frozenset(), *does: Term) -> set[Term]:
        """What `?answer` may stand for in the query."""
        self._facts["true"] = dict.fromkeys(("true", fluent) for fluent in state)
        pairs = zip(self.roles, does, strict=False)
        self._facts["does"] = dict.fromkeys(("does", role, move) for role, move in pairs)
        return {_value("?answer", bindings) for bindings in self._prove([query], {})}

    def legal(self, state: frozenset[Term]) -> list[set[Term]]:
        """Every role's legal moves."""
        return [self.all(("legal", role, "?answer"), state) for role in self.roles]

    def goals(self, state: frozenset[Term]) -> list[set[Term]]:
        """Every role's goal values, which should be one."""
        return [self.all(("goal", role, "?answer"), state) for role in self.roles]

    def is_terminal(self, state: frozenset[Term]) -> bool:
        """Whether `terminal` holds."""
        return bool(self.all("terminal", state))

    def _prove(self, atoms: list[Term], bindings: Bindings) -> Iterator[Bindings]:
        if not atoms:
            yield bindings
            return
        atom, rest = atoms[0], atoms[1:]
        if name_of(atom) == "distinct":
            left, right = arguments_of(atom)
            proofs = iter([bindings] if _value(left, bindings) != _value(right, bindings) else [])
        elif name_of(atom) == "not":
            provable = any(True for _ in self._prove([atom[1]], bindings))
            proofs = iter([] if provable else [bindings])
        else:
            proofs = self._resolve(atom, bindings)
        for proof in proofs:
            yield from self._prove(rest, proof)

    def _resolve(self, atom: Term, bindings: Bindings) -> Iterator[Bindings]:
        atom = _value(atom, bindings)
        facts = self._facts.get(name_of(atom), {})
        if atom in facts:
            yield bindings
        elif any(True for _ in variables_of(atom)):
            for fact in facts:
                found: Bindings = {}
                if _unify(atom, fact, found):
                    yield bindings | found
        for head, body in self._rules.get(name_of(atom), ()):
            self._renamings += 1
            tag = f"#{self._renamings}"
            found = {}
            if _unify(atom, _renamed(head, tag), found):
                goals = [_goal(literal, tag) for literal in body]
                yield from self._prove(goals, bindings | found)


def _goal(literal: Literal, tag: str) -> Term:
    atom = _renamed(literal.atom, tag)
    return atom if literal.positive else ("not", atom)


def _renamed(term: Term, tag: str) -> Term:
    if isinstance(term, str):
        return term + tag if is_variable(term) else term
    return (term[0], *(_renamed(argument, tag) for argument in term[1:]))


def _value(term: Term, bindings: Bindings) -> Term:
    while isinstance(term, str) and term in bindings:
        term = bindings[term]
    if isinstance(term, str):
        return term
    return (term[0], *(_value(argument, bindings) for argument in term[1:]))


def _unify(left: Term, right: Term, bindings: Bindings) -> bool:
    while isinstance(left, str) and left in bindings:
        left = bindings[left]
    while isinstance(right, str) and right in bindings:
        right = bindings[right]
    for variable, other in ((left, right), (right, left)):
        if isinstance(variable, str) and is_variable(variable):
            if variable != other:
                bindings[variable] = other
            return True
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    return (
        len(left) == len(right)
        and left[0] == right[0]
        and all(_unify(a, b, bindings) for a, b in zip(left[1:], right[1:], strict=True))
    )


# ---------------------------------------------------------------------------------------- gates


def truth(literal: int, gates: Mapping[int, Sequence[int]], sources: Mapping[int, bool]) -> bool:
    """The value of a literal: node 0 is false, `sources` have values, gates are conjunctions."""
    node, inverted = divmod(int(literal), 2)
    if node == 0:
        value = False
    elif node in sources:
        value = sources[node]
    else:
        value = all(truth(part, gates, sources) for part in gates[node])
    return value != bool(inverted)
