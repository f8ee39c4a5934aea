"""The results file: what is written is read, and what a killed process leaves behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ggp_agent.errors import TournamentError
from ggp_agent.manager.tournament.results import (
    MatchResult,
    ResultsFile,
    count_errors,
    read_results,
    without_repeats,
)
from ggp_agent.player.search_totals import SearchTotals

HEADER = {"name": "t", "agents": [], "games": {}}
RESULT = MatchResult(
    match="t.nim.0001.1-2",
    game="nim",
    round=0,
    seed=5,
    roles=("first", "second"),
    agents=("a", "b"),
    goals=(100, 0),
    moves=7,
    errors={"TO": (0, 2)},
    totals=(SearchTotals(4, 400, 9000, 1.5, 1.25), None),
    by_clock=True,
    seconds=2.5,
    load=0.5,
    started="2030-01-01T00:00:00+00:00",
)
ABORTED = MatchResult(
    match="t.nim.0001.2-1",
    game="nim",
    round=0,
    seed=6,
    roles=("first", "second"),
    agents=("b", "a"),
    aborted="no legal move",
)


def begun(path: Path, *results: MatchResult) -> Path:
    file = ResultsFile(path, HEADER)
    for result in results:
        file.append(result)
    file.close()
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = begun(tmp_path / "new" / "r.jsonl", RESULT, ABORTED)
    header, results = read_results(path)
    assert header["tournament"] == "t"
    assert results == [RESULT, ABORTED]
    assert RESULT.cpu_share == pytest.approx(1.25 / 1.5)
    assert ABORTED.cpu_share is None and not ABORTED.is_complete


def test_going_on_adds_to_it(tmp_path: Path) -> None:
    path = begun(tmp_path / "r.jsonl", RESULT)
    begun(path, ABORTED)
    assert read_results(path)[1] == [RESULT, ABORTED]
    assert path.read_text().count("tournament") == 1


@pytest.mark.parametrize("keep", [1, 30, -2])
def test_a_line_that_is_not_whole_is_dropped(tmp_path: Path, keep: int) -> None:
    path = begun(tmp_path / "r.jsonl", RESULT, ABORTED)
    *lines, last, _ = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines, last[:keep]]))
    assert read_results(path)[1] == [RESULT]
    begun(path, ABORTED)
    assert read_results(path)[1] == [RESULT, ABORTED]


def test_killed_while_it_began(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"tournament": "t", "for')
    begun(path, RESULT)
    assert read_results(path)[1] == [RESULT]


def test_the_last_description_counts(tmp_path: Path) -> None:
    path = begun(tmp_path / "r.jsonl", RESULT)
    file = ResultsFile(path, {**HEADER, "matches": 20})
    file.append(ABORTED)
    file.close()
    header, results = read_results(path)
    assert header["matches"] == 20
    assert results == [RESULT, ABORTED]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    file = ResultsFile(path, HEADER)
    with pytest.raises(TournamentError, match="another process"):
        ResultsFile(path, HEADER)
    file.close()
    ResultsFile(path, HEADER).close()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("nonsense", "line 3 is not a JSON object"),
        ("[1]", "line 3 is not a JSON object"),
        ("{}", "line 3 is not a match result"),
        ('{"match": 1, "unknown": 2}', "line 3 is not a match result"),
    ],
)
def test_a_line_in_the_middle_that_is_wrong(tmp_path: Path, line: str, what: str) -> None:
    path = begun(tmp_path / "r.jsonl", RESULT)
    with path.open("a") as file:
        file.write(line + "\n")
    begun_again = path.read_text()
    path.write_text(begun_again + "{}\n")
    with pytest.raises(TournamentError, match=what):
        read_results(path)


@pytest.mark.parametrize("change", [{"goals": (100,)}, {"goals": (101, 0)}, {"roles": ()}])
def test_results_that_cannot_be(tmp_path: Path, change: dict[str, object]) -> None:
    path = begun(tmp_path / "r.jsonl", replace(RESULT, **change))  # type: ignore[arg-type]
    with pytest.raises(TournamentError, match="line 2"):
        read_results(path)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", '{"match": "x"}\n', "not JSON\n"])
def test_what_is_no_results_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(TournamentError, match="results file"):
        read_results(path)


def test_a_file_of_a_later_version(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"tournament": "t", "format": 2}\n')
    with pytest.raises(TournamentError, match="format 2"):
        read_results(path)


def test_a_match_that_is_there_twice() -> None:
    assert without_repeats([RESULT, ABORTED]) == [RESULT, ABORTED]
    with pytest.raises(TournamentError, match="twice"):
        without_repeats([RESULT, ABORTED, RESULT])


def test_errors_are_counted_by_kind_and_role() -> None:
    rows = [["", "", "TO"], ["", "IL ( mark 1 1 )", "CE"], ["", "IL x", ""]]
    assert count_errors(rows, [1, 2]) == {"TO": (0, 1), "IL": (2, 0), "CE": (0, 1)}
    assert count_errors([["", ""]], [0, 1]) == {}
