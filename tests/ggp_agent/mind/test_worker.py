"""The worker: commands in, replies out; as an object in a thread, and as the process it is."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gdl.grounding import GroundProgram
from gdl.rules import RuleSheet, Term, read_term, write_term
from gdl.state_machine import JointMove, Move, State, StateMachine
from ggp_agent.agents import Agent, find_agent
from ggp_agent.errors import WorkerError
from ggp_agent.library.games import find_game
from ggp_agent.mind import worker as worker_module
from ggp_agent.mind.thinker import LegalThinker
from ggp_agent.mind.worker import Worker, agent_fields, make_thinker
from ggp_agent.player.workers import WorkerPool, WorkerProcess
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch
from ggp_agent.search.plain import PlainSearch
from propnet import compiling
from propnet import machine as propnet_machine
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.processes import GUARD, children_of, is_running, own_children, wait_until

FOREVER = 1e6
"""Seconds until a deadline that is not meant to come."""

QUICK = find_agent("uct").with_settings(["simulations=200", "memory=16"])
TTT = find_game("ticTacToe").text()
RPS = find_game("rockPaperScissors").text()

ENDLESS = """
; The counter grows for ever as far as a grounder can see, though play ends at three.
(role counter) (init (at zero))
(legal counter up) (legal counter on)
(<= (next (at (s ?x))) (true (at ?x)) (does counter ?move))
(<= (next (ups (s ?x))) (true (ups ?x)) (does counter up))
(init (ups zero))
(<= (next (ups ?x)) (true (ups ?x)) (does counter on))
(<= terminal (true (at (s (s (s zero))))))
(<= (goal counter 100) (true (ups (s (s (s zero))))))
(<= (goal counter 0) (not (true (ups (s (s (s zero)))))))
"""

UNSAFE = """
; No grounder takes the variable that occurs in `not` only; Prolog does.
(role player) (init (at 0)) (succ 0 1) (succ 1 2)
(<= (legal player go) (not (blocked ?where)))
(<= (blocked ?where) (true (wall ?where)))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 2)))
(<= (goal player 100) (true (at 2))) (<= (goal player 0) (not (true (at 2))))
"""

DERIVED_ROLES = """
; The roles are not facts, so that nobody knows their number before the rules are understood.
(player ann) (player bob) (<= (role ?p) (player ?p)) (init (at 0)) (succ 0 1) (succ 1 2)
(<= (legal ?p go) (player ?p)) (<= (legal ?p stay) (player ?p))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 2))) (<= (goal ?p 50) (player ?p))
"""


class Desk:
    """Talks to a worker that runs in a thread."""

    def __init__(self) -> None:
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        self.worker = Worker(lambda **reply: self._said.put(reply))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.worker.run()
        except BaseException as error:
            self._said.put({"say": "died", "error": repr(error)})

    def post(self, **event: Any) -> None:
        self.worker.post(event)

    def start(self, rules: str, role: str, agent: Agent = QUICK, **changes: Any) -> None:
        fields = {"agent": agent_fields(agent), "seed": 1, "history": [], "by": 0.0}
        self.post(do="start", rules=rules, role=role, **{**fields, **changes})

    def play(self, number: int, moves: list[str] | None, seconds: float = FOREVER) -> None:
        """PLAY; the agents of these tests are done long before the deadline."""
        self.post(do="play", id=number, moves=moves, by=time.monotonic() + seconds)

    def expect(self, say: str) -> dict[str, Any]:
        """The next reply of this kind; others are skipped, unless the worker is in trouble."""
        while True:
            reply = self._said.get(timeout=GUARD)
            if reply["say"] == say:
                return reply
            assert reply["say"] not in ("died", "failed"), reply

    def answer(self, number: int) -> str:
        """The move that is answered to a PLAY."""
        reply = self.expect("move")
        assert reply["id"] == number
        return str(reply["move"])

    def move(self, number: int, moves: list[str] | None) -> str:
        self.play(number, moves)
        return self.answer(number)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def nothing_said(self) -> bool:
        return self._said.empty()

    def quit(self) -> None:
        self.post(do="quit")
        self._thread.join(GUARD)
        assert not self.is_alive()


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.quit()


class TestLargeNetworks:
    @pytest.mark.parametrize("key", ["skirmish", "hex"])
    def test_plays_while_machine_code_is_being_made(
        self, key: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Here the compiler takes as long as the match; the interpreter answers in time."""
        enough, original = threading.Event(), compiling._Code.add

        def add(code: Any, text: str, names: list[str]) -> list[int]:
            enough.wait(GUARD)
            return original(code, text, names)

        monkeypatch.setattr(compiling._Code, "add", add)
        monkeypatch.setattr("ggp_agent.mind.worker.PROLOG_AFTER", GUARD)
        sheet = find_game(key).rule_sheet()
        try:
            desk.start(find_game(key).text(), write_term(sheet.roles[0]))
            assert desk.expect("ready")["reasoner"] == "PropnetStateMachine"
            first = desk.expect("safe")["move"]
            assert desk.move(1, None)
            thinker = desk.worker._game.thinker if desk.worker._game else None
            assert isinstance(thinker, NativeSearch)
            assert first and not thinker._layout.code.any()
        finally:
            enough.set()


class TestPlaying:
    def test_says_which_reasoner_it_has_and_a_safe_move(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ggp_agent.mind.worker.PROLOG_AFTER", GUARD)  # kernels may have to load
        desk.start(TTT, "x")
        assert desk.expect("ready")["reasoner"] == "PropnetStateMachine"
        safe = desk.expect("safe")
        assert (safe["id"], safe["move"]) == (None, "(place 1 1)")

    def test_plays_a_match_to_its_end(self, desk: Desk) -> None:
        """Against the first legal move; every answer must be legal."""
        machine = PropnetStateMachine.from_rules(RuleSheet.from_text(TTT))
        desk.start(TTT, "o")
        state, moves, turn = machine.initial_state, None, 0
        while not machine.is_terminal(state):
            opponent = machine.legal_moves(state, 0)[0]
            answer = read_term(desk.move(turn, moves))
            assert answer in machine.legal_moves(state, 1)
            state = machine.next_state(state, (opponent, answer))
            moves, turn = [write_term(opponent), write_term(answer)], turn + 1
        assert turn >= 5

    def test_play_may_come_before_there_is_a_reasoner(self, desk: Desk) -> None:
        desk.start(TTT, "x")
        desk.play(7, None)
        assert desk.answer(7).startswith("(place ")

    def test_a_safe_move_is_named_in_every_state(self, desk: Desk) -> None:
        desk.start(TTT, "o")
        desk.expect("safe")
        desk.play(0, ["(place 1 1)", "noop"])
        safe = desk.expect("safe")
        assert (safe["id"], safe["move"]) == (0, "(place 1 2)")
        desk.answer(0)

    def test_the_spelling_of_the_rules_is_used(self, desk: Desk) -> None:
        desk.start(TTT.upper(), "X")
        assert desk.move(0, None).startswith("(PLACE ")
        assert desk.move(1, ["(PLACE 2 2)", "NOOP"]) == "NOOP"

    def test_catches_up_with_the_history(self, desk: Desk) -> None:
        history = [["(place 2 2)", "noop"], ["noop", "(place 1 1)"]]
        desk.start(TTT, "x", history=history)
        answer = desk.move(0, ["(place 3 3)", "noop"])
        assert answer == "noop"
        assert desk.move(1, ["noop", "(place 1 3)"]) in {
            f"(place {square})" for square in ("1 2", "2 1", "2 3", "3 1", "3 2")
        }

    def test_one_legal_move_is_answered_without_thinking(self, desk: Desk) -> None:
        desk.start(TTT, "o", find_agent("uct"))
        assert desk.move(0, None) == "noop"  # long before the deadline

    def test_thinks_until_the_deadline_without_a_budget(self, desk: Desk) -> None:
        desk.start(TTT, "x", find_agent("uct").with_settings(["memory=64"]))
        desk.expect("ready")
        by = time.monotonic() + 0.5
        desk.post(do="play", id=0, moves=None, by=by)
        reply = desk.expect("move")
        assert time.monotonic() > by - 0.3  # not much too early
        assert reply["report"]["simulations"] > 0

    def test_a_message_interrupts_the_thinking(self, desk: Desk) -> None:
        """The second PLAY takes the place of the first, which would have taken for ever."""
        desk.start(RPS, "left", find_agent("uct").with_settings(["memory=16"]))
        desk.expect("ready")
        desk.play(0, None)
        desk.play(1, ["(show rock)", "(show rock)"], seconds=0.0)
        assert desk.answer(1).startswith("(show ")

    # Decision 11
    def test_thinks_during_the_start_clock_into_the_same_tree(self, desk: Desk) -> None:
        agent = find_agent("uct").with_settings(["simulations=300", "memory=16"])
        desk.start(TTT, "x", agent, by=time.monotonic() + FOREVER)
        desk.expect("safe")
        desk.play(0, None)
        report = desk.expect("move")["report"]
        # the budget is one for the state, whether it was used up before PLAY or after
        assert report["simulations"] == report["root_visits"] == 300


class TestRepeatedMessages:
    def test_the_same_play_gets_the_same_answer(self, desk: Desk) -> None:
        desk.start(TTT, "o", find_agent("random"))
        desk.move(0, None)
        first = desk.move(1, ["(place 2 2)", "noop"])
        answers = {desk.move(2 + i, ["(place 2 2)", "noop"]) for i in range(8)}
        assert answers == {first}
        assert desk.move(20, ["noop", first]) == "noop"

    def test_the_first_play_as_well(self, desk: Desk) -> None:
        desk.start(TTT, "x", find_agent("random"))
        first = desk.move(0, None)
        assert {desk.move(1 + i, None) for i in range(8)} == {first}

    def test_before_the_first_was_answered_it_is_answered_once_thought_about(
        self, desk: Desk
    ) -> None:
        """The answer to an earlier PLAY is no answer to this one."""
        desk.start(TTT, "o", find_agent("uct").with_settings(["memory=16"]))
        assert desk.move(0, None) == "noop"
        desk.play(1, ["(place 2 2)", "noop"])
        desk.play(2, ["(place 2 2)", "noop"], seconds=0.3)
        assert desk.answer(2).startswith("(place ")

    def test_what_can_happen_twice_has_happened_twice(self, desk: Desk) -> None:
        """Rock against rock is legal again, so the second PLAY is a new one: 5 rounds in all."""
        desk.start(RPS, "left")
        desk.move(0, None)
        for number in range(1, 5):
            desk.move(number, ["(show rock)", "(show rock)"])
        desk.play(5, ["(show rock)", "(show rock)"])
        assert "no legal move" in desk.expect("failed")["text"]  # the game is over


class TestForcedMoves:
    def test_the_only_legal_move_is_answered_at_once(self, desk: Desk) -> None:
        """The deadline does not come, and there is no limit to the simulations."""
        desk.start(TTT, "o", find_agent("uct").with_settings(["memory=64"]))
        desk.play(0, None)
        assert desk.answer(0) == "noop"

    def test_thinking_goes_on_for_the_next_move(self, desk: Desk) -> None:
        desk.start(TTT, "o", find_agent("uct").with_settings(["memory=64"]))
        desk.play(0, None)
        assert desk.answer(0) == "noop"
        time.sleep(0.5)  # while x thinks
        desk.play(1, ["(place 2 2)", "noop"], seconds=0.0)
        reply = desk.expect("move")
        assert reply["report"]["root_visits"] > reply["report"]["simulations"]
        assert reply["move"].startswith("(place ")

    def test_a_proven_score_is_answered_at_once(self, desk: Desk) -> None:
        """x has won in three moves wherever it goes, and the deadline does not come."""
        desk.start(TTT, "x", find_agent("default").with_settings(["memory=64", "C=1"]))
        desk.play(0, None, seconds=0.0)
        desk.answer(0)
        for number, joint in enumerate(
            (["(place 2 2)", "noop"], ["noop", "(place 2 1)"], ["(place 1 1)", "noop"]), 1
        ):
            desk.play(number, joint, seconds=0.0)
            desk.answer(number)
        desk.play(4, ["noop", "(place 3 3)"])
        reply = desk.expect("move")
        assert reply["report"]["proven"] == [100, 100]


class TestTrouble:
    def test_an_illegal_joint_move_does_not_stop_it(self, desk: Desk) -> None:
        desk.start(TTT, "o")
        desk.move(0, None)
        assert desk.move(1, ["(place 9 9)", "noop"])
        assert desk.move(2, ["noop", "nonsense"])
        assert desk.is_alive()

    def test_the_manager_may_allow_what_we_think_illegal(self, desk: Desk) -> None:
        desk.start(TTT, "o")
        desk.move(0, ["(place 2 2)", "noop"])
        # x again, out of turn
        desk.move(1, ["(place 1 1)", "noop"])
        assert desk.is_alive()

    @pytest.mark.parametrize("moves", [["go"], ["go", "go", "go"], []])
    def test_a_joint_move_of_the_wrong_length_is_refused(
        self, desk: Desk, moves: list[str]
    ) -> None:
        desk.start(DERIVED_ROLES, "bob")
        desk.move(0, None)
        desk.play(1, moves)
        assert "2 roles" in desk.expect("failed")["text"]
        assert desk.move(2, ["go", "stay"]) in ("go", "stay")

    def test_an_unknown_role_is_refused_by_name(self, desk: Desk) -> None:
        desk.start(TTT, "Z")
        text = desk.expect("failed")["text"]
        assert "z is not a role" in text and "x o" in text

    @pytest.mark.parametrize("rules", ["", "((", "(role x))"])
    def test_broken_rules_are_refused(self, desk: Desk, rules: str) -> None:
        desk.start(rules, "x")
        assert desk.expect("failed")["text"].startswith("rules")

    def test_rules_without_a_role_are_refused(self, desk: Desk) -> None:
        desk.start("(legal x go) (init here)", "x")
        assert desk.is_alive()
        desk.play(0, None)
        time.sleep(0.5)
        assert desk.is_alive()

    def test_play_without_a_match_is_refused(self, desk: Desk) -> None:
        desk.play(0, None)
        assert "no match" in desk.expect("failed")["text"]

    def test_play_after_the_end_is_refused(self, desk: Desk) -> None:
        rules = "(role a) (init on) (legal a go) (<= (next off) (true on)) " + (
            "(<= terminal (true off)) (goal a 100)"
        )
        desk.start(rules, "a")
        assert desk.move(0, None) == "go"
        desk.play(1, ["go"])
        assert "no legal move" in desk.expect("failed")["text"]
        assert desk.is_alive()

    def test_a_reasoner_that_fails_while_thinking_does_not_end_the_worker(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It answers by what it has found so far."""

        def fail(self: object, deadline: float, interrupted: object) -> None:
            raise WorkerError("out of order")

        monkeypatch.setattr(NativeSearch, "think", fail)
        desk.start(TTT, "x")
        assert desk.move(0, None).startswith("(place ")
        assert desk.is_alive()


class TestReasoners:
    @pytest.fixture(autouse=True)
    def no_patience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_module, "PROLOG_AFTER", 0.05)

    def test_prolog_plays_where_grounding_never_ends(self, desk: Desk) -> None:
        before = own_children()
        desk.start(ENDLESS, "counter")
        assert desk.expect("ready")["reasoner"] == "PrologStateMachine"
        answers = [desk.move(0, None), desk.move(1, ["up"]), desk.move(2, ["up"])]
        assert answers == ["up", "up", "up"]
        for pid in own_children() - before:  # its grounders would go on for ever
            os.kill(pid, signal.SIGKILL)

    def test_prolog_plays_where_grounding_is_impossible(self, desk: Desk) -> None:
        desk.start(UNSAFE, "player")
        assert desk.expect("ready")["reasoner"] == "PrologStateMachine"
        assert desk.move(0, None) == "go"
        assert desk.move(1, ["go"]) == "go"

    def test_the_propnet_takes_over_from_prolog(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In mid-match, with the history."""
        others = own_children()
        let_it = threading.Event()
        made = PropnetStateMachine.from_rules

        def slowly(sheet: RuleSheet, **limits: Any) -> PropnetStateMachine:
            let_it.wait(GUARD)
            return made(sheet, **limits)

        monkeypatch.setattr(PropnetStateMachine, "from_rules", slowly)
        desk.start(TTT, "o", find_agent("legal"))
        assert desk.expect("ready")["reasoner"] == "PrologStateMachine"
        assert desk.move(0, None) == "noop"
        assert desk.move(1, ["(place 1 1)", "noop"]) == "(place 1 2)"
        prolog = own_children() - others
        assert prolog
        let_it.set()
        assert desk.expect("ready")["reasoner"] == "PropnetStateMachine"
        assert desk.expect("safe") == {"say": "safe", "id": 1, "move": "(place 1 2)"}
        assert desk.move(2, ["noop", "(place 1 2)"]) == "noop"
        assert desk.move(3, ["(place 1 3)", "noop"]) == "(place 2 1)"
        assert wait_until(lambda: not prolog & own_children()), "Prolog still runs"

    def test_no_prolog_where_the_propnet_is_there_in_time(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = threading.Event()

        def refuse(*_: Any, **__: Any) -> StateMachine:
            asked.set()
            raise WorkerError("not needed")

        monkeypatch.setattr(worker_module, "PROLOG_AFTER", GUARD)
        monkeypatch.setattr(worker_module, "PrologStateMachine", refuse)
        desk.start(TTT, "x")
        desk.move(0, None)
        assert not asked.wait(0.5)

    def test_the_grounder_has_a_limit(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """Rules that never end must not eat the machine's memory."""
        given: queue.Queue[dict[str, Any]] = queue.Queue()
        ground = propnet_machine.ground

        def noting(sheet: RuleSheet, **limits: Any) -> GroundProgram:
            given.put(limits)
            return ground(sheet, **limits)

        monkeypatch.setattr(propnet_machine, "ground", noting)
        desk.start(TTT, "x")
        limits = given.get(timeout=GUARD)
        assert 2**28 <= limits["memory"] <= 2**40
        assert 1 <= limits["seconds"] <= 3600

    def test_agents_get_the_thinker_that_their_strategy_names(self) -> None:
        sheet = RuleSheet.from_text(TTT)
        propnet = PropnetStateMachine.from_rules(sheet)

        thinkers = {
            name: make_thinker(propnet, 0, find_agent(name).with_settings(given), 1)
            for name, given in {
                "uct": ["memory=16", "threads=1"],
                "ap": ["memory=32", "threads=2"],
                "random": [],
                "legal": [],
            }.items()
        }
        assert {name: type(thinker) for name, thinker in thinkers.items()} == {
            "uct": NativeSearch,
            "ap": ParallelSearch,
            "random": LegalThinker,
            "legal": LegalThinker,
        }
        assert thinkers["legal"].choose() == read_term("(place 1 1)")
        assert isinstance(make_thinker(_Foreign(propnet), 0, QUICK, 1), PlainSearch)


class _Foreign(StateMachine):
    """A state machine around one of ours of which the native search knows nothing."""

    roles: tuple[Term, ...] = ()
    initial_state: State = None

    def __init__(self, machine: StateMachine) -> None:
        self._machine = machine
        self.roles, self.initial_state = machine.roles, machine.initial_state

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        return self._machine.legal_moves(state, role)

    def next_state(
        self, state: State, joint_move: JointMove, random: random.Random | None = None
    ) -> State:
        return self._machine.next_state(state, joint_move)

    def is_terminal(self, state: State) -> bool:
        return self._machine.is_terminal(state)

    def goals(self, state: State) -> tuple[int, ...]:
        return self._machine.goals(state)

    def fluents(self, state: State) -> frozenset[Term]:
        return self._machine.fluents(state)

    def state_from(self, fluents: Iterable[Term]) -> State:
        return self._machine.state_from(fluents)


async def replies_until(worker: WorkerProcess, say: str) -> list[dict[str, Any]]:
    """The worker's replies up to the first of this kind."""
    heard = []
    async with asyncio.timeout(GUARD):
        async for reply in worker.replies():
            heard.append(reply)
            if reply["say"] == say:
                return heard
    raise AssertionError(f"the worker ended; it said {heard}")


def start_command(rules: str, role: str, agent: Agent = QUICK) -> dict[str, Any]:
    fields = agent_fields(agent)
    return {
        "do": "start", "rules": rules, "role": role, "agent": fields, "seed": 1, "history": [],
        "by": 0.0,
    }  # fmt: skip


class TestProcess:
    def test_plays_over_its_pipes(self) -> None:
        async def session() -> str:
            worker = await WorkerProcess.start()
            try:
                await worker.warm()
                await worker.send(**start_command(TTT, "o"))
                await worker.send(do="play", id=0, moves=None, by=0.0)
                await worker.send(do="play", id=1, moves=["(place 1 1)", "noop"], by=0.0)
                replies = await replies_until(worker, "move")
                while replies[-1]["id"] != 1:
                    replies = await replies_until(worker, "move")
                return str(replies[-1]["move"])
            finally:
                await worker.end()
                assert not is_running(worker.pid)

        assert asyncio.run(session()).startswith("(place ")

    def test_big_rules_pass_the_pipe(self) -> None:
        """Far more than a pipe holds, with characters that are no ASCII."""
        rules = TTT + "".join(f"\n; comment {i} äöü 漢字" for i in range(20000))

        async def session() -> None:
            worker = await WorkerProcess.start()
            try:
                await worker.send(**start_command(rules, "x"))
                await replies_until(worker, "safe")
            finally:
                await worker.end()

        asyncio.run(session())

    def test_ends_with_its_input(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "ggp_agent.mind.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        with process.stdin, process.stdout:
            process.stdin.write(json.dumps(start_command(ENDLESS, "counter")) + "\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline())["say"] != "ready":
                pass
            helpers = children_of(process.pid)
            assert helpers, "a grounder and Prolog are at work"
        assert process.wait(GUARD) == 0
        assert wait_until(lambda: not any(map(is_running, helpers)))

    def test_ignores_ctrl_c(self) -> None:
        """Which reaches the whole process group; the server is to decide what it means."""

        async def session() -> None:
            worker = await WorkerProcess.start()
            try:
                await worker.warm()
                os.kill(worker.pid, signal.SIGINT)
                await worker.send(**start_command(TTT, "x"))
                await replies_until(worker, "safe")
            finally:
                await worker.end()

        asyncio.run(session())

    def test_a_killed_worker_takes_its_helpers_along(self) -> None:
        files = set(Path(tempfile.gettempdir()).glob("gdl-*"))

        async def session() -> None:
            worker = await WorkerProcess.start()
            try:
                await worker.send(**start_command(ENDLESS, "counter"))
                await replies_until(worker, "ready")
                helpers = children_of(worker.pid)
            finally:
                await worker.end()
            assert helpers
            assert set(Path(tempfile.gettempdir()).glob("gdl-*")) <= files
            assert wait_until(lambda: not any(map(is_running, helpers)))

        asyncio.run(session())

    def test_send_says_when_the_process_is_gone(self) -> None:
        async def session() -> None:
            worker = await WorkerProcess.start()
            await worker.end()
            await worker.end()  # twice does no harm
            with pytest.raises(WorkerError, match="gone"):
                for _ in range(100):  # the first few may still go into the pipe
                    await worker.send(do="play", id=0, moves=None, by=0.0)
                    await asyncio.sleep(0.01)

        asyncio.run(session())


class TestPool:
    def test_takes_what_was_prepared_and_leaves_nothing_behind(self) -> None:
        async def session() -> None:
            before = own_children()
            pool = WorkerPool()
            await pool.prepare()
            prepared = own_children() - before
            worker = await pool.take()
            assert {worker.pid} == prepared
            await pool.release(worker)
            assert not is_running(worker.pid)
            await pool.close()
            assert own_children() <= before

        asyncio.run(session())

    def test_close_in_the_middle_of_warming_up_leaves_nothing_behind(self) -> None:
        async def session() -> None:
            before = own_children()
            for wait in (0.0, 0.01, 0.2):
                pool = WorkerPool(spares=2)
                preparing = asyncio.create_task(pool.prepare(2))
                await asyncio.sleep(wait)
                await pool.close()
                with pytest.raises((asyncio.CancelledError, WorkerError)):
                    await preparing
                assert own_children() <= before

        asyncio.run(session())

    def test_a_taken_worker_is_ended_by_close(self) -> None:
        async def session() -> None:
            pool = WorkerPool(spares=0)
            worker = await pool.take()
            await pool.close()
            await pool.close()
            assert not is_running(worker.pid)

        asyncio.run(session())

    def test_a_closed_pool_gives_no_workers(self) -> None:
        async def session() -> None:
            pool = WorkerPool()
            await pool.close()
            with pytest.raises(WorkerError, match="closed"):
                await pool.take()

        asyncio.run(session())

    def test_a_worker_that_cannot_start_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def session() -> None:
            monkeypatch.setattr(sys, "executable", "/no/such/python")
            pool = WorkerPool(spares=0)
            with pytest.raises(WorkerError, match="cannot start"):
                await pool.prepare()
            with pytest.raises(WorkerError, match="cannot start"):
                await pool.take()
            await pool.close()

        asyncio.run(session())

    def test_a_worker_that_ends_while_loading_is_an_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def session() -> None:
            monkeypatch.setattr(sys, "executable", "/bin/false")
            pool = WorkerPool(spares=0)
            with pytest.raises(WorkerError):
                await pool.take()
            monkeypatch.undo()
            worker = await pool.take()  # the next one is fine
            await pool.close()
            assert not is_running(worker.pid)

        asyncio.run(session())
