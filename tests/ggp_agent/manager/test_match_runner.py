"""Whole matches against good, late, refusing, cheating and unreadable players."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GgpError, ReasonerError
from gdl.rules import RuleSheet, Term
from gdl.state_machine import JointMove, State
from ggp_agent.errors import GameError
from ggp_agent.manager.match_setup import (
    Event,
    MatchEnded,
    MatchSetup,
    MatchStarted,
    StateReached,
    new_match_id,
)
from ggp_agent.manager.players import Player
from ggp_agent.manager.record import MatchRecord
from ggp_agent.manager.record_validation import validate
from ggp_agent.manager.runner import run_match
from ggp_agent.manager.scramble import Scrambler
from ggp_agent.protocol.messages import Play, Start, Stop
from tests.ggp_agent.manager.fake_players import (
    FakePlayer,
    LatePlayer,
    LateStarter,
    RefusingPlayer,
    SayingPlayer,
    ScrambledPlayer,
)
from tests.ggp_agent.manager.machines import (
    DICE,
    PENNIES,
    TIC_TAC_TOE,
    Dice,
    HandMadeMachine,
    Over,
    Pennies,
    Stuck,
    TicTacToe,
)

GENEROUS = 60.0
"""A clock that a player of the tests only overruns when it is meant to."""


def setup_for(machine: HandMadeMachine, sheet: RuleSheet, **changes: Any) -> MatchSetup:
    setup = MatchSetup(
        match_id=new_match_id("test"),
        game=sheet.source.name,
        game_url=f"http://games.example.org/base/games/{sheet.source.name}/v0/",
        sheet=sheet,
        machine=machine,
        start_clock=GENEROUS,
        play_clock=GENEROUS,
        seed=1,
    )
    return replace(setup, **changes)


def pennies(**changes: Any) -> MatchSetup:
    return setup_for(Pennies(), PENNIES, **changes)


def good(count: int = 2) -> list[FakePlayer]:
    return [FakePlayer(Pennies(), PENNIES, f"good {i}") for i in range(count)]


def run(setup: MatchSetup, players: Iterable[Player], **options: Any) -> MatchRecord:
    """A match that is over, its record checked."""

    async def match() -> MatchRecord:
        async with asyncio.timeout(50):
            return await run_match(setup, list(players), **options)

    record = asyncio.run(match())
    assert validate(record.as_json()) == []
    assert record.is_completed and not record.is_aborted
    return record


class TestGoodPlayers:
    def test_tic_tac_toe_is_played_to_its_end(self) -> None:
        players = [FakePlayer(TicTacToe(), TIC_TAC_TOE, name) for name in ("ann", "bob")]
        record = run(setup_for(TicTacToe(), TIC_TAC_TOE), players)
        # Both take the first free cell, so that x has 1 3, 2 2 and 3 1 after seven moves.
        assert record.goals == (100, 0)
        assert record.moves == [
            ["( Mark 1 1 )", "noop"],
            ["noop", "( Mark 1 2 )"],
            ["( Mark 1 3 )", "noop"],
            ["noop", "( Mark 2 1 )"],
            ["( Mark 2 2 )", "noop"],
            ["noop", "( Mark 2 3 )"],
            ["( Mark 3 1 )", "noop"],
        ]
        assert record.errors == [["", ""]] * 8
        assert record.states[1].endswith("( cell 3 3 b ) ( control oPlayer ) )")
        assert record.players == ("ann", "bob")

    def test_players_are_told_start_play_and_stop(self) -> None:
        players = good()
        record = run(pennies(), players)
        for player, role in zip(players, ("even", "odd"), strict=True):
            start, *plays, stop = player.heard
            assert isinstance(start, Start)
            assert (start.match_id, start.role) == (record.match_id, role)
            assert (start.start_clock, start.play_clock) == (GENEROUS, GENEROUS)
            assert start.rules.startswith("( role even ) ( role odd ) ( init ( round 0 ) ) ( <= ")
            heads = ("( show heads )", "( show heads )")
            assert plays == [Play(record.match_id, moves) for moves in (None, heads, heads)]
            assert stop == Stop(record.match_id, heads)

    def test_the_runner_closes_nothing(self) -> None:
        setup, players = pennies(), good()
        run(setup, players)
        assert not any(player.closed for player in players)
        assert isinstance(setup.machine, Pennies) and not setup.machine.closed

    def test_calls_go_out_at_once(self) -> None:
        """Each player waits for the other in START, PLAY and STOP: one by one would hang."""
        barrier = asyncio.Barrier(2)

        class Meeting(FakePlayer):
            async def start(self, start: Start) -> None:
                await super().start(start)
                await barrier.wait()

            async def reply(self) -> str:
                await barrier.wait()
                return await super().reply()

            async def stop(self, stop: Stop) -> None:
                await super().stop(stop)
                await barrier.wait()

        players = [Meeting(Pennies(), PENNIES) for _ in range(2)]
        assert run(pennies(), players).errors == [["", ""]] * 4

    def test_a_terminal_initial_state_is_started_and_stopped(self) -> None:
        players = good()
        record = run(setup_for(Over(), PENNIES), players)
        assert [player.words for player in players] == [["START", "STOP"]] * 2
        assert players[0].heard[1] == Stop(record.match_id, None)
        assert (record.moves, record.states) == ([], ["( ( round 3 ) )"])
        assert record.goals == (0, 100)

    def test_events_tell_the_whole_match(self) -> None:
        events: list[Event] = []
        setup = pennies()
        run(setup, good(), on_step=events.append)
        started, *states, ended = events
        assert started == MatchStarted(
            setup.match_id, "pennies", ("even", "odd"), ("good 0", "good 1")
        )
        assert all(isinstance(event, StateReached) for event in states)
        heads = ("show", "heads")
        assert [(e.step, e.joint_move) for e in states if isinstance(e, StateReached)] == [
            (0, None),
            (1, (heads, heads)),
            (2, (heads, heads)),
            (3, (heads, heads)),
        ]
        last = states[-1]
        assert isinstance(last, StateReached)
        assert last.fluents == {("round", "3"), ("won", "even")}
        assert last.errors == ("", "") and len(last.thinking_times) == 2
        assert ended == MatchEnded((100, 0))

    def test_extras_say_game_seed_and_thinking_times(self) -> None:
        record = run(pennies(seed=42), good()).as_json()
        assert (record["x-game"], record["x-seed"]) == ("pennies", 42)
        times = record["x-thinkingTimes"]
        assert [len(row) for row in times] == [2] * 4
        assert all(isinstance(ms, int) and ms >= 0 for row in times for ms in row)


class TestBadPlayers:
    def test_late_moves_are_TO_and_a_random_move_is_played(self) -> None:  # noqa: N802
        late = LatePlayer(Pennies(), PENNIES)
        setup = pennies(play_clock=0.05, play_grace=0.05)
        record = run(setup, [late, *good(1)])
        assert [row[0] for row in record.errors] == ["", "TO", "TO", "TO"]
        assert {row[0] for row in record.moves} <= {"( show heads )", "( show tails )"}
        assert late.words == ["START", "PLAY", "PLAY", "PLAY", "STOP"]
        assert all(row[0] >= 90 for row in record.thinking_times[1:])

    def test_a_late_start_is_TO_and_followed_by_play(self) -> None:  # noqa: N802
        late = LateStarter(Pennies(), PENNIES)
        record = run(pennies(start_clock=0.05), [*good(1), late])
        assert record.errors == [["", "TO"], ["", ""], ["", ""], ["", ""]]
        assert late.words == ["START", "PLAY", "PLAY", "PLAY", "STOP"]

    def test_start_has_no_grace_and_play_a_second(self) -> None:
        assert (pennies().start_grace, pennies().play_grace) == (0.0, 1.0)

        class Slow(FakePlayer):
            async def start(self, start: Start) -> None:
                await super().start(start)
                await asyncio.sleep(0.2)

            async def reply(self) -> str:
                await asyncio.sleep(0.2)
                return await super().reply()

        setup = pennies(start_clock=0.05, play_clock=0.05)
        record = run(setup, [Slow(Pennies(), PENNIES), *good(1)])
        assert [row[0] for row in record.errors] == ["TO", "", "", ""]

    def test_refused_connections_are_CE(self) -> None:  # noqa: N802
        record = run(pennies(), [*good(1), RefusingPlayer(Pennies(), PENNIES)])
        assert [row[1] for row in record.errors] == ["CE"] * 4

    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            ("(show edge)", "IL ( show edge )"),
            ("noop", "IL noop"),
            ("(SHOW heads tails)", "IL ( show heads tails )"),
            ("(show", "IL (show"),
            ("", "IL ()"),
            ("()", "IL ()"),
            (" \r\n ", "IL ()"),
            (")(", "IL )("),
            ("(sh\x00ow\n\n\ufffd", "IL (sh ow \ufffd"),
            ("?x", "IL ?x"),
            ("(" * 10_000, "IL " + "(" * 200),
            ("x" * 10_000, "IL " + "x" * 200),
        ],
    )
    def test_illegal_and_unreadable_moves_are_IL(self, reply: str, error: str) -> None:  # noqa: N802
        cheat = SayingPlayer(Pennies(), PENNIES, reply)
        record = run(pennies(), [cheat, *good(1)])
        assert record.errors == [["", ""], [error, ""], ["", ""], ["", ""]]
        assert record.moves[0][0] in ("( show heads )", "( show tails )")

    @pytest.mark.parametrize(
        "reply",
        ["(SHOW Tails)", " ( show tails )\r\n", "(show tails) (show heads)", "(show tails))"],
    )
    def test_the_first_term_of_a_reply_counts_in_any_case(self, reply: str) -> None:
        record = run(pennies(), [SayingPlayer(Pennies(), PENNIES, reply), *good(1)])
        assert record.errors == [["", ""]] * 4
        assert record.moves[0] == ["( show tails )", "( show heads )"]

    def test_all_players_may_fail_and_the_match_still_ends(self) -> None:
        players = [RefusingPlayer(TicTacToe(), TIC_TAC_TOE) for _ in range(2)]
        record = run(setup_for(TicTacToe(), TIC_TAC_TOE), players)
        assert all(row == ["CE", "CE"] for row in record.errors)
        assert 5 <= len(record.moves) <= 9

    def test_players_are_told_the_move_that_was_played_for_them(self) -> None:
        cheat = SayingPlayer(Pennies(), PENNIES, "nonsense")
        record = run(pennies(), [cheat, *good(1)])
        assert cheat.heard[2] == Play(record.match_id, tuple(record.moves[0]))


class TestChance:
    def test_the_seed_decides_the_moves_played_for_others(self) -> None:
        def moves(seed: int) -> list[list[str]]:
            players = [RefusingPlayer(TicTacToe(), TIC_TAC_TOE) for _ in range(2)]
            return run(setup_for(TicTacToe(), TIC_TAC_TOE, seed=seed), players).moves

        assert moves(5) == moves(5)
        assert len({str(moves(seed)) for seed in range(8)}) > 1

    def test_the_manager_plays_random_uniformly_and_without_errors(self) -> None:
        rolls: Counter[str] = Counter()
        for seed in range(60):
            record = run(setup_for(Dice(), DICE, seed=seed), [FakePlayer(Dice(), DICE)])
            assert record.errors == [["", ""]] * 6
            assert record.players == ("random", "fake")
            rolls.update(row[0] for row in record.moves)
        assert set(rolls) == {"( roll 1 )", "( roll 2 )", "( roll 3 )"}
        assert all(70 <= count <= 130 for count in rolls.values()), rolls  # 100 each on average

    def test_a_players_mistakes_do_not_change_the_dice(self) -> None:
        def rolls(player: Player) -> list[str]:
            return [row[0] for row in run(setup_for(Dice(), DICE), [player]).moves]

        assert rolls(FakePlayer(Dice(), DICE)) == rolls(RefusingPlayer(Dice(), DICE))


class TestScrambledMatch:
    def test_players_see_other_words_and_the_record_the_sheets(self) -> None:
        players = [ScrambledPlayer(Pennies(), PENNIES) for _ in range(2)]
        setup = pennies(scramble=True)
        record = run(setup, players)
        assert record.errors == [["", ""]] * 4
        assert record.scrambled
        assert record.moves == [["( show heads )", "( show heads )"]] * 3
        names = Scrambler(PENNIES, setup.seed)
        for player, role in zip(players, ("even", "odd"), strict=True):
            start, first, second, *_, stop = player.heard
            assert isinstance(start, Start)
            assert start.role == names.scramble(role) != role
            assert not {"show", "heads", "even", "round"} & set(start.rules.split())
            heads = (names.scramble(("show", "heads")),) * 2
            assert (first, second) == (
                Play(record.match_id, None),
                Play(record.match_id, heads),
            )
            assert stop == Stop(record.match_id, heads)

    def test_the_sheets_own_words_are_illegal(self) -> None:
        class Knowing(ScrambledPlayer):
            async def play(self, play: Play) -> str:
                return "(show heads)"

        players = [Knowing(Pennies(), PENNIES), ScrambledPlayer(Pennies(), PENNIES)]
        record = run(pennies(scramble=True), players)
        assert [row[0] for row in record.errors] == ["", *["IL (show heads)"] * 3]

    def test_illegal_moves_are_recorded_unscrambled(self) -> None:
        setup = pennies(scramble=True)
        wrong = Scrambler(PENNIES, setup.seed).scramble(("round", "heads"))

        class Wrong(ScrambledPlayer):
            async def play(self, play: Play) -> str:
                return wrong

        record = run(setup, [Wrong(Pennies(), PENNIES), ScrambledPlayer(Pennies(), PENNIES)])
        assert record.errors[1] == ["IL ( round heads )", ""]


class TestSaving:
    def test_the_record_on_disk_is_whole_and_valid_after_every_step(self, tmp_path: Path) -> None:
        setup = pennies()
        lengths: list[int] = []

        def look(event: Event) -> None:
            record = json.loads((tmp_path / f"{setup.match_id}.json").read_text())
            assert validate(record) == []
            lengths.append(len(record["states"]))

        record = run(setup, good(), record_directory=tmp_path, on_step=look)
        assert lengths == [1, 1, 2, 3, 4, 4]
        assert json.loads(record.path_in(tmp_path).read_text()) == record.as_json()

    def test_a_folder_that_cannot_be_written_ends_the_match(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        players = good()
        with pytest.raises(GgpError, match="cannot write the match record"):
            run(pennies(), players, record_directory=tmp_path / "file")
        assert players[0].heard == []


def aborted_record(directory: Path) -> dict[str, Any]:
    """The one record in a folder, which must be that of an aborted match."""
    (path,) = directory.iterdir()
    record: dict[str, Any] = json.loads(path.read_text())
    assert validate(record) == []
    assert (record["isAborted"], record["isCompleted"]) == (True, False)
    return record


class TestEarlyEnd:
    def cancel(
        self, setup: MatchSetup, players: list[FakePlayer], folder: Path, ready: asyncio.Event
    ) -> None:
        """Run a match and cancel it as soon as `ready` is set."""

        async def match() -> None:
            task = asyncio.create_task(run_match(setup, players, record_directory=folder))
            await asyncio.wait_for(ready.wait(), 50)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(match())

    def test_cancelling_a_move_aborts_everybody(self, tmp_path: Path) -> None:
        ready = asyncio.Event()

        class Waiting(FakePlayer):
            async def reply(self) -> str:
                if len(self.heard) < 4:  # START, PLAY, PLAY: let two moves pass
                    return await super().reply()
                ready.set()
                await asyncio.Event().wait()
                return ""

        players = [Waiting(Pennies(), PENNIES), *good(1)]
        self.cancel(pennies(), players, tmp_path, ready)
        record = aborted_record(tmp_path)
        assert len(record["moves"]) == 2
        assert [p.words[-1] for p in players] == ["ABORT", "ABORT"]

    def test_cancelling_the_start_aborts_everybody(self, tmp_path: Path) -> None:
        ready = asyncio.Event()

        class Waiting(FakePlayer):
            async def start(self, start: Start) -> None:
                await super().start(start)
                ready.set()
                await asyncio.Event().wait()

        players = [
            Waiting(Pennies(), PENNIES),
            RefusingPlayer(Pennies(), PENNIES),
        ]
        self.cancel(pennies(), players, tmp_path, ready)
        record = aborted_record(tmp_path)
        assert record["moves"] == []
        assert players[0].words == ["START", "ABORT"]

    def test_cancelling_the_stop_leaves_a_completed_record(self, tmp_path: Path) -> None:
        ready = asyncio.Event()

        class Waiting(FakePlayer):
            async def stop(self, stop: Stop) -> None:
                ready.set()
                await asyncio.Event().wait()

        players = [Waiting(Pennies(), PENNIES), *good(1)]
        self.cancel(pennies(), players, tmp_path, ready)
        (path,) = tmp_path.iterdir()
        record = json.loads(path.read_text())
        assert record["isCompleted"] and record["goalValues"] == [100, 0]
        assert players[1].words[-1] == "STOP"

    def test_a_role_without_moves_is_named(self, tmp_path: Path) -> None:
        players = good()
        with pytest.raises(GgpError, match=r"role odd has no legal move in state 1, .*round 1"):
            run(setup_for(Stuck(), PENNIES), players, record_directory=tmp_path)
        assert len(aborted_record(tmp_path)["states"]) == 2
        assert [p.words for p in players] == [["START", "PLAY", "ABORT"]] * 2

    def test_a_failing_reasoner_aborts_the_match(self, tmp_path: Path) -> None:
        class Failing(Pennies):
            def next_state(self, state: State, joint_move: JointMove) -> State:
                raise ReasonerError("the reasoner ran out of memory")

        players = good()
        with pytest.raises(ReasonerError, match="out of memory"):
            run(setup_for(Failing(), PENNIES), players, record_directory=tmp_path)
        assert len(aborted_record(tmp_path)["states"]) == 1
        assert [p.words for p in players] == [["START", "PLAY", "ABORT"]] * 2

    def test_a_reasoner_that_fails_at_once_leaves_no_record(self, tmp_path: Path) -> None:
        class Failing(Pennies):
            def fluents(self, state: State) -> frozenset[Term]:
                raise ReasonerError("crashed")

        players = good()
        with pytest.raises(ReasonerError):
            run(setup_for(Failing(), PENNIES), players, record_directory=tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert players[0].heard == []

    def test_players_that_fail_at_abort_do_not_hide_the_reason(self, tmp_path: Path) -> None:
        class Broken(FakePlayer):
            async def abort(self, abort: object) -> None:
                raise RuntimeError("a defect")

        with pytest.raises(GgpError, match="no legal move"):
            run(setup_for(Stuck(), PENNIES), [Broken(Pennies(), PENNIES), *good(1)])


class TestSetup:
    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_the_number_of_players_must_fit(self, count: int) -> None:
        with pytest.raises(GameError, match=r"needs 2 players.*\(even, odd\); \d given"):
            run(pennies(), good(count))

    def test_random_takes_no_player(self) -> None:
        with pytest.raises(GameError, match=r"dice needs 1 players.*\(gambler\); 2 given"):
            run(setup_for(Dice(), DICE), good(2))

    @pytest.mark.parametrize(
        ("changes", "complaint"),
        [
            ({"start_clock": 0}, "the start clock must be more than 0"),
            ({"play_clock": -1}, "the play clock must be more than 0"),
            ({"play_clock": float("nan")}, "the play clock must be more than 0"),
            ({"start_clock": float("inf")}, "the start clock must be more than 0"),
            ({"match_id": "two words"}, "can't be a match id"),
            ({"match_id": "../escape"}, "can't be a match id"),
            ({"game_url": "http://example.org/pennies"}, "must end in /vN/"),
        ],
    )
    def test_what_no_match_can_have(self, changes: dict[str, Any], complaint: str) -> None:
        with pytest.raises(GameError, match=complaint):
            pennies(**changes)

    def test_match_ids_are_unique_words(self) -> None:
        ids = {new_match_id("tic tac/toe(ü)") for _ in range(500)}
        assert len(ids) == 500
        assert all(i.startswith("local.tic_tac_toe___.") for i in ids)
        for match_id in ids:
            pennies(match_id=match_id)


def test_slow_machines_do_not_hold_up_the_loop() -> None:
    """Two matches share one loop; each machine waits in its thread until the other is there."""
    both = threading.Barrier(2, timeout=30)

    class Slow(Pennies):
        def next_state(self, state: State, joint_move: JointMove) -> State:
            both.wait()
            return super().next_state(state, joint_move)

    async def two() -> list[MatchRecord]:
        setups: list[Callable[[], MatchSetup]] = [lambda: setup_for(Slow(), PENNIES)] * 2
        return list(await asyncio.gather(*(run_match(make(), good()) for make in setups)))

    assert [record.goals for record in asyncio.run(two())] == [(100, 0)] * 2
