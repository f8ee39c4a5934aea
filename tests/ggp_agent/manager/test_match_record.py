"""The match record: its JSON, its validator, and that a kill never leaves half a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GgpError
from gdl.rules import Term
from ggp_agent.manager.record import MatchRecord, state_text
from ggp_agent.manager.record_validation import validate
from ggp_agent.manager.scramble import PlainNames
from tests.ggp_agent.manager.machines import TIC_TAC_TOE

Record = dict[str, Any]


def new_record(**changes: Any) -> MatchRecord:
    arguments: Record = {
        "match_id": "local.pennies.1795818797254-0a1b2c",
        "game_url": "http://games.example.org/base/games/pennies/v0/",
        "players": ["ann", "bob"],
        "start_clock": 10,
        "play_clock": 1.5,
        "scrambled": False,
        "extras": {"x-seed": 7},
    }
    return MatchRecord(**(arguments | changes))


def played_record() -> MatchRecord:
    record = new_record()
    record.begin("( ( round 0 ) )")
    record.started(["", "TO"], [120, 10_000])
    record.step(["( show heads )", "noop"], "( ( round 1 ) )", ["", "CE"], [5, 6])
    record.step(["( show tails )", "noop"], "( )", ["IL ( show edge )", ""], [7, 8])
    record.complete([100, 0])
    return record


def test_the_json_has_exactly_the_documented_keys() -> None:
    record = played_record().as_json()
    assert validate(record) == []
    documented = """
        matchId randomToken startTime gameMetaURL isCompleted isAborted states moves stateTimes
        errors goalValues previewClock startClock playClock playerNamesFromHost isPlayerHuman
        tournamentNameFromHost scrambled
    """
    assert {key for key in record if not key.startswith("x-")} == set(documented.split())
    assert record["errors"] == [["", "TO"], ["", "CE"], ["IL ( show edge )", ""]]
    assert record["moves"] == [["( show heads )", "noop"], ["( show tails )", "noop"]]
    assert record["states"] == ["( ( round 0 ) )", "( ( round 1 ) )", "( )"]
    assert record["goalValues"] == [100, 0]
    assert (record["startClock"], record["playClock"], record["previewClock"]) == (10, 1.5, -1)
    assert record["isPlayerHuman"] == [False, False]
    assert record["x-thinkingTimes"] == [[120, 10_000], [5, 6], [7, 8]]
    assert record["x-seed"] == 7
    assert json.loads(json.dumps(record)) == record


def test_whole_clocks_are_written_as_integers() -> None:
    assert '"startClock": 10,' in json.dumps(new_record(start_clock=10.0).as_json())


def test_a_record_is_valid_at_every_stage() -> None:
    record = new_record()
    record.begin("( )")
    assert validate(record.as_json()) == []
    assert "goalValues" not in record.as_json()
    record.abort()
    assert validate(record.as_json()) == []


def test_random_tokens_differ() -> None:
    assert new_record().token != new_record().token


def test_times_never_go_back_with_the_system_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([3_000_000_000, 1_000_000_000, 5_000_000_000, 2_000_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(times))
    record = new_record()
    record.begin("( )")
    record.step(["a", "b"], "( )", ["", ""], [0, 0])
    record.step(["a", "b"], "( )", ["", ""], [0, 0])
    assert (record.start_time, record.state_times) == (3000, [3000, 5000, 5000])


def test_states_are_written_in_one_order_and_in_the_sheets_spelling() -> None:
    fluents: list[Term] = [
        ("cell", "10", "1", "x"),
        "open",
        ("cell", "2", "1", "b"),
        ("control", "xplayer"),
    ]
    write = PlainNames(TIC_TAC_TOE).scramble
    expected = "( open ( cell 2 1 b ) ( cell 10 1 x ) ( control xPlayer ) )"
    assert state_text(fluents, write) == expected
    assert state_text(reversed(fluents), write) == expected
    assert state_text([], write) == "( )"


# --- The validator -----------------------------------------------------------------------------


def put(key: str, value: Any) -> Callable[[Record], None]:
    """A change that sets `states.1` or the like."""

    def change(record: Record) -> None:
        place: Any = record
        *path, last = (int(part) if part.isdigit() else part for part in key.split("."))
        for part in path:
            place = place[part]
        place[last] = value

    return change


def drop(key: str) -> Callable[[Record], None]:
    return lambda record: record.pop(key)


def cut(key: str) -> Callable[[Record], None]:
    """A change that removes the last entry of a list."""
    return lambda record: record[key].pop()


KEYS = [key for key in played_record().as_json() if not key.startswith("x-")]

VIOLATIONS: list[tuple[Callable[[Record], None], str]] = [
    *((drop(key), f"{key} is missing") for key in KEYS),
    *((put(key, None), f"{key} is null") for key in KEYS),
    *((put(key, {"a": 1}), f"{key} must be ") for key in KEYS),
    (put("errors.1.0", None), "errors[1][0] is null"),
    (put("x-seed", None), "x-seed is null"),
    (put("gameName", "pennies"), "gameName is not a key"),
    (put("matchId", "two words"), "matchId must be"),
    (put("randomToken", "a" * 31), "randomToken must be 32"),
    (put("randomToken", "a" * 31 + "-"), "randomToken must be 32"),
    (put("startTime", 1.5), "startTime must be"),
    (put("startTime", True), "startTime must be"),
    (put("gameMetaURL", "http://games.example.org/base/games/pennies/"), "gameMetaURL must be"),
    (put("gameMetaURL", "http://games.example.org/base/games/pennies/v0"), "gameMetaURL must be"),
    (put("isCompleted", 1), "isCompleted must be true or false"),
    (put("scrambled", "no"), "scrambled must be true or false"),
    (put("previewClock", -2), "previewClock must be"),
    (put("startClock", -1), "startClock must be"),
    (put("playClock", "15"), "playClock must be"),
    (put("playClock", float("nan")), "playClock must be"),
    (put("isPlayerHuman", [0, 0]), "isPlayerHuman must be"),
    (put("playerNamesFromHost", ["ann", 3]), "playerNamesFromHost must be"),
    (put("moves", ["noop", "noop"]), "moves must be"),
    (cut("states"), "moves has 2 entries; for 2 states there must be 1"),
    (cut("stateTimes"), "stateTimes has 2 entries; for 3 states there must be 3"),
    (cut("errors"), "errors has 2 entries; for 3 states there must be 3"),
    (cut("moves"), "moves has 1 entries; for 3 states there must be 2"),
    (put("states", []), "states is empty"),
    (put("playerNamesFromHost", []), "playerNamesFromHost is empty"),
    (put("isPlayerHuman", [False]), "isPlayerHuman has 1 entries for 2 players"),
    (put("goalValues", [100]), "goalValues has 1 entries for 2 players"),
    (put("moves.1", ["noop"]), "moves[1] has 1 entries for 2 players"),
    (put("errors.0", ["", "", ""]), "errors[0] has 3 entries for 2 players"),
    (put("stateTimes.0", 5), "stateTimes[0] is earlier than startTime"),
    (put("stateTimes.2", 5), "stateTimes[2] is earlier than stateTimes[1]"),
    (put("isAborted", True), "isCompleted and isAborted"),
    (drop("goalValues"), "goalValues is missing although"),
    (put("isCompleted", False), "goalValues is there although"),
    (put("goalValues", [101, 0]), "goalValues[0] must be from 0 to 100, not 101"),
    (put("goalValues", [0, -1]), "goalValues[1] must be from 0 to 100, not -1"),
    (put("goalValues", [0.5, 1]), "goalValues must be"),
    (put("states.0", "( ( true ( round 0 ) ) )"), "states[0] has a fluent inside 'true'"),
    (put("states.0", "( round 0"), "states[0] must be a list of fluents"),
    (put("states.1", "round"), "states[1] must be a list of fluents"),
    (put("states.1", "( ( a ) ) ( b )"), "states[1] must be a list of fluents"),
    (put("states.1", "( ( ( a ) ) )"), "states[1] must be a list of fluents"),
    (put("moves.0.1", "noop noop"), "moves[0][1] must be one term"),
    (put("moves.0.1", ""), "moves[0][1] must be one term"),
    (put("moves.0.1", "( mark"), "moves[0][1] must be one term"),
    (put("errors.1.1", "timeout"), "errors[1][1] must be"),
    (put("errors.1.1", "IL"), "errors[1][1] must be"),
    (put("errors.1.1", "IL  "), "errors[1][1] must be"),
]


@pytest.mark.parametrize(("change", "complaint"), VIOLATIONS, ids=[v[1] for v in VIOLATIONS])
def test_each_violation_is_found(change: Callable[[Record], None], complaint: str) -> None:
    record = played_record().as_json()
    if complaint == "goalValues is missing":
        complaint = "goalValues is missing although"
    change(record)
    found = validate(record)
    assert any(line.startswith(complaint) for line in found), found
    assert all("\n" not in line and len(line) < 200 for line in found)


def test_an_aborted_match_has_no_goals() -> None:
    record = played_record().as_json() | {"isCompleted": False, "isAborted": True}
    assert validate(record) == ["goalValues is there although the match is not completed"]


# --- Saving ------------------------------------------------------------------------------------


def test_save_makes_the_folder_and_leaves_only_the_record(tmp_path: Path) -> None:
    record = played_record()
    path = record.save(tmp_path / "records" / "today")
    assert path.name == "local.pennies.1795818797254-0a1b2c.json"
    assert json.loads(path.read_text()) == record.as_json()
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_replacement_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = played_record()
    path = record.save(tmp_path)
    before = path.read_text()
    record.abort()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(GgpError, match=r"cannot write the match record .*: No space left"):
        record.save(tmp_path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = played_record()
    path = record.save(tmp_path)
    before = path.read_text()

    def write_half(self: Path, text: str, encoding: str) -> None:
        self.write_bytes(text.encode(encoding)[: len(text) // 2])
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "write_text", write_half)
    with pytest.raises(GgpError, match="Input/output error"):
        record.save(tmp_path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GgpError, match="cannot write the match record") as caught:
        played_record().save(tmp_path / "file")
    assert "\n" not in str(caught.value)


SAVER = """
    import sys
    from ggp_agent.manager.record import MatchRecord
    record = MatchRecord(match_id="m", game_url="g/v0/", players=["ann"], start_clock=1,
                         play_clock=1, scrambled=False)
    record.begin("( )")
    for _ in range(3000):
        record.step(["move"], "( " + "( cell 1 1 b ) " * 10 + ")", [""], [0])
    record.save(sys.argv[1])
    print("saved", flush=True)
    while True:
        record.save(sys.argv[1])
"""


def test_a_killed_process_leaves_a_whole_record(tmp_path: Path) -> None:
    for attempt in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SAVER), str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"saved\n"
            time.sleep(0.013 * (attempt + 1))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        record = json.loads((tmp_path / "m.json").read_text())
        assert len(record["states"]) == 3001
        assert validate(record) == []
