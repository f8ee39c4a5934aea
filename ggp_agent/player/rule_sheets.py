"""What the server reads of a match's rules: whether they can be read at all, and the roles."""

from __future__ import annotations

from functools import lru_cache

from gdl.rules import RuleSheet, Term, name_of


@lru_cache(maxsize=2)
def read_rules(text: str) -> RuleSheet:
    """The rule sheet of a START; one that comes again, or is told to several, is read once.

    Raises `RuleSheetError`.
    """
    return RuleSheet.from_text(text, "rules")


def stated_roles(sheet: RuleSheet) -> tuple[Term, ...]:
    """The roles where facts alone name them; () where only a reasoner can tell."""
    derived = any(rule.body and name_of(rule.head) == "role" for rule in sheet.rules)
    return () if derived else sheet.roles
