"""From rules with variables to ground rules, by clingo's grounder (gringo).

A rule sheet becomes an answer-set program in which the fluents and the moves are choices:

    {true(F)} :- init(F).    {true(F)} :- next(F).    {does(R,M)} :- legal(R,M), role(R).

so that the grounder derives just the fluents and moves that play can reach, evaluates every
relation that depends on neither (`succ`, `index` ...) away, and leaves ground rules over
propositions.  What no role, init, legal, next, goal or terminal needs is not even handed over.

The grounder (`gdl.gringo`) runs in a process that is killed when its time is up.
"""

from __future__ import annotations

import math
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gdl.demand import demand_driven, possible
from gdl.encoding import ASP, KEYWORD_RELATIONS, Encoder
from gdl.errors import GroundingError, GroundingTimeout
from gdl.rules import Clause, RuleSheet, Term, arguments_of, name_of, variables_of, write_term
from gdl.splitting import split_clauses

NEEDED_RELATIONS = frozenset(KEYWORD_RELATIONS) - {"true", "does"}

WAYS = ("as they are", "on demand")
"""The ways of grounding, in the order in which they are tried."""

ALWAYS = 0
"""The atom number of what holds in every state."""

SECOND_AFTER = 0.5
"""Seconds after which the second way of grounding is started beside the first."""

GROUNDER_BYTES = 2 * 2**30
"""Address space that is enough for a grounder of any public rule sheet; two may be at work."""

_FRAME = """\
{{true(F)}} :- init(F).
{{true(F)}} :- {fluents}(F).
{{does(R,M)}} :- {moves}(R,M), role(R).
#show role/1. #show init/1. #show true/1. #show next/1.
#show does/2. #show legal/2. #show goal/2. #show terminal/0.
"""


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
    memory: int = 0,
    ways: Sequence[str] = WAYS,
) -> GroundProgram:
    """Ground a rule sheet within `seconds` of time and `memory` bytes (0: no limit).

    Two ways are tried, the second when the first has taken `SECOND_AFTER` seconds: the rules as
    they are (with long bodies split), and only what is asked for (`gdl.demand`).  Whichever is
    done first gives the result; they describe the same game.  `ways` restricts them.

    Raises `GroundingTimeout` when the budget is used up, `GroundingError` when the rules can't be
    grounded at all (unsafe rules, endless terms within the budget, no role).
    """
    clauses = _needed(rule_sheet.clauses())
    encoders = {way: Encoder(ASP) for way in ways}
    makers = {
        "as they are": lambda encoder: _program(clauses, encoder, "next", "legal"),
        "on demand": lambda encoder: _program(
            demand_driven(clauses), encoder, possible("true"), possible("does")
        ),
    }
    programs = [partial(makers[way], encoders[way]) for way in ways]
    try:
        winner, text = _race(programs, seconds, memory)
    except GroundingTimeout:
        raise
    except GroundingError:
        check_safety(rule_sheet)  # says it in the sheet's own words, and where
        raise
    return _read_aspif(text, encoders[ways[winner]], rule_sheet.roles)


def _program(clauses: Iterable[Clause], encoder: Encoder, fluents: str, moves: str) -> str:
    """The text for the grounder; `fluents` and `moves` are the relations that name them all."""
    frame = _FRAME.format(fluents=encoder.relation(fluents), moves=encoder.relation(moves))
    return "\n".join(map(encoder.clause, split_clauses(clauses))) + "\n" + frame


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


def _needed(clauses: Iterable[Clause]) -> list[Clause]:
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


def _race(ways: Sequence[Callable[[], str]], seconds: float | None, memory: int) -> tuple[int, str]:
    """Ground the programs that `ways` make, side by side; the first result and whose it is."""
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    results: queue.SimpleQueue[tuple[int, str | GroundingError]] = queue.SimpleQueue()
    grounders: list[_Grounder] = []
    failures: list[GroundingError] = []
    try:
        while True:
            if len(grounders) < len(ways):
                number = len(grounders)
                grounders.append(_Grounder(ways[number](), memory))
                grounders[-1].start(number, results.put)
            last = len(grounders) == len(ways)
            wait = deadline - time.monotonic()
            wait = wait if last else min(wait, SECOND_AFTER)
            try:
                winner, found = results.get(timeout=None if wait == math.inf else max(0.0, wait))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                raise GroundingTimeout(f"grounding took longer than {seconds:g} s") from None
            if isinstance(found, str):
                return winner, found
            failures.append(found)
            if len(failures) == len(ways):
                raise failures[0]
    finally:
        for grounder in grounders:
            grounder.kill()


class _Grounder:
    """A grounder process at work on one program."""

    def __init__(self, program: str, memory: int) -> None:
        self._program, self._memory = program, memory
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gdl.gringo", str(memory), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, number: int, done: Callable[[tuple[int, str | GroundingError]], None]) -> None:
        """Feed the process; its output, or what went wrong, comes from another thread."""
        threading.Thread(target=lambda: done((number, self._outcome())), daemon=True).start()

    def _outcome(self) -> str | GroundingError:
        output, errors = self._process.communicate(self._program)
        code = self._process.returncode
        if code == 0:
            return output
        if self._memory and ("bad_alloc" in errors or "MemoryError" in errors):
            return GroundingTimeout(f"grounding needed more than {self._memory / 2**20:.0f} MiB")
        reason = " ".join(errors.split()) or f"the grounder ended with {code}"
        return GroundingError(f"the grounder refused the rules: {reason[:400]}")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


_RULE, _SHOW = "1 ", "4 "


def _read_aspif(text: str, encoder: Encoder, roles_in_order: tuple[Term, ...]) -> GroundProgram:
    """Read gringo's intermediate format: rules `1 choice n heads 0 n body`, names `4 ...`."""
    rule_lines, names, conditions = [], [], []
    for line in text.splitlines():
        if line.startswith(_RULE):
            rule_lines.append(line)
        elif line.startswith(_SHOW):
            _, _, name, condition = line.split(" ", 3)
            names.append(name)
            conditions.append(condition)
    heads, offsets, bodies = _rules_from(rule_lines)
    shown: dict[str, dict[Term, int]] = {relation: {} for relation in KEYWORD_RELATIONS}
    for atom, condition in zip(encoder.decode(names), conditions, strict=True):
        number = ALWAYS if condition == "0" else int(condition.split(" ", 1)[1])
        shown[name_of(atom)][atom] = number
    return _assemble(shown, roles_in_order, heads, offsets, bodies)


def _rules_from(
    lines: list[str],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Heads, offsets and bodies of the rules that are not choices and have one head."""
    flat = np.array(" ".join(lines).split(), dtype=np.int32)
    lengths = np.array([line.count(" ") + 1 for line in lines], dtype=np.int64)
    starts = np.zeros(len(lines), dtype=np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    plain = (flat[starts + 1] == 0) & (flat[starts + 2] == 1) if len(lines) else np.zeros(0, bool)
    starts, lengths = starts[plain], lengths[plain]
    counts = lengths - 6  # "1 0 1 head 0 n" comes before the body
    offsets = np.zeros(len(starts) + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    bodies = flat[np.repeat(starts + 6, counts) + inside]
    return flat[starts + 3], offsets, bodies


def _assemble(
    shown: dict[str, dict[Term, int]],
    roles_in_order: tuple[Term, ...],
    heads: NDArray[np.int32],
    offsets: NDArray[np.int32],
    bodies: NDArray[np.int32],
) -> GroundProgram:
    derived = {atom[1] for atom in shown["role"]}
    roles = tuple(r for r in roles_in_order if r in derived)
    roles += tuple(sorted(derived - set(roles), key=write_term))
    if not roles:
        raise GroundingError("the rules name no role; add (role NAME) facts")

    def per_role(relation: str) -> tuple[dict[Term, int], ...]:
        tables: tuple[dict[Term, int], ...] = tuple({} for _ in roles)
        number = {role: i for i, role in enumerate(roles)}
        for fact, atom in shown[relation].items():
            role, value = arguments_of(fact)
            if role in number:  # sheets exist whose goal and legal name things that are no role
                tables[number[role]][value] = atom
        return tables

    legal = per_role("legal")
    moves = tuple(  # on demand, some are only thought possible
        {move: atom for move, atom in made.items() if move in allowed}
        for made, allowed in zip(per_role("does"), legal, strict=True)
    )
    return GroundProgram(
        roles=roles,
        initial=frozenset(atom[1] for atom in shown["init"]),
        fluents={atom[1]: number for atom, number in shown["true"].items()},
        moves=moves,
        next={atom[1]: number for atom, number in shown["next"].items()},
        legal=legal,
        goals=per_role("goal"),
        terminal=shown["terminal"].get("terminal"),
        heads=heads,
        offsets=offsets,
        bodies=bodies,
    )
