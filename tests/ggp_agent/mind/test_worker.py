"""The worker: commands in, replies out; as an object in a thread, and as the process it is."""

from __future__ import annotations

import asyncio
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gdl import rules as rules_module
from gdl import validation
from gdl.grounding import GroundProgram
from gdl.kif import Node, Source, read
from gdl.rules import RuleSheet, Term, read_term, write_term
from gdl.state_machine import JointMove, Move, State, StateMachine
from gdl.validation import Finding
from ggp_agent.errors import ParameterError, WorkerError
from ggp_agent.library.games import find_game
from ggp_agent.mind import reasoners
from ggp_agent.mind import worker as worker_module
from ggp_agent.mind.agents import read_agent
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.mind.thinker import LegalThinker
from ggp_agent.mind.worker import Worker
from ggp_agent.player import workers
from ggp_agent.player.workers import WorkerPool, WorkerProcess, start_worker, warm_worker
from ggp_agent.protocol.worker_commands import (
    COMMANDS,
    REPLIES,
    AgentProfile,
    BadAgent,
    Failed,
    FindMove,
    FoundMove,
    IsReady,
    IsWarm,
    Quit,
    Reply,
    SafeMove,
    StartMatch,
    Warm,
)
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch
from ggp_agent.search.plain import PlainSearch
from propnet import compiling
from propnet import machine as propnet_machine
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.processes import GUARD, children_of, is_running, own_children, wait_until

FOREVER = 1e6
"""Seconds until a deadline that is not meant to come."""

QUICK = "uct:simulations=200:memory=16"
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


Kind = TypeVar("Kind", IsWarm, BadAgent, IsReady, SafeMove, FoundMove, Failed)


class Desk:
    """Talks to a worker that runs in a thread."""

    def __init__(self) -> None:
        self._said: queue.Queue[Reply | BaseException] = queue.Queue()
        self.worker = Worker(self._said.put)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.worker.run()
        except BaseException as error:
            self._said.put(error)

    def start(self, rules: str, role: str, agent: str = QUICK, **changes: Any) -> None:
        self.worker.post(StartMatch(rules, role, agent, seed=1, **changes))

    def play(self, number: int, moves: Sequence[str] | None, seconds: float = FOREVER) -> None:
        """PLAY; the agents of these tests are done long before the deadline."""
        joint = None if moves is None else tuple(moves)
        self.worker.post(FindMove(number, joint, by=time.monotonic() + seconds))

    def expect(self, kind: type[Kind]) -> Kind:
        """The next reply of this kind; others are skipped, unless the worker is in trouble."""
        while True:
            reply = self._said.get(timeout=GUARD)
            if isinstance(reply, kind):
                return reply
            assert not isinstance(reply, BaseException | Failed), reply

    def answer(self, number: int) -> str:
        """The move that is answered to a PLAY."""
        reply = self.expect(FoundMove)
        assert reply.request == number
        return reply.move

    def move(self, number: int, moves: Sequence[str] | None) -> str:
        self.play(number, moves)
        return self.answer(number)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def nothing_said(self) -> bool:
        return self._said.empty()

    def quit(self) -> None:
        self.worker.post(Quit())
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
        monkeypatch.setattr(reasoners, "PROLOG_AFTER", GUARD)
        sheet = find_game(key).rule_sheet()
        try:
            desk.start(find_game(key).text(), write_term(sheet.roles[0]))
            assert desk.expect(IsReady).reasoner == "PropnetStateMachine"
            first = desk.expect(SafeMove).move
            assert desk.move(1, None)
            thinker = desk.worker._match.thinker if desk.worker._match else None
            assert isinstance(thinker, NativeSearch)
            assert first and not thinker._layout.code.any()
        finally:
            enough.set()


class TestPlaying:
    def test_says_which_reasoner_it_has_and_a_safe_move(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reasoners, "PROLOG_AFTER", GUARD)  # kernels may have to load
        desk.start(TTT, "x")
        assert desk.expect(IsReady).reasoner == "PropnetStateMachine"
        assert desk.expect(SafeMove) == SafeMove(None, "(place 1 1)")

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
        desk.expect(SafeMove)
        desk.play(0, ["(place 1 1)", "noop"])
        assert desk.expect(SafeMove) == SafeMove(0, "(place 1 2)")
        desk.answer(0)

    def test_the_spelling_of_the_rules_is_used(self, desk: Desk) -> None:
        desk.start(TTT.upper(), "X")
        assert desk.move(0, None).startswith("(PLACE ")
        assert desk.move(1, ["(PLACE 2 2)", "NOOP"]) == "NOOP"

    def test_catches_up_with_the_history(self, desk: Desk) -> None:
        history = (("(place 2 2)", "noop"), ("noop", "(place 1 1)"))
        desk.start(TTT, "x", history=history)
        answer = desk.move(0, ["(place 3 3)", "noop"])
        assert answer == "noop"
        assert desk.move(1, ["noop", "(place 1 3)"]) in {
            f"(place {square})" for square in ("1 2", "2 1", "2 3", "3 1", "3 2")
        }

    def test_one_legal_move_is_answered_without_thinking(self, desk: Desk) -> None:
        desk.start(TTT, "o", "uct")
        assert desk.move(0, None) == "noop"  # long before the deadline

    def test_thinks_until_the_deadline_without_a_budget(self, desk: Desk) -> None:
        desk.start(TTT, "x", "uct:memory=64")
        desk.expect(IsReady)
        by = time.monotonic() + 0.5
        desk.worker.post(FindMove(0, None, by))
        reply = desk.expect(FoundMove)
        assert time.monotonic() > by - 0.3  # not much too early
        assert reply.report["simulations"] > 0

    def test_a_message_interrupts_the_thinking(self, desk: Desk) -> None:
        """The second PLAY takes the place of the first, which would have taken for ever."""
        desk.start(RPS, "left", "uct:memory=16")
        desk.expect(IsReady)
        desk.play(0, None)
        desk.play(1, ["(show rock)", "(show rock)"], seconds=0.0)
        assert desk.answer(1).startswith("(show ")

    # Decision 11
    def test_thinks_during_the_start_clock_into_the_same_tree(self, desk: Desk) -> None:
        agent = "uct:simulations=300:memory=16"
        desk.start(TTT, "x", agent, by=time.monotonic() + FOREVER)
        desk.expect(SafeMove)
        desk.play(0, None)
        report = desk.expect(FoundMove).report
        # the budget is one for the state, whether it was used up before PLAY or after
        assert report["simulations"] == report["root_visits"] == 300


class TestRepeatedMessages:
    def test_the_same_play_gets_the_same_answer(self, desk: Desk) -> None:
        desk.start(TTT, "o", "random")
        desk.move(0, None)
        first = desk.move(1, ["(place 2 2)", "noop"])
        answers = {desk.move(2 + i, ["(place 2 2)", "noop"]) for i in range(8)}
        assert answers == {first}
        assert desk.move(20, ["noop", first]) == "noop"

    def test_the_first_play_as_well(self, desk: Desk) -> None:
        desk.start(TTT, "x", "random")
        first = desk.move(0, None)
        assert {desk.move(1 + i, None) for i in range(8)} == {first}

    def test_before_the_first_was_answered_it_is_answered_once_thought_about(
        self, desk: Desk
    ) -> None:
        """The answer to an earlier PLAY is no answer to this one."""
        desk.start(TTT, "o", "uct:memory=16")
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
        assert "no legal move" in desk.expect(Failed).text  # the game is over


class TestForcedMoves:
    def test_the_only_legal_move_is_answered_at_once(self, desk: Desk) -> None:
        """The deadline does not come, and there is no limit to the simulations."""
        desk.start(TTT, "o", "uct:memory=64")
        desk.play(0, None)
        assert desk.answer(0) == "noop"

    def test_thinking_goes_on_for_the_next_move(self, desk: Desk) -> None:
        desk.start(TTT, "o", "uct:memory=64")
        desk.play(0, None)
        assert desk.answer(0) == "noop"
        time.sleep(0.5)  # while x thinks
        desk.play(1, ["(place 2 2)", "noop"], seconds=0.0)
        reply = desk.expect(FoundMove)
        assert reply.report["root_visits"] > reply.report["simulations"]
        assert reply.move.startswith("(place ")

    def test_a_proven_score_is_answered_at_once(self, desk: Desk) -> None:
        """x has won in three moves wherever it goes, and the deadline does not come."""
        desk.start(TTT, "x", "default:memory=64:C=1")
        desk.play(0, None, seconds=0.0)
        desk.answer(0)
        for number, joint in enumerate(
            (["(place 2 2)", "noop"], ["noop", "(place 2 1)"], ["(place 1 1)", "noop"]), 1
        ):
            desk.play(number, joint, seconds=0.0)
            desk.answer(number)
        desk.play(4, ["noop", "(place 3 3)"])
        reply = desk.expect(FoundMove)
        assert reply.report["proven"] == [100, 100]


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
        assert "2 roles" in desk.expect(Failed).text
        assert desk.move(2, ["go", "stay"]) in ("go", "stay")

    def test_an_unknown_role_is_refused_by_name(self, desk: Desk) -> None:
        desk.start(TTT, "Z")
        text = desk.expect(Failed).text
        assert "z is not a role" in text and "x o" in text

    @pytest.mark.parametrize("rules", ["", "((", "(role x))"])
    def test_broken_rules_are_refused(self, desk: Desk, rules: str) -> None:
        desk.start(rules, "x")
        assert desk.expect(Failed).text.startswith("rules")

    def test_rules_without_a_role_are_refused(self, desk: Desk) -> None:
        desk.start("(legal x go) (init here)", "x")
        assert desk.is_alive()
        desk.play(0, None)
        time.sleep(0.5)
        assert desk.is_alive()

    def test_play_without_a_match_is_refused(self, desk: Desk) -> None:
        desk.play(0, None)
        assert "no match" in desk.expect(Failed).text

    def test_play_after_the_end_is_refused(self, desk: Desk) -> None:
        rules = "(role a) (init on) (legal a go) (<= (next off) (true on)) " + (
            "(<= terminal (true off)) (goal a 100)"
        )
        desk.start(rules, "a")
        assert desk.move(0, None) == "go"
        desk.play(1, ["go"])
        assert "no legal move" in desk.expect(Failed).text
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


class TestWords:
    @pytest.mark.parametrize(
        ("line", "complaint"),
        [
            ('{"kind": "Dance"}', "unknown command or reply 'Dance'"),
            ("(play)", "not a command"),
            (
                '{"kind": "FindMove", "request": "one", "moves": null, "by": 0}',
                "malformed FindMove",
            ),
        ],
    )
    def test_what_is_no_command_is_answered_and_work_goes_on(
        self, desk: Desk, line: str, complaint: str
    ) -> None:
        said = COMMANDS.read(line)
        desk.worker.post(said)
        assert complaint in desk.expect(Failed).text
        desk.start(TTT, "o")
        assert desk.move(0, None) == "noop"

    def test_a_wrong_agent_is_answered_before_anything_is_loaded(self, desk: Desk) -> None:
        for text in ("nobody", "uct:C=99", "uct:nothing", "random-nmc"):
            desk.worker.post(Warm(text))
            assert desk.expect(BadAgent).text
        desk.start(TTT, "x", "uct:C=99")
        assert "C must be" in desk.expect(Failed).text

    def test_the_server_is_told_what_it_has_to_know_of_the_agent(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded: list[list[str]] = []
        monkeypatch.setattr(worker_module, "warm_up", loaded.append)
        for text, profile in {
            "uct:threads=3:margin=0.5": AgentProfile("uct", 3, 0.5, uses_clock=True),
            "ap-nmc:threads=1:tune=C": AgentProfile("ap-nmc", 1, 0.2, uses_clock=True),
            "uct:simulations=100": AgentProfile("uct", 1, 0.2, uses_clock=False),
            "legal:threads=1": AgentProfile("legal", 1, 0.2, uses_clock=False),
        }.items():
            desk.worker.post(Warm(text))
            assert desk.expect(IsWarm) == IsWarm(profile)
        assert loaded == [[], ["nmc"], [], []]


class TestReasoners:
    @pytest.fixture(autouse=True)
    def no_patience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reasoners, "PROLOG_AFTER", 0.05)

    def test_prolog_plays_where_grounding_never_ends(self, desk: Desk) -> None:
        before = own_children()
        desk.start(ENDLESS, "counter")
        assert desk.expect(IsReady).reasoner == "PrologStateMachine"
        answers = [desk.move(0, None), desk.move(1, ["up"]), desk.move(2, ["up"])]
        assert answers == ["up", "up", "up"]
        for pid in own_children() - before:  # its grounders would go on for ever
            os.kill(pid, signal.SIGKILL)

    def test_prolog_plays_where_grounding_is_impossible(self, desk: Desk) -> None:
        desk.start(UNSAFE, "player")
        assert desk.expect(IsReady).reasoner == "PrologStateMachine"
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
        desk.start(TTT, "o", "legal")
        assert desk.expect(IsReady).reasoner == "PrologStateMachine"
        assert desk.move(0, None) == "noop"
        assert desk.move(1, ["(place 1 1)", "noop"]) == "(place 1 2)"
        prolog = own_children() - others
        assert prolog
        let_it.set()
        assert desk.expect(IsReady).reasoner == "PropnetStateMachine"
        assert desk.expect(SafeMove) == SafeMove(1, "(place 1 2)")
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

        monkeypatch.setattr(reasoners, "PROLOG_AFTER", GUARD)
        monkeypatch.setattr(reasoners, "PrologStateMachine", refuse)
        desk.start(TTT, "x")
        desk.move(0, None)
        assert not asked.wait(0.5)

    def test_the_rules_are_read_once(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        texts: list[str] = []
        checked = threading.Event()
        check = reasoners.check_nodes

        def noting(source: Source) -> tuple[Node, ...]:
            texts.append(source.text)
            return read(source)

        def checking(nodes: Sequence[Node], source: Source) -> list[Finding]:
            findings = check(nodes, source)
            checked.set()
            return findings

        for module in (worker_module, rules_module, validation):
            monkeypatch.setattr(module, "read", noting)
        monkeypatch.setattr(reasoners, "check_nodes", checking)
        desk.start(TTT, "x")
        desk.move(0, None)
        assert checked.wait(GUARD)
        assert texts.count(TTT) == 1

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
            name: make_thinker(propnet, 0, read_agent(":".join([name, *given])), 1)
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
        assert isinstance(make_thinker(_Foreign(propnet), 0, read_agent(QUICK), 1), PlainSearch)


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


async def replies_until(worker: WorkerProcess, kind: type[Kind]) -> Kind:
    """The worker's next reply of this kind."""
    heard = []
    async with asyncio.timeout(GUARD):
        async for reply in worker.replies():
            heard.append(reply)
            if isinstance(reply, kind):
                return reply
    raise AssertionError(f"the worker ended; it said {heard}")


def start_command(rules: str, role: str) -> StartMatch:
    return StartMatch(rules, role, QUICK, seed=1)


class TestProcess:
    def test_plays_over_its_pipes(self) -> None:
        async def session() -> str:
            worker = await start_worker()
            try:
                await warm_worker(worker, QUICK)
                await worker.send(start_command(TTT, "o"))
                await worker.send(FindMove(0, None, by=0.0))
                await worker.send(FindMove(1, ("(place 1 1)", "noop"), by=0.0))
                while (found := await replies_until(worker, FoundMove)).request != 1:
                    pass
                return found.move
            finally:
                await worker.end()
                assert not is_running(worker.pid)

        assert asyncio.run(session()).startswith("(place ")

    def test_a_line_that_is_no_command_is_answered(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", workers.MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = '{"kind": "Dance"}\n' + COMMANDS.write(start_command(TTT, "Z")) + "nonsense\n"
        said, _ = process.communicate(lines, GUARD)
        replies = [REPLIES.read(line) for line in said.splitlines()]
        assert process.returncode == 0
        assert [type(reply) for reply in replies[:2]] == [Failed, Failed]

    def test_a_wrong_agent_is_an_error_of_the_one_who_asks(self) -> None:
        async def session() -> None:
            pool = WorkerPool("uct:C=99", spares=0)
            with pytest.raises(ParameterError, match="C must be"):
                await pool.prepare()
            with pytest.raises(ParameterError, match="C must be"):
                await pool.take()
            await pool.close()

        asyncio.run(session())

    def test_big_rules_pass_the_pipe(self) -> None:
        """Far more than a pipe holds, with characters that are no ASCII."""
        rules = TTT + "".join(f"\n; comment {i} äöü 漢字" for i in range(20000))

        async def session() -> None:
            worker = await start_worker()
            try:
                await worker.send(start_command(rules, "x"))
                await replies_until(worker, SafeMove)
            finally:
                await worker.end()

        asyncio.run(session())

    def test_ends_with_its_input(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", workers.MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        with process.stdin, process.stdout:
            process.stdin.write(COMMANDS.write(start_command(ENDLESS, "counter")))
            process.stdin.flush()
            while not isinstance(REPLIES.read(process.stdout.readline()), IsReady):
                pass
            helpers = children_of(process.pid)
            assert helpers, "a grounder and Prolog are at work"
        assert process.wait(GUARD) == 0
        assert wait_until(lambda: not any(map(is_running, helpers)))

    def test_ignores_ctrl_c(self) -> None:
        """Which reaches the whole process group; the server is to decide what it means."""

        async def session() -> None:
            worker = await start_worker()
            try:
                await warm_worker(worker, QUICK)
                os.kill(worker.pid, signal.SIGINT)
                await worker.send(start_command(TTT, "x"))
                await replies_until(worker, SafeMove)
            finally:
                await worker.end()

        asyncio.run(session())

    def test_a_killed_worker_takes_its_helpers_along(self) -> None:
        files = set(Path(tempfile.gettempdir()).glob("gdl-*"))

        async def session() -> None:
            worker = await start_worker()
            try:
                await worker.send(start_command(ENDLESS, "counter"))
                await replies_until(worker, IsReady)
                helpers = children_of(worker.pid)
            finally:
                await worker.end()
            assert helpers
            assert set(Path(tempfile.gettempdir()).glob("gdl-*")) <= files
            assert wait_until(lambda: not any(map(is_running, helpers)))

        asyncio.run(session())

    def test_send_says_when_the_process_is_gone(self) -> None:
        async def session() -> None:
            worker = await start_worker()
            await worker.end()
            await worker.end()  # twice does no harm
            with pytest.raises(WorkerError, match="gone"):
                for _ in range(100):  # the first few may still go into the pipe
                    await worker.send(FindMove(0, None, by=0.0))
                    await asyncio.sleep(0.01)

        asyncio.run(session())


class TestPool:
    def test_takes_what_was_prepared_and_leaves_nothing_behind(self) -> None:
        async def session() -> None:
            before = own_children()
            pool = WorkerPool(QUICK)
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
                pool = WorkerPool(QUICK, spares=2)
                preparing = asyncio.create_task(pool.prepare(2))
                await asyncio.sleep(wait)
                await pool.close()
                with pytest.raises((asyncio.CancelledError, WorkerError)):
                    await preparing
                assert own_children() <= before

        asyncio.run(session())

    def test_a_taken_worker_is_ended_by_close(self) -> None:
        async def session() -> None:
            pool = WorkerPool(QUICK, spares=0)
            worker = await pool.take()
            await pool.close()
            await pool.close()
            assert not is_running(worker.pid)

        asyncio.run(session())

    def test_a_closed_pool_gives_no_workers(self) -> None:
        async def session() -> None:
            pool = WorkerPool(QUICK)
            await pool.close()
            with pytest.raises(WorkerError, match="closed"):
                await pool.take()

        asyncio.run(session())

    def test_a_worker_that_cannot_start_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def session() -> None:
            monkeypatch.setattr(sys, "executable", "/no/such/python")
            pool = WorkerPool(QUICK, spares=0)
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
            pool = WorkerPool(QUICK, spares=0)
            with pytest.raises(WorkerError):
                await pool.take()
            monkeypatch.undo()
            worker = await pool.take()  # the next one is fine
            await pool.close()
            assert not is_running(worker.pid)

        asyncio.run(session())
