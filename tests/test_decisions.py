"""docs/decisions.md and the tests that cite its decisions say the same of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "decisions.md"

HEADING = re.compile(r"^### (\d+)\. ", re.MULTILINE)
CITATION = re.compile(r"\bDecisions? (\d+(?:(?:, | and |, and )\d+)*)")


def decisions() -> dict[int, str]:
    """Texts by number."""
    _, *rest = HEADING.split(PAGE.read_text(encoding="utf-8"))
    return {int(number): text for number, text in zip(rest[::2], rest[1::2], strict=True)}


def citations() -> Iterator[tuple[Path, int]]:
    for path in sorted(TESTS.rglob("*.py")):
        if path == Path(__file__):
            continue
        for match in CITATION.finditer(path.read_text(encoding="utf-8")):
            for number in re.findall(r"\d+", match[1]):
                yield path.relative_to(TESTS), int(number)


def test_decisions_are_numbered_one_by_one() -> None:
    numbers = HEADING.findall(PAGE.read_text(encoding="utf-8"))
    assert numbers == [str(n + 1) for n in range(len(numbers))]
    assert len(numbers) >= 18


def test_every_decision_says_whether_it_is_tested() -> None:
    for number, text in decisions().items():
        assert ("*Tested.*" in text) != ("*Not tested" in text), number


def test_what_claims_a_test_is_cited_by_one() -> None:
    claimed = {number for number, text in decisions().items() if "*Tested.*" in text}
    cited = {number for _, number in citations()}
    assert claimed - cited == set()


def test_no_test_cites_what_is_not_there() -> None:
    known = decisions()
    wrong = [(str(path), number) for path, number in citations() if number not in known]
    assert wrong == []
