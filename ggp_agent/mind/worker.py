"""The process that thinks about one match: `python -m ggp_agent.mind.worker`.

It reads commands and writes replies as JSON objects, one per line.  Commands (`"do"`): `start` a
match, `play` (answer with a move by a deadline), `warm` (load everything that takes long).
Replies (`"say"`): `warm`; `ready` when a reasoner is there; `safe` a legal move of the state just
entered, to have one whatever happens, with the `id` of the last `play` (None before the first);
`move` the answer to `play` with the same `id`, and a `report` of what it took; `failed`.

Compiling the rules to a propnet happens in a thread.  If it takes long, a Prolog reasoner is
started meanwhile, and plays until the propnet is there: for ever, where the rules can't be
grounded.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import queue
import random
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from forward_model.compiled import CompiledModel
from forward_model.model import AnyModel
from gdl.errors import GgpError
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet, Term, read_term
from gdl.state_machine import JointMove, Move, State, StateMachine
from gdl.validation import check_rules
from ggp_agent.agents import Agent
from ggp_agent.errors import WorkerError
from ggp_agent.mind.thinker import LegalThinker, Thinker
from ggp_agent.mind.warming import warm_up
from ggp_agent.player.search_totals import Stopwatch
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch, share_of, threads_of
from ggp_agent.search.plain import PlainSearch
from ggp_agent.system.child_process import die_with_parent
from ggp_agent.tuning.self_adaptive import SelfAdaptive, adaptive
from propnet.machine import PropnetStateMachine
from propnet.vectors import LANES

log = logging.getLogger(__name__)

PROLOG_AFTER = 0.4
"""Seconds for which the propnet may be compiling before Prolog is asked to help out."""
PROLOG_ANSWER_SECONDS = 20.0
COMPILE_SECONDS = 600.0
"""Seconds after which the attempt to ground the rules is given up; Prolog plays on."""
MOST_TO_CHECK = 200_000
"""Characters of a rule sheet beyond which it is not checked for faults at START."""

SEED_STEP = 0x9E3779B9
"""Between the seeds of an agent's trees; those of a match's seats are neighbours."""

Search = TypeVar("Search", NativeSearch, PlainSearch)
Event = dict[str, Any]
Say = Callable[..., None]


def make_thinker(model: AnyModel, role: int, agent: Agent, seed: int) -> Thinker:
    """The thinker that an agent's strategy names, over the model that there is."""
    strategy = agent["strategy"]
    if strategy == "legal":
        return LegalThinker(model, role, None)
    if strategy == "random":
        return LegalThinker(model, role, random.Random(seed))
    if model.compiled is not None:
        model.compile()
        return native_search(model.compiled, role, agent, seed)
    tuner = adaptive(agent, len(model.role_names), LANES, seed)
    return _watched(PlainSearch(model, role, agent, seed, tuner), tuner)


def native_search(
    game: CompiledModel, role: int, agent: Agent, seed: int
) -> NativeSearch | ParallelSearch:
    """The native search: one tree, or several where the agent uses several threads."""
    threads = threads_of(agent)
    searches = []
    for number in range(threads):
        own = (seed + number * SEED_STEP) % 2**32
        tuner = adaptive(agent, len(game.moves), LANES, own)
        one = share_of(agent, threads, number)
        search = NativeSearch(game.network, role, one, own, tuner, game.layout)
        searches.append(_watched(search, tuner))
    return searches[0] if threads == 1 else ParallelSearch(searches, agent, seed)


def _watched(search: Search, tuner: SelfAdaptive | None) -> Search:
    """The search; its tuner learns from it how long games are, but must not keep it alive."""
    if tuner is not None:
        known = weakref.proxy(search)
        tuner.watch(lambda: known.trace())
    return search


class Game:
    """The match as its worker sees it: a reasoner, the history, the state, and a thinker."""

    def __init__(self, sheet: RuleSheet, role: Term, agent: Agent, seed: int) -> None:
        self._sheet, self._role, self._agent, self._seed = sheet, role, agent, seed
        self.history: list[tuple[Term, ...]] = []
        self.machine: StateMachine | None = None
        self.thinker: Thinker | None = None
        self._state: State = None
        self._number = 0

    def use(self, machine: StateMachine) -> None:
        """Take a reasoner (in place of a slower one) and catch up with the history."""
        if self._role not in machine.roles:
            roles = " ".join(map(self._sheet.write, machine.roles))
            raise WorkerError(f"{self._sheet.write(self._role)} is not a role; roles: {roles}")
        if self.machine is not None:
            self.machine.close()
        self.machine, self._number = machine, machine.roles.index(self._role)
        self.thinker = make_thinker(machine, self._number, self._agent, self._seed)
        self._state = machine.initial_state
        history, self.history = self.history, []
        for joint_move in history:
            try:
                self.advance(joint_move)
            except WorkerError as error:
                log.warning("%s", error)

    def advance(self, joint_move: tuple[Term, ...]) -> bool:
        """Go on by a joint move; False where it repeats the last one and can't do so legally.

        Raises `WorkerError` for one of the wrong length.
        """
        if self.machine is not None and self.thinker is not None:
            self._check_length(joint_move)
            if not self._is_legal(joint_move):
                if self.history and self.history[-1] == joint_move:
                    return False
                log.warning("illegal joint move %s", " ".join(map(self._sheet.write, joint_move)))
            try:
                self._state = self.machine.next_state(self._state, joint_move)
                self.thinker.enter(self._state, joint_move)
            except GgpError as error:
                log.warning("staying in the old state: %s", error)
        self.history.append(joint_move)
        return True

    def is_over(self) -> bool:
        """Whether the state is terminal."""
        return self.machine is not None and self.machine.is_terminal(self._state)

    def own_moves(self) -> tuple[Move, ...]:
        """Our legal moves, () where nothing is known yet or the game is over."""
        if self.machine is None or self.is_over():
            return ()
        return self.machine.legal_moves(self._state, self._number)

    def choose(self) -> Move:
        """Our move in the present state."""
        assert self.thinker is not None
        move: Move = self.thinker.choose()
        return move

    def write(self, move: Move) -> str:
        """A move in the spelling of the rules."""
        return self._sheet.write(move)

    def _check_length(self, joint_move: JointMove) -> None:
        assert self.machine is not None
        if len(joint_move) != len(self.machine.roles):
            raise WorkerError(
                f"the joint move has {len(joint_move)} moves, but the game has "
                f"{len(self.machine.roles)} roles"
            )

    def _is_legal(self, joint_move: JointMove) -> bool:
        assert self.machine is not None
        if self.is_over():
            return False
        return all(
            move in self.machine.legal_moves(self._state, role)
            for role, move in enumerate(joint_move)
        )


class Worker:
    """Carries out commands; everything that happens comes through one queue."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._game: Game | None = None
        self._think_until = 0.0
        self._asked: Event | None = None
        self._latest: int | None = None
        self._answered: Move | None = None
        self._stopwatch = Stopwatch()

    def post(self, event: Event) -> None:
        """Queue a command; may be called from any thread."""
        self._events.put(event)

    def run(self) -> None:
        """Work until told to `quit`."""
        while True:
            event = self._next_event()
            if event is not None and event["do"] == "quit":
                return
            try:
                if event is None:
                    self._think()
                else:
                    getattr(self, f"_do_{event['do']}")(event)
            except GgpError as error:
                if event is None:  # or else it would be tried again at once
                    self._asked, self._think_until = None, 0.0
                log.warning("%s", error)
                self._say(say="failed", text=str(error))

    def _next_event(self) -> Event | None:
        """The next event; None where there is thinking to do, or an answer is due."""
        thinking = self._game is not None and self._game.thinker is not None
        now = time.monotonic()
        try:
            if thinking and (now < self._think_until or self._asked is not None):
                return self._events.get_nowait()
            return self._events.get()
        except queue.Empty:
            return None

    def _think(self) -> None:
        assert self._game is not None and self._game.thinker is not None
        if self._asked is not None and len(self._game.own_moves()) <= 1:
            self._answer()  # and go on thinking about what comes next
            return
        if time.monotonic() < self._think_until:
            try:
                with self._stopwatch.running():
                    self._game.thinker.think(self._think_until, lambda: not self._events.empty())
            except GgpError as error:
                log.warning("thinking was cut short: %s", error)
        if not self._events.empty():
            return
        self._think_until = 0.0  # enough thought, or nothing to think about
        if self._asked is not None:
            self._answer()

    def _do_warm(self, event: Event) -> None:
        warm_up(event["tuners"])
        self._say(say="warm")

    def _do_start(self, event: Event) -> None:
        sheet = RuleSheet.from_text(event["rules"], "rules")
        agent = Agent(**event["agent"])
        game = Game(sheet, read_term(event["role"]), agent, event["seed"])
        game.history = [tuple(map(read_term, moves)) for moves in event["history"]]
        self._game, self._think_until = game, event["by"]
        threading.Thread(target=self._compile, args=(sheet,), daemon=True).start()

    def _do_reasoner(self, event: Event) -> None:
        """A thread has made a reasoner; a faster one replaces the one there is."""
        game, machine = self._game, event["machine"]
        assert game is not None
        if game.machine is not None and game.machine.speed >= machine.speed:
            machine.close()
            return
        game.use(machine)
        self._say(say="ready", reasoner=type(machine).__name__)
        self._say_safe_move()

    def _do_play(self, event: Event) -> None:
        game = self._game
        if game is None:
            raise WorkerError("no match has been started")
        self._latest = event["id"]
        if self._is_repeated(game, event["moves"]):
            log.info("a repeated PLAY")
            if self._answered is not None:
                self._say(say="move", id=event["id"], move=game.write(self._answered))
                return
        self._answered = None
        self._asked, self._think_until = event, event["by"]
        self._say_safe_move()

    def _is_repeated(self, game: Game, moves: list[str] | None) -> bool:
        """Take in the joint move of a PLAY; whether the PLAY is the last one sent again."""
        if moves is None:
            return not game.history
        return not game.advance(tuple(map(read_term, moves)))

    def _say_safe_move(self) -> None:
        assert self._game is not None
        moves = self._game.own_moves()
        if moves:
            self._say(say="safe", id=self._latest, move=self._game.write(moves[0]))

    def _answer(self) -> None:
        game, asked = self._game, self._asked
        assert game is not None and game.thinker is not None and asked is not None
        self._asked = None
        moves = game.own_moves()
        if not moves:
            raise WorkerError("no legal move in the present state")
        self._answered = game.choose()
        if self._answered not in moves:  # where the thinker could not follow the game
            log.error("%s is not legal; playing the first legal move", self._answered)
            self._answered = moves[0]
        move, report = game.write(self._answered), dict(game.thinker.report())
        report |= self._stopwatch.lap()
        if game.machine is not None and not game.machine.in_process:
            del report["cpu_s"]
        self._say(say="move", id=asked["id"], move=move, report=report)

    def _compile(self, sheet: RuleSheet) -> None:
        """Thread: make the propnet, with Prolog started by its side if that takes long."""
        compiled = threading.Event()
        threading.Thread(target=self._help_out, args=(sheet, compiled), daemon=True).start()
        try:
            machine = PropnetStateMachine.from_rules(sheet, seconds=COMPILE_SECONDS)
        except GgpError as error:
            log.warning("no propnet (%s); playing with Prolog", error)
            return
        compiled.set()
        self.post({"do": "reasoner", "machine": machine})
        if len(sheet.source.text) < MOST_TO_CHECK:
            for finding in check_rules(sheet.source.text, sheet.source.name):
                log.warning("%s: %s", finding.location, finding.message)

    def _help_out(self, sheet: RuleSheet, compiled: threading.Event) -> None:
        """Thread: start Prolog unless the propnet is there soon."""
        if compiled.wait(PROLOG_AFTER):
            return
        try:
            machine = PrologStateMachine(sheet, seconds=PROLOG_ANSWER_SECONDS)
        except GgpError as error:
            log.warning("no Prolog reasoner: %s", error)
            return
        self.post({"do": "reasoner", "machine": machine})


def agent_fields(agent: Agent) -> dict[str, Any]:
    """An agent as `start` wants it."""
    return {**dataclasses.asdict(agent), "settings": dict(agent.settings)}


def main() -> int:
    """Read commands from standard input until it ends."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    logging.basicConfig(
        level=os.environ.get("GGP_AGENT_LOG", "WARNING"),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
    )
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(**reply: Any) -> None:
        with lock:
            try:
                replies.write(json.dumps(reply) + "\n")
                replies.flush()
            except OSError:
                os._exit(0)  # nobody is listening any more

    worker = Worker(say)

    def read_commands() -> None:
        for line in sys.stdin:
            worker.post(json.loads(line))
        worker.post({"do": "quit"})

    threading.Thread(target=read_commands, daemon=True).start()
    worker.run()
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    code = main()
    os._exit(code)  # threads may still be waiting for a grounder, which dies with us
