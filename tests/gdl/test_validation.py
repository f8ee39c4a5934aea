"""The validator: every code with its place, good sheets without findings, public sheets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import GgpError
from gdl.rules import RuleSheet
from gdl.validation import ERRORS, MAX_FINDINGS, WARNINGS, Finding, check_rules

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("GGP_RULESHEETS", ROOT.parent / "shared" / "rulesheets"))
OWN_SHEETS = sorted(ROOT.glob("games/*/*.kif"))
SHARED_SHEETS = sorted(SHARED.rglob("*.kif")) if SHARED.is_dir() else []

REST = "(role p) (legal p m) (goal p 100) terminal"
"""What every game needs, on the line after the rules of a case."""

BROKEN = {
    # parentheses: the only finding
    "open list": ("(role x)\n(<= terminal\n    (a b", "syntax 3:5"),
    "open rule": ("(<= terminal (a)\n(role x)\n(role y)", "syntax 1:1"),
    "closed twice": ("(role x)\n(legal x a))\n(", "syntax 2:12"),
    "too deep": ("(" * 300, "syntax 1:201"),
    # structure
    "empty list": ("(<= (a) ())\n(<= terminal a)", "empty-list 1:9"),
    "empty fact": ("()", "empty-list 1:1"),
    "empty term": ("(init (cell ()))", "empty-list 1:13"),
    "list of lists": ("(<= terminal ((a) (b)))", "list-without-name 1:14"),
    "fact of lists": ("((role q))", "list-without-name 1:1"),
    "term of lists": ("(init ((a) b))", "list-without-name 1:7"),
    "two slips in one rule": (
        "(<= terminal ()\n  ((a)))",
        "empty-list 1:14, list-without-name 2:3",
    ),
    "no head": ("(<=)", "rule-without-head 1:1"),
    "bare arrow": ("<= terminal", "stray-symbol 1:1"),
    "bare variable": ("\n ?x", "stray-symbol 2:2"),
    "bare connective": ("OR", "stray-symbol 1:1"),
    "lost parenthesis": ("(<= terminal true (f))", "keyword-arity 1:14, undefined-relation 1:20"),
    "arrow in a body": (
        "(<= terminal (true a)\n(<= (next a) (true a)))",
        "undefined-fluent 1:20, misplaced-connective 2:2",
    ),
    "arrow as head": ("(<= <= terminal)", "connective-outside-body 1:5"),
    "bare connective in a body": (
        "(init a)\n(<= terminal or (true a))",
        "misplaced-connective 2:14",
    ),
    "connective as fact": ("(and a b)", "connective-outside-body 1:2"),
    "connective as head": ("(<= (not a) (role p))", "connective-outside-body 1:6"),
    "connective in a term": ("(init (f (OR a b)))", "connective-outside-body 1:11"),
    "not of two": ("(<= terminal (not (true a) (true b)))", "connective-arity 1:14"),
    "not of nothing": ("(<= terminal (not))", "connective-arity 1:14"),
    "distinct of one": ("(<= terminal (distinct a))", "connective-arity 1:14"),
    "distinct of three": ("(<= terminal\n (distinct a b c))", "connective-arity 2:2"),
    "variable as literal": ("(<= terminal ?x)", "variable-as-formula 1:14"),
    "variable under not": ("(<= terminal (not ?x))", "variable-as-formula 1:19"),
    "variable as head": ("(<= ?x (role p))", "variable-as-formula 1:5"),
    "variable as relation": ("(<= terminal (?x a))", "variable-as-name 1:15"),
    "variable as function": ("(init (?f a))", "variable-as-name 1:8"),
    # keywords
    "role of two": ("(role q r)", "keyword-arity 1:2"),
    "terminal of one": ("(<= (terminal now) (role p))", "keyword-arity 1:6"),
    "goal of one": ("(<= (goal ?p) (role ?p))", "keyword-arity 1:6"),
    "does without role": ("(init a)\n(<= (next a) (does m))", "keyword-arity 2:15"),
    "true of two": ("(init a)\n(<= terminal (TRUE a b))", "keyword-arity 2:15"),
    "upper-case keyword": (
        "(LEGAL p)",
        "keyword-arity 1:2, inconsistent-capitals 2:11",
    ),
    "keyword as function": ("(init (cell (true a)))", "keyword-as-function 1:14"),
    "next inside init": ("(init (next a))", "keyword-as-function 1:8"),
    "true as fact": ("(true a)", "keyword-in-head 1:2"),
    "does as head": ("(<= (does ?p m)\n    (role ?p))", "keyword-in-head 1:6"),
    "init in a body": ("(init a)\n(<= terminal (init a))", "keyword-in-body 2:15"),
    "next in a body": ("(init a)\n(<= terminal (not (next a)))", "keyword-in-body 2:20"),
    "base in a body": ("(base a)\n(<= terminal (base a))", "keyword-in-body 2:15"),
    "input in a body": ("(<= (legal ?p ?m) (input ?p ?m))", "keyword-in-body 1:20"),
    # variables
    "variable in a fact": (
        "(init (cell ?x ?y ?x))",
        "variable-in-fact 1:13, variable-in-fact 1:16",
    ),
    "unsafe head": ("(<= (init (f ?x ?y))\n    (role ?x))", "unsafe-variable 1:17"),
    "unsafe head without body": (
        "(<= (init (f ?x)))",
        "empty-body 1:1, unsafe-variable 1:14",
    ),
    "unsafe not": ("(init (f a))\n(<= terminal (not (true (f ?x))))", "unsafe-variable 2:28"),
    "unsafe distinct": ("(<= terminal\n    (distinct ?x a))", "unsafe-variable 2:15"),
    "bound by a negation only": (
        "(<= (init ?x) (not (role ?x)))",
        "unsafe-variable 1:11",
    ),
    "unsafe in one alternative": (
        "(b 1)\n(<= (init (f ?x))\n    (or (role ?x)\n        (b 1)))",
        "unsafe-variable 2:14",
    ),
    "bound in the other alternative": (
        "(init a)\n(<= terminal\n    (or (true ?x)\n        (distinct ?x 1)))",
        "unsafe-variable 4:19",
    ),
    "unsafe under not or": (
        "(<= terminal (role ?x)\n    (not (or (role ?x) (role ?y))))",
        "unsafe-variable 2:30",
    ),
    # dependencies
    "negation of itself": (
        "(<= (a ?x) (role ?x) (not (a ?x)))\n(<= terminal (a p))",
        "negation-in-cycle 1:28",
    ),
    "negation in a longer cycle": (
        "(<= a (b p))\n(<= (b ?x) (role ?x) (not c))\n(<= c (or a (role p)))\n(<= terminal a)",
        "negation-in-cycle 2:27",
    ),
    "negation of a case that leads back": (
        "(<= (a 1) (not (a 2)))\n(<= (a 2) (a 1))\n(<= terminal (a 1))",
        "negation-in-cycle 1:17",
    ),
    "growing terms": (
        "(n z)\n(<= (n (s ?x))\n    (n ?x))\n(<= terminal (n z))",
        "endless-recursion 2:8",
    ),
    "growing by way of another": (
        "(n z)\n(<= (m (s ?x)) (n ?x))\n(<= (n ?x) (m ?x))\n(<= terminal (n z))",
        "endless-recursion 2:8",
    ),
    "growing beside a bounded argument": (
        "(list nil z)\n(up z 1)\n(<= (list (c ?l) ?m) (list ?l ?n) (up ?n ?m))"
        "\n(<= terminal (list nil z))",
        "endless-recursion 3:11",
    ),
    "init by state": ("(<= (init a) (true a))", "depends-on-true 1:15"),
    "init by moves, indirectly": (
        "(<= (init a) b)\n(<= b (role p) c)\n(<= c (does p m))",
        "depends-on-does 1:14",
    ),
    "base by state": ("(init a)\n(<= (base ?x) (true ?x))", "depends-on-true 2:16"),
    "input by moves": ("(<= (input ?p ?m) (does ?p ?m))", "depends-on-does 1:20"),
    "role by state": ("(init a)\n(<= (role q) (true a))", "role-by-rule 2:6, depends-on-true 2:15"),
    "legal by moves": ("(<= (legal p n) (not (does p m)))", "depends-on-does 1:23"),
    "goal by moves": ("(<= (goal p 0) (does p m))", "depends-on-does 1:17"),
    "terminal by moves": (
        "(<= terminal\n    (or (role p)\n        (does p m)))",
        "depends-on-does 3:10",
    ),
    # warnings
    "role by rule": ("(side q)\n(<= (role ?x) (side ?x))", "role-by-rule 2:6"),
    "transitive closure": (
        "(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n"
        "(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))\n(<= terminal (path a b))",
        "recursion-restriction 3:27",
    ),
    "shrinking terms": (
        "(n (s (s z)))\n(<= (n ?x) (n (s ?x)))\n(<= terminal (n z))",
        "recursion-restriction 2:15",
    ),
    "terms of one size": (
        "(at (pos a 1))\n(next1 1 2)\n(<= (at (pos ?x ?n)) (at (pos ?x ?m)) (next1 ?m ?n))"
        "\n(<= terminal (at (pos a 2)))",
        "recursion-restriction 3:26",
    ),
    "goals by cases": (
        "(init a)\n(<= (goal p 50) (not (goal p 100)) (not (goal p 0)))\n(<= (goal p 0) (true a))",
        "negation-by-cases 2:23, negation-by-cases 2:42",
    ),
    "rule without body": ("(<= (init a))", "empty-body 1:1"),
    "empty or": ("(<= terminal (or))", "empty-or 1:14"),
    "empty and": ("(<= terminal (AND))", "empty-and 1:14"),
    "nested or": ("(<= terminal (or (role p) (or (role q) (role r))))", "nested-or 1:27"),
    "or under and in or": (
        "(<= terminal (or (role p) (and (role q) (or (role r) (role s)))))",
        "nested-or 1:41",
    ),
    "relation of two arities": (
        "(up 1)\n(up 1 2) (up 2 3)\n(<= terminal (up 1 2))",
        "arity-differs 1:2",
    ),
    "function of two arities": (
        "(init (f 1))\n(init (f 1 2))\n(<= terminal (true (f 1)))",
        "arity-differs 2:8",
    ),
    "unused relation": ("(a 1)", "unused-relation 1:2"),
    "used by itself only": ("(a 1 2)\n(<= (a ?x ?y) (a ?y ?x))", "unused-relation 1:2"),
    "undefined relation": ("(<= terminal\n    (not (finished)))", "undefined-relation 2:11"),
    "undefined fluent": ("(init (cell 1))\n(<= terminal (true (cel 1)))", "undefined-fluent 2:21"),
    "fluent of another arity": (
        "(init (f (g 1)))\n(<= terminal (true (f (g 1) 2)))",
        "arity-differs 2:21, undefined-fluent 2:21",
    ),
    "undefined move": ("(<= (next a) (does ?p mark))", "undefined-move 1:23"),
    "unknown role": ("(legal q m)\n(<= (next a) (does q m))", "unknown-role 1:8"),
    "function and relation": (
        "(cell 1)\n(init (cell 1))\n(<= terminal (cell 1))",
        "function-and-relation 2:8",
    ),
    "keyword as constant": ("(init (mode base))", "keyword-as-constant 1:13"),
    "capitals of a constant": (
        "(init Cell)\n(init cell)\n(init Cell)",
        "inconsistent-capitals 2:7",
    ),
    "capitals of a keyword": ("(init a)\n(INIT b)", "inconsistent-capitals 2:2"),
    "capitals of a variable": (
        "(<= (init ?x)\n    (role ?X)\n    (role ?x))",
        "inconsistent-capitals 2:11",
    ),
    "goal too high": ("(goal p 101)", "goal-value 1:9"),
    "goal not an integer": ("(goal p win)", "goal-value 1:9"),
    "goal negative": ("(<= (goal p -1) (role p))", "goal-value 1:13"),
    "random role": ("(role random)", "random-role 1:7"),
}  # fmt: skip

GOOD = {
    "nothing but what is needed": "",
    "comments, CRLF, tabs": "; (((\r\n(init a)\t; )\r\n\t(<= terminal\r\n\t(true a))",
    "byte-order mark": "\ufeff(init a)",
    "variable fluents": "(init a)\n(<= (next ?f) (true ?f))\n(<= terminal (true (whatever 1)))",
    "upper-case everything": "(INIT A)\n(<= TERMINAL (NOT (TRUE A)))",
    "capitals of variables across rules": "(<= (init ?X) (role ?X))\n(<= (init (f ?x)) (role ?x))",
    "list of one": "(init (a))\n(<= (terminal) (true a))",
    "nested connectives": "(init a)\n(<= terminal (not (and (true a) (not (role p)))))",
    "or that binds": "(<= (init ?x) (or (role ?x) (and (role ?x) (distinct ?x p))))",
    "bound outside of or": "(init a)\n(<= terminal (true ?x) (or (distinct ?x b) (not (role ?x))))",
    "double negation binds": "(<= (init ?x) (not (not (role ?x))))",
    "recursion over a successor": (
        "(succ 1 2)\n(sum 0 0)\n(<= (sum ?x ?y) (succ ?w ?x) (sum ?w ?z) (succ ?z ?y))\n"
        "(<= terminal (sum 1 1))"
    ),
    "left recursion": (
        "(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n"
        "(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))\n(<= terminal (path a b))"
    ),
    "recursion through a bounded function": (
        "(list (c a nil))\n(list nil)\n(len nil 0)\n(succ 0 1)\n"
        "(<= (tail ?t) (list (c ?h ?t)))\n"
        "(<= (len (c ?h ?t) ?n) (list (c ?h ?t)) (tail ?t) (len ?t ?m) (succ ?m ?n))\n"
        "(<= terminal (len nil 0))"
    ),
    "state through next": "(init z)\n(<= (next (s ?x)) (true ?x))\n(<= terminal (true (s z)))",
    "goal and legal in bodies": "(<= terminal (goal p 100) (not (legal p n)))",
    "computed goal": "(init (points 3))\n(<= (goal p ?n) (true (points ?n)))",
    "GDL-II sees": "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))",
    "base and input": "(base a)\n(input p m)\n(<= (input ?p n) (role ?p))",
    "odd names": "(init (+ -1 > a/b))\n(<= terminal (true (+ ?x > ?y)))",
    "connective as constant": "(init (gate and))",
    "negation of what is settled": "(<= a (role p))\n(<= b (not a))\n(<= terminal b)",
    "deep terms": f"(init {'(s ' * 150}z{')' * 150})",
}


def places(findings: list[Finding]) -> str:
    """Findings as `code line:column, ...`."""
    return ", ".join(f"{f.code} {f.location.line}:{f.location.column}" for f in findings)


def check_case(rules: str) -> list[Finding]:
    rest = REST.upper() if rules.isupper() else REST
    return check_rules(f"{rules}\n{rest}" if rules else rest, "case.kif")


@pytest.mark.parametrize("name", BROKEN)
def test_reports_exactly_what_is_wrong_and_where(name: str) -> None:
    rules, expected = BROKEN[name]
    text = rules if expected.startswith("syntax") else f"{rules}\n{REST}"
    assert places(check_rules(text)) == expected


@pytest.mark.parametrize("name", GOOD)
def test_good_rules_have_no_findings(name: str) -> None:
    assert [finding.render() for finding in check_case(GOOD[name])] == []


def test_required_relations() -> None:
    codes = [f.code for f in check_rules("(init a)")]
    assert codes == ["missing-role", "missing-legal", "missing-goal", "missing-terminal"]
    assert places(check_rules("; nothing but this\n")) == "no-rules 1:1"
    assert places(check_rules("")) == "no-rules 1:1"


def test_every_code_has_a_case() -> None:
    seen = {f.code for rules, _ in BROKEN.values() for f in check_rules(f"{rules}\n{REST}")}
    seen |= {f.code for rules, _ in BROKEN.values() for f in check_rules(rules)}
    assert seen | {"no-rules"} == set(ERRORS) | set(WARNINGS)
    assert not set(ERRORS) & set(WARNINGS)


def test_severity_follows_the_code() -> None:
    for rules, _ in BROKEN.values():
        for finding in check_rules(rules):
            assert finding.severity == ("error" if finding.code in ERRORS else "warning")


def test_render_points_at_the_place() -> None:
    (finding,) = check_rules(f"(<= terminal\n\t(not\t(true ?x)))\n{REST}\n(init a)", "my.kif")
    assert finding.render() == (
        "my.kif:2:13: error: ?x of 'not' stands in no positive literal [unsafe-variable]\n"
        "        (not    (true ?x)))\n"
        "                      ^\n"
        "  Add a positive literal to the body that says what it ranges over."
    )


def test_json_has_every_field() -> None:
    (finding,) = check_rules(f"{REST} (role q))", "my.kif")
    assert finding.as_json() == {
        "severity": "error",
        "code": "syntax",
        "message": "unbalanced ')': no '(' is open here",
        "file": "my.kif",
        "line": 1,
        "column": len(REST) + 10,
        "advice": "Remove it or add the missing '('.",
        "excerpt": f"{REST} (role q))\n{' ' * (len(REST) + 9)}^",
    }


def test_unclosed_list_says_where_it_may_end() -> None:
    (finding,) = check_rules("(role x)\n(<= terminal\n    (a)\n\n(<= (legal x a)\n    (b))\n")
    assert (finding.location.line, finding.location.column) == (2, 1)
    assert finding.advice == "Add the missing ')', probably before line 5."


def test_long_lines_are_cut_around_the_place() -> None:
    filler = "(init (cell 1 1)) " * 500
    (finding,) = check_rules(f"{filler}(init (oops ?x)) {filler}{REST}")
    line, caret = finding.excerpt.split("\n")
    assert len(line) < 130
    assert line.startswith("... ") and line.endswith(" ...")
    assert line[len(caret) - 1 :].startswith("?x))")
    assert finding.location.column == len(filler) + 13


def test_excerpt_holds_no_control_characters() -> None:
    (finding,) = check_rules(f"(init (a\x1b[31m ?x\u202e))\n{REST}")
    assert all(c.isprintable() for c in finding.excerpt.replace("\n", ""))


def test_suggests_the_name_that_was_meant() -> None:
    advice = {f.code: f.advice for f in check_rules(
        "(init (cellHolds 1))\n(inBounds 1)\n"
        "(<= terminal (true (cellHold ?x)) (inBound ?x) (not (role ?xy)))\n"
        "(<= terminal (inBounds ?player) (distinct ?playr 1))\n" + REST
    )}  # fmt: skip
    assert advice["undefined-fluent"].startswith("Did you mean 'cellHolds'? Else ")
    assert advice["undefined-relation"].startswith("Did you mean 'inBounds'? Else ")
    assert advice["unsafe-variable"].startswith("Did you mean '?player'? Else ")


def test_way_of_a_dependency_is_shown_in_the_sheets_spelling() -> None:
    (finding,) = check_rules(f"(<= (goal p 0) someHelper)\n(<= someHelper (does p m))\n{REST}")
    assert finding.message == "'goal' depends on 'does': goal <= someHelper <= does"


def test_long_cycles_and_chains_are_no_problem() -> None:
    count = 5000
    chain = "\n".join(f"(<= (r{i} ?x) (r{i + 1} ?x))" for i in range(count))
    text = f"{chain}\n(<= (r{count} ?x) (r0 ?x) (not (r7 ?x)))\n(<= terminal (r0 1))\n{REST}"
    assert places(check_rules(text)) == f"negation-in-cycle {count + 1}:{26 + len(str(count))}"


def test_the_number_of_findings_is_bounded() -> None:
    findings = check_rules("(init (f ?x))\n" * 3000 + REST)
    assert len(findings) == MAX_FINDINGS


@pytest.mark.timeout(60)
def test_wide_and_deep_garbage_ends_soon() -> None:
    assert places(check_rules("(" * 1_000_000)) == "syntax 1:201"
    check_rules("(<= (a ?x) (or " + "(b ?x) (not (c ?x)) " * 20_000 + "))")
    check_rules("".join(f"(<= (a ?x {i}) (not (a {i} ?x)))" for i in range(3000)))


def test_deeply_nested_connectives() -> None:
    body = "(not (or (and (true a) " * 60 + "(true b)" + ")))" * 60
    findings = check_case(f"(init a)\n(init b)\n(<= terminal {body})")
    assert {finding.code for finding in findings} == {"nested-or"}


@pytest.mark.parametrize("path", OWN_SHEETS, ids=lambda path: path.stem)
def test_own_games_have_no_findings(path: Path) -> None:
    findings = check_rules(path.read_text(encoding="utf-8"), str(path))
    assert [finding.render() for finding in findings] == []


@pytest.mark.skipif(not SHARED_SHEETS, reason="no public rule sheets at hand")
@pytest.mark.parametrize("path", SHARED_SHEETS, ids=lambda path: path.stem)
def test_public_sheets_have_no_errors(path: Path) -> None:
    findings = check_rules(path.read_bytes().decode("utf-8", errors="replace"), str(path))
    assert [f.render() for f in findings if f.severity == "error"] == []


WORDS = ["(", ")", "<=", "and", "or", "not", "distinct", "role", "true", "does", "init", "next"]
WORDS += ["legal", "goal", "terminal", "base", "a", "b", "(a", "(b", "?x", "?y", "1", "()", "(<="]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_what_the_rule_reader_refuses_is_an_error(text: str) -> None:
    """Any text gives findings, not exceptions; what can't be read or expanded has an error."""
    text += ")" * (text.count("(") - text.count(")"))
    findings = check_rules(text)
    assert findings == sorted(findings, key=lambda f: (f.location.line, f.location.column))
    try:
        list(RuleSheet.from_text(text).clauses())
    except GgpError:
        assert any(finding.severity == "error" for finding in findings)


ATOMS = st.tuples(st.sampled_from("pqr"), st.sampled_from(["?x", "?y", "1"])).map(
    lambda parts: f"({parts[0]} {parts[1]})"
)
FORMULAS = st.recursive(
    ATOMS | st.just("(distinct ?x ?y)"),
    lambda inner: st.one_of(
        inner.map("(not {})".format),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(or {' '.join(parts)})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(and {' '.join(parts)})"),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(FORMULAS, min_size=1, max_size=3))
def test_safety_agrees_with_the_expanded_rules(body: list[str]) -> None:
    """The check on nested bodies against its definition on the disjunctive normal form."""
    text = f"(<= (head ?x) {' '.join(body)})"
    reported = {
        text[f.location.column - 1 :][:2] for f in check_rules(text) if f.code == "unsafe-variable"
    }
    assert reported == _unsafe_variables(RuleSheet.from_text(text))


def _unsafe_variables(sheet: RuleSheet) -> set[str]:
    unsafe: set[str] = set()
    for head, body in sheet.clauses():
        bound = {atom[1] for positive, atom in body if positive and atom[0] != "distinct"}
        needed = {head[1]}
        for positive, atom in body:
            if not positive or atom[0] == "distinct":
                needed |= {term for term in atom[1:] if term[0] == "?"}
        unsafe |= needed - bound  # type: ignore[arg-type]
    return unsafe
