"""What is wrong, or odd, in a rule sheet: `check_rules` finds everything in a text at once.

An *error* violates the GDL specification so that the rules are meaningless or reasoners differ on
them.  A *warning* is a likely slip, or a liberty that public sheets take and that we play anyway.
`ERRORS` and `WARNINGS` name all of them.

Four passes, each over what the one before it understood: structure (lists, connectives, keywords),
variables (facts, safety), dependencies between relations (negation, recursion, what must not
depend on the state or on moves), names (arities, typing errors).  A broken part of a rule is left
out of the later passes, so that one slip is not reported in many guises.
"""

from __future__ import annotations

from collections.abc import Sequence

from gdl.errors import KifSyntaxError
from gdl.kif import Node, Source, read
from gdl.validation.dependencies import check_dependencies
from gdl.validation.findings import (
    ERRORS,
    MAX_FINDINGS,
    WARNINGS,
    Finding,
    Report,
    Severity,
    report_syntax,
)
from gdl.validation.names import check_names
from gdl.validation.statements import KEYWORDS
from gdl.validation.structure import StatementReader, check_required
from gdl.validation.variables import check_variables

__all__ = [
    "ERRORS",
    "KEYWORDS",
    "MAX_FINDINGS",
    "WARNINGS",
    "Finding",
    "Severity",
    "check_nodes",
    "check_rules",
]


def check_rules(text: str, name: str = "<text>") -> list[Finding]:
    """Everything that is wrong or odd in a rule sheet's text, in the order of its places."""
    source = Source(text.removeprefix("\ufeff"), name)
    try:
        nodes = read(source)
    except KifSyntaxError as error:
        report = Report(source)
        report_syntax(error, report)
        return report.findings()
    return check_nodes(nodes, source)


def check_nodes(nodes: Sequence[Node], source: Source) -> list[Finding]:
    """The same for a text that has been read already."""
    report = Report(source)
    if not nodes:
        report.add("no-rules", 0, "there are no rules in it")
        return report.findings()
    read_ones = [StatementReader(report).read(node) for node in nodes]
    statements = [statement for statement in read_ones if statement is not None]
    check_required(statements, report)
    for statement in statements:
        if statement.complete and statement.head is not None:
            check_variables(statement.head, statement, report)
    check_dependencies(statements, report)
    check_names(nodes, statements, report)
    return report.findings()
