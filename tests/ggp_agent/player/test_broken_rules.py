"""START with rules that are broken: what is answered, what is played, and that it leaves no trace.

What can't be read, or lacks the role, is refused with the reason (status 400).  For the rest the
answer is `ready`, and the agent plays as far as the rules go: with Prolog where they can't be
grounded, and `noop` where they give it no move.  Either way PLAY is answered within its clock and
the managers' second of grace, and the next START is taken.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ggp_agent.library.games import find_game
from ggp_agent.player.match import AgentMaker
from ggp_agent.player.server import AgentServer
from ggp_agent.player.workers import WorkerPool
from tests.ggp_agent.processes import GUARD, command_line, descendants_of, is_running, wait_until

START_CLOCK = 0.6
CLOCK = 1
SLACK = 8.0
"""Seconds beyond the clock after which an answer counts as not coming: a hang takes far longer."""

_Result = TypeVar("_Result")


class Agent:
    """An agent behind HTTP, with its event loop in a thread; talks to it as a manager does."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._pool = WorkerPool("uct:simulations=100:memory=16")
        maker = AgentMaker(self._pool, self._run(self._pool.prepare()), 1)
        self._server = AgentServer(maker, name="broken", host="127.0.0.1", port=0)
        self._run(self._server.start())

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(GUARD)

    def prepare(self) -> None:
        """Wait for a worker that is warm, so that no clock runs out over loading it."""
        self._run(self._pool.prepare())

    def close(self) -> None:
        self._run(self._server.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GUARD)

    def send(self, message: str) -> tuple[int, str]:
        """Status and text of the reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=GUARD)
        try:
            connection.request("POST", "/", message.encode())
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def say(self, message: str) -> str:
        """The text of a good reply."""
        status, text = self.send(message)
        assert status == 200, text
        return text

    def start(self, rules: str, role: str = "r") -> str:
        self.prepare()
        return self.say(f"( START m {role} ({rules}) {START_CLOCK} {CLOCK})")

    def play(self, moves: str = "NIL") -> str:
        """The answer to PLAY, which must not be later than managers wait."""
        began = time.monotonic()
        answer = self.say(f"( PLAY m {moves} )")
        assert time.monotonic() - began < CLOCK + SLACK
        return answer

    def is_free(self) -> bool:
        return "( status available )" in self.say("( INFO )")

    def plays_a_good_game(self) -> None:
        """Whatever was before, a match of tic-tac-toe can be had."""
        assert self.start(find_game("ticTacToe").text(), "x") == "ready"
        assert self.play().startswith("(place ")
        assert self.say("( ABORT m )") == "aborted"


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    agent = Agent()
    yield agent
    agent.close()


@pytest.fixture(autouse=True)
def nothing_stays_behind(agent: Agent) -> Iterator[None]:
    """After every test the match is ended, and with it the processes that worked for it."""
    others = _helpers()
    yield
    helpers = _helpers() - others
    agent.send("( STOP m NIL )")
    assert agent.is_free()
    assert wait_until(lambda: not any(map(is_running, helpers)))


def _helpers() -> set[int]:
    """Prologs at work for us."""
    return {pid for pid in descendants_of(os.getpid()) if "gdl.prolog_process" in command_line(pid)}


# ------------------------------------------------------------------------------------- refused

GOOD = "(init (at 0)) (legal r go) (<= (next (at 1)) (does r go)) (goal r 50) "
END = "(<= terminal (true (at 1))) "

REFUSED = {
    "too few parentheses": ("(role r) (legal r x", r"unbalanced '\('"),
    "an empty list": ("(role r) (legal r ()) ", r"'\(\)' is not a term"),
    "a list that starts with a list": ("(role r) ((legal r) x)", "must start with a name"),
    "a rule without head": ("(role r) (<=) terminal", "has no head"),
    "a connective without operand": ("(role r) (<= terminal (not))", "'not' takes one formula"),
    "a variable for a formula": ("(role r) (<= terminal ?x)", r"\?x stands where a formula"),
    "no rules": ("", "no rules"),
    "another role": ("(role white) (role black) terminal", "r is not a role .*white black"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_or_lacks_the_role_is_refused(agent: Agent, name: str) -> None:
    rules, reason = REFUSED[name]
    status, text = agent.send(f"( START m r ({rules}) {START_CLOCK} {CLOCK})")
    assert status == 400
    assert re.search(reason, text), text
    assert agent.is_free()
    assert agent.say("( PLAY m NIL )") == "busy"  # there is no such match


def test_the_place_of_the_fault_is_named(agent: Agent) -> None:
    status, text = agent.send(
        f"( START m r ((role r)\n (legal r ok)\n  (<= ) ) {START_CLOCK} {CLOCK})"
    )
    assert (status, text.split(" ")[0]) == (400, "rules:3:3:")


def test_a_good_match_follows_a_refused_one(agent: Agent) -> None:
    assert agent.send("( START m r ((role r) (<=)) 1 1)")[0] == 400
    agent.plays_a_good_game()


# -------------------------------------------------------------------------------------- played

PLAYED = {
    "no terminal": ("(role r)" + GOOD, "go"),
    "no goal": ("(role r) (init a) (legal r go) (<= terminal (true b))", "go"),
    "goals that are no numbers": ("(role r) (init a) (legal r go) (goal r win) (goal ?)", "go"),
    "no legal": ("(role r) (init a) (goal r 1) (<= terminal (true b))", "noop"),
    "terminal at once": ("(role r) (legal r go) (goal r 1) terminal", "noop"),
    "no role": (GOOD + END, "noop"),
    "the other role has no move": (f"(role r) (role s) {GOOD} {END}", "go"),
    "we have no move, the other has": (
        "(role s) (role r) (legal s go) (goal s 1) (<= terminal (true b))",
        "noop",
    ),
    "an unsafe rule": (f"(role r) {GOOD} {END} (<= (next (f ?x)) (not (true (f ?x))))", "go"),
    "an unsafe rule for moves": (f"(role r) {GOOD} {END} (<= (legal r ?x) (true (at 0)))", "noop"),
    "a fact with a variable": (f"(role r) {GOOD} {END} (helper ?x) (<= p (helper 1))", "go"),
    "negation in a cycle": (
        f"(role r) {GOOD} {END} (<= p (not q) (true (at 0))) (<= q (not p)) (<= (goal r 9) p)",
        "go",
    ),
    "a relation that negates itself": (
        f"(role r) {GOOD} {END} (<= p (not p) (true (at 0))) (<= (next odd) p)",
        "go",
    ),
    "true and does in heads": (
        f"(role r) {GOOD} {END} (<= (true (at 2)) (true (at 0))) (<= (does r go) (true (at 1)))",
        "go",
    ),
    "keywords with the wrong number of arguments": (
        f"(role r) {GOOD} {END} (legal r) (goal r) (next a b) (role r s) (init)",
        "go",
    ),
    "init that depends on the state": (
        f"(role r) {GOOD} {END} (<= (init b) (true (at 0)))",
        "go",
    ),
}
"""Name → rules and the answer to the first PLAY."""


@pytest.mark.parametrize("name", PLAYED)
def test_what_can_be_read_is_played_as_far_as_it_goes(agent: Agent, name: str) -> None:
    rules, answer = PLAYED[name]
    assert agent.start(rules) == "ready"
    assert agent.play() == answer
    roles = max(1, rules.count("(role r)") + rules.count("(role s)"))
    assert agent.play(f"( {'go ' * roles})") in ("go", "noop")
    assert agent.say(f"( STOP m ( {'go ' * roles}) )") == "done"


def test_a_good_match_follows_a_broken_one(agent: Agent) -> None:
    assert agent.start(PLAYED["no legal"][0]) == "ready"
    assert agent.say("( STOP m NIL )") == "done"
    agent.plays_a_good_game()


# ------------------------------------------------------------------------------------- endless

ENDLESS = f"""(role r) {GOOD} {END}
(p 0) (<= (p (s ?x)) (p ?x)) """


def test_endless_recursion_reachable_from_legal(agent: Agent) -> None:
    """Nobody ever knows our moves; that is bounded, and ends with the match."""
    before = _helpers()  # of other tests, whose objects are garbage that was not collected yet
    assert agent.start(ENDLESS + "(<= (legal r (say ?x)) (p ?x))") == "ready"
    assert agent.play() == "noop"
    helpers = _helpers() - before
    assert helpers
    assert agent.play("( go )") == "noop"
    assert agent.say("( STOP m ( go ) )") == "done"
    assert wait_until(lambda: not any(map(is_running, helpers)), seconds=10)


def test_endless_recursion_that_only_a_question_bounds(agent: Agent) -> None:
    """What is asked for is finite, so that it can be grounded on demand."""
    assert agent.start(ENDLESS + "(<= (legal r deep) (p (s (s 0)))) (<= (goal r 60) (p 0))") == (
        "ready"
    )
    assert agent.play() in ("go", "deep")


def test_endless_recursion_that_nothing_needs(agent: Agent) -> None:
    assert agent.start(ENDLESS + "(<= (sees r (say ?x)) (p ?x))") == "ready"
    assert agent.play() == "go"


# ----------------------------------------------------------------------------------------- huge


def _own_memory() -> int:
    """Bytes that this process, and so the server in it, has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _info_while(agent: Agent, message: str) -> tuple[int, str]:
    """Send a message; meanwhile INFO has to be answered."""
    with ThreadPoolExecutor() as threads:
        reply = threads.submit(agent.send, message)
        while not reply.done():
            began = time.monotonic()
            assert "( name broken )" in agent.say("( INFO )")
            assert time.monotonic() - began < SLACK
            time.sleep(0.05)
        return reply.result()


@pytest.mark.parametrize("closed", [True, False])
def test_a_million_parentheses(agent: Agent, closed: bool) -> None:
    before = _own_memory()
    deep = "(" * 10**6 + "x" + ")" * 10**6 * closed
    status, text = _info_while(
        agent, f"( START m r ((role r) (legal r {deep})) {START_CLOCK} {CLOCK})"
    )
    assert status == 400
    assert "nested more than 200 deep" in text and ":1:" in text
    assert _own_memory() - before < 256 * 2**20


def test_a_million_parentheses_as_a_move(agent: Agent) -> None:
    assert agent.start(PLAYED["no terminal"][0]) == "ready"
    assert agent.play() == "go"
    status, text = _info_while(agent, f"( PLAY m ({'(' * 10**6}{')' * 10**6}) )")
    assert (status, "nested more than 200 deep" in text) == (400, True)
    assert agent.play("( go )") in ("go", "noop")


def test_a_sheet_of_20_mebibytes(agent: Agent) -> None:
    """More than is taken from anybody; it is not even read."""
    before = _own_memory()
    rule = "(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (does r (mark ?a ?b)))\n"
    rules = f"(role r) {GOOD} {END} {rule * (20 * 2**20 // len(rule))}"
    status, text = _info_while(agent, f"( START m r ({rules}) {START_CLOCK} {CLOCK})")
    assert (status, "4194304 bytes" in text) == (413, True), text
    assert _own_memory() - before < 128 * 2**20
    agent.plays_a_good_game()


def test_a_sheet_of_a_mebibyte(agent: Agent) -> None:
    """Ten times the largest that is known; understood late, but INFO and PLAY are answered."""
    rules = f"(role r) {GOOD} {END}" + " ".join(f"(fact {i} {i + 1} b)" for i in range(50_000))
    agent.prepare()
    status, text = _info_while(agent, f"( START m r ({rules}) {START_CLOCK} {CLOCK})")
    assert (status, text) == (200, "ready")
    assert agent.play() in ("go", "noop")
