"""From rules with variables to ground rules.

The fluents and the moves become choices:

    {true(F)} :- init(F).    {true(F)} :- next(F).    {does(R,M)} :- legal(R,M), role(R).

so that instantiation (`gdl.instantiation`) derives just the fluents and moves that play can reach,
evaluates every relation that depends on neither (`succ`, `index` ...) away, and leaves ground rules
over propositions.  What no role, init, legal, next, goal or terminal needs is left out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GroundingError, GroundingTimeout
from gdl.instantiation.engine import Instantiation
from gdl.magic_sets import possible, with_magic_sets
from gdl.path_histories import without_path_histories
from gdl.rules import (
    Clause,
    Literal,
    RuleSheet,
    Term,
    name_of,
    variables_of,
    write_term,
)
from gdl.splitting import split_clauses

log = logging.getLogger(__name__)

NEEDED_RELATIONS = frozenset({"role", "init", "next", "legal", "goal", "terminal"})

WAYS = ("as they are", "magic sets")
"""The ways of grounding, in the order in which they are tried."""

ALWAYS = 0
"""The atom number of what holds in every state."""

GROUNDER_BYTES = 2**30
"""Memory that is enough for any public rule sheet and more; two ways may be at work."""

SECONDS_BETWEEN_REPORTS = 2.0

_OUTPUT = {
    "role": 1, "init": 1, "true": 1, "next": 1, "does": 2, "legal": 2, "goal": 2, "terminal": 0
}  # fmt: skip
"""The relations that a game is made of, and their number of arguments."""


@dataclass(frozen=True, slots=True)
class GroundProgram:
    """Ground rules over numbered atoms.

    Rule i says: atom `heads[i]` holds where all of `bodies[offsets[i]:offsets[i + 1]]` hold; -a in
    a body is the negation of atom a.  An atom that heads no rule is false unless it is a fluent or
    a move.  Atom numbers are positive; `ALWAYS` (0) stands for what is true in every state.
    """

    roles: tuple[Term, ...]
    initial: frozenset[Term]
    """the fluents of the initial state"""
    fluents: dict[Term, int]
    """fluent → atom that is its truth in the current state"""
    moves: tuple[dict[Term, int], ...]
    """per role: move → atom that says the role makes it"""
    next: dict[Term, int]
    legal: tuple[dict[Term, int], ...]
    goals: tuple[dict[Term, int], ...]
    """per role: goal value → atom"""
    terminal: int | None
    """None where the game never ends"""
    heads: NDArray[np.int32]
    """(rules,)"""
    offsets: NDArray[np.int32]
    """(rules + 1,)"""
    bodies: NDArray[np.int32]
    """(literals,)"""

    @property
    def atom_count(self) -> int:
        """One more than the highest atom number."""
        highest = 0
        if len(self.heads):
            highest = max(highest, int(self.heads.max()))
        if len(self.bodies):
            highest = max(highest, int(np.abs(self.bodies).max()))
        for numbers in (self.fluents, self.next, *self.moves, *self.legal, *self.goals):
            highest = max(highest, max(numbers.values(), default=0))
        return max(highest, self.terminal or 0) + 1


def ground(
    rule_sheet: RuleSheet,
    *,
    seconds: float | None = None,
    memory: int = GROUNDER_BYTES,
    ways: Sequence[str] = WAYS,
) -> GroundProgram:
    """Ground a rule sheet within `seconds` of time and `memory` bytes for each way.

    Two ways are tried, the second where the first takes long, and then in turns: the rules as they
    are (with long bodies split), and only what is asked for (`gdl.magic_sets`).  Whichever is done
    first gives the result; they describe the same game.  `ways` restricts them.  Which one is
    first depends on the work that it takes, not on the time: the result is always the same.

    Raises `GroundingTimeout` when the budget is used up, `GroundingError` when the rules can't be
    grounded at all (unsafe rules, endless terms within the budget, no role).
    """
    clauses = needed(without_path_histories(needed(rule_sheet.clauses())))
    makers: dict[str, Callable[[], Instantiation]] = {
        "as they are": lambda: _instantiation(clauses, "next", "legal", memory),
        "magic sets": lambda: _instantiation(
            with_magic_sets(clauses), possible("true"), possible("does"), memory
        ),
    }
    try:
        done = _race([makers[way] for way in ways], seconds)
    except GroundingTimeout:
        raise
    except GroundingError:
        check_safety(rule_sheet)  # says it in the sheet's own words, and where
        raise
    return _assemble(done, rule_sheet.roles)


def _instantiation(
    clauses: Iterable[Clause], fluents: str, moves: str, memory: int
) -> Instantiation:
    """The program to instantiate; `fluents` and `moves` are the relations that name them all."""

    def choice(head: Term, *body: Term) -> Clause:
        return Clause(head, tuple(Literal(True, atom) for atom in body))

    choices = [
        choice(("true", "?f"), ("init", "?f")),
        choice(("true", "?f"), (fluents, "?f")),
        choice(("does", "?r", "?m"), (moves, "?r", "?m"), ("role", "?r")),
    ]
    return Instantiation(list(split_clauses(clauses)), choices, memory)


def _race(ways: Sequence[Callable[[], Instantiation]], seconds: float | None) -> Instantiation:
    """Instantiate in turns by each of the `ways`; the first that is done."""
    begin = time.monotonic()
    reported = begin
    running: list[tuple[Instantiation, Iterator[None]]] = []
    waiting = list(ways)
    failures: list[GroundingError] = []
    while True:
        if waiting:
            made = waiting.pop(0)()
            running.append((made, made.run()))
        for entry in list(running):
            made, steps = entry
            try:
                next(steps)
            except StopIteration:
                return made
            except GroundingError as error:
                failures.append(error)
                running.remove(entry)
            now = time.monotonic()
            if seconds is not None and now - begin >= seconds:
                raise GroundingTimeout(f"grounding took longer than {seconds:g} s")
            if now - reported >= SECONDS_BETWEEN_REPORTS:
                reported = now
                counts = " and ".join(f"{made.rules:,}" for made, _ in running)
                log.info("grounding for %.0f s: %s rules so far", now - begin, counts)
        if not running and not waiting:
            raise failures[0]


def check_safety(rule_sheet: RuleSheet) -> None:
    """Every variable of the head, of `not` and of `distinct` must occur in a positive literal."""
    for rule in rule_sheet.rules:
        for clause in rule.clauses():
            bound = {
                variable
                for positive, atom in clause.body
                if positive and name_of(atom) != "distinct"
                for variable in variables_of(atom)
            }
            atoms = [clause.head, *(atom for _, atom in clause.body)]
            for variable in (v for atom in atoms for v in variables_of(atom)):
                if variable not in bound:
                    raise GroundingError(
                        f"{rule.location}: unsafe rule: {variable} occurs in no positive literal "
                        f"of the body of {write_term(clause.head)}"
                    )


def needed(clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses on which the state machine depends (`base` and `input`, say, are not)."""
    by_relation: dict[str, list[Clause]] = {}
    for clause in clauses:
        by_relation.setdefault(name_of(clause.head), []).append(clause)
    needed, waiting = set(NEEDED_RELATIONS), list(NEEDED_RELATIONS)
    while waiting:
        for clause in by_relation.get(waiting.pop(), ()):
            used = {name_of(atom) for _, atom in clause.body} - needed
            needed |= used
            waiting += used
    return [clause for name, own in by_relation.items() if name in needed for clause in own]


def _assemble(done: Instantiation, roles_in_order: tuple[Term, ...]) -> GroundProgram:
    instances = done.result(_OUTPUT.items())
    derived = {arguments[0] for arguments, *_ in instances.atoms["role", 1]}
    roles = tuple(r for r in roles_in_order if r in derived)
    roles += tuple(sorted(derived - set(roles), key=write_term))
    if not roles:
        raise GroundingError("the rules name no role; add (role NAME) facts")

    def unary(relation: str) -> dict[Term, int]:
        found = instances.atoms[relation, 1]
        return {fact[0]: ALWAYS if certain else atom for fact, atom, certain in found}

    def per_role(relation: str) -> tuple[dict[Term, int], ...]:
        tables: tuple[dict[Term, int], ...] = tuple({} for _ in roles)
        number = {role: i for i, role in enumerate(roles)}
        for (role, value), atom, certain in instances.atoms[relation, 2]:
            if role in number:  # sheets exist whose goal and legal name things that are no role
                tables[number[role]][value] = ALWAYS if certain else atom
        return tables

    legal = per_role("legal")
    moves = tuple(  # on demand, some are only thought possible
        {move: atom for move, atom in made.items() if move in allowed}
        for made, allowed in zip(per_role("does"), legal, strict=True)
    )
    ends = [ALWAYS if certain else atom for _, atom, certain in instances.atoms["terminal", 0]]
    return GroundProgram(
        roles=roles,
        initial=frozenset(unary("init")),
        fluents=unary("true"),
        moves=moves,
        next=unary("next"),
        legal=legal,
        goals=per_role("goal"),
        terminal=ends[0] if ends else None,
        heads=instances.heads,
        offsets=instances.offsets,
        bodies=instances.bodies,
    )
