"""The loop of the process that thinks about one match: it carries out commands, and thinks between.

Commands and replies are those of `ggp_agent.protocol.worker_commands`; an unreadable command is
answered by `Failed`.  Making a reasoner of the rules happens in threads (see
`ggp_agent.mind.reasoners`), and what they have made comes in like a command.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable

from gdl.errors import GgpError
from gdl.kif import Source, read
from gdl.rules import RuleSheet, read_term
from gdl.state_machine import Move, StateMachine
from ggp_agent.errors import ParameterError, WorkerError
from ggp_agent.mind.agents import read_agent
from ggp_agent.mind.match_state import MatchState
from ggp_agent.mind.reasoners import make_reasoners
from ggp_agent.mind.search_factory import profile_of
from ggp_agent.mind.stopwatch import Stopwatch
from ggp_agent.mind.warming import warm_up
from ggp_agent.protocol.json_lines import Unreadable
from ggp_agent.protocol.worker_commands import (
    BadAgent,
    Command,
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

log = logging.getLogger(__name__)

Say = Callable[[Reply], None]


class Worker:
    """Carries out commands; everything that happens comes through one queue."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._events: queue.SimpleQueue[Command | Unreadable | StateMachine] = queue.SimpleQueue()
        self._match: MatchState | None = None
        self._think_until = 0.0
        self._asked: FindMove | None = None
        self._latest: int | None = None
        self._answered: Move | None = None
        self._stopwatch = Stopwatch()

    def post(self, event: Command | Unreadable | StateMachine) -> None:
        """Queue a command, or a reasoner for the match; may be called from any thread."""
        self._events.put(event)

    def run(self) -> None:
        """Work until told to quit."""
        while True:
            event = self._next_event()
            if isinstance(event, Quit):
                return
            try:
                if event is None:
                    self._think()
                else:
                    self._carry_out(event)
            except GgpError as error:
                if event is None:  # or else it would be tried again at once
                    self._asked, self._think_until = None, 0.0
                log.warning("%s", error)
                self._say(Failed(str(error)))

    def _next_event(self) -> Command | Unreadable | StateMachine | None:
        """The next event; None where there is thinking to do, or an answer is due."""
        thinking = self._match is not None and self._match.thinker is not None
        now = time.monotonic()
        try:
            if thinking and (now < self._think_until or self._asked is not None):
                return self._events.get_nowait()
            return self._events.get()
        except queue.Empty:
            return None

    def _carry_out(self, event: Command | Unreadable | StateMachine) -> None:
        match event:
            case Warm():
                self._warm(event)
            case StartMatch():
                self._start(event)
            case FindMove():
                self._find_move(event)
            case Unreadable(text):
                raise WorkerError(text)
            case Quit():
                pass  # `run` has returned
            case _:
                self._use(event)

    # --- Thinking ------------------------------------------------------------------------------

    def _think(self) -> None:
        assert self._match is not None and self._match.thinker is not None
        if self._asked is not None and len(self._match.own_moves()) <= 1:
            self._answer()  # and go on thinking about what comes next
            return
        if time.monotonic() < self._think_until:
            try:
                with self._stopwatch.running():
                    self._match.thinker.think(self._think_until, lambda: not self._events.empty())
            except GgpError as error:
                log.warning("thinking was cut short: %s", error)
        if not self._events.empty():
            return
        self._think_until = 0.0  # enough thought, or nothing to think about
        if self._asked is not None:
            self._answer()

    def _answer(self) -> None:
        match, asked = self._match, self._asked
        assert match is not None and match.machine is not None and match.thinker is not None
        assert asked is not None
        self._asked = None
        moves = match.own_moves()
        if not moves:
            raise WorkerError("no legal move in the present state")
        self._answered = match.choose()
        if self._answered not in moves:  # where the thinker could not follow the game
            log.error("%s is not legal; playing the first legal move", self._answered)
            self._answered = moves[0]
        report = {**match.thinker.report(), **self._stopwatch.lap()}
        if not match.machine.in_process:
            del report["cpu_s"]
        self._say(FoundMove(asked.request, match.write(self._answered), report))

    # --- Commands ------------------------------------------------------------------------------

    def _warm(self, command: Warm) -> None:
        try:
            agent = read_agent(command.agent)
        except ParameterError as error:
            self._say(BadAgent(str(error)))
            return
        warm_up([] if agent["tuner"] == "off" else [str(agent["tuner"])])
        self._say(IsWarm(profile_of(agent)))

    def _start(self, command: StartMatch) -> None:
        source = Source(command.rules.removeprefix("\ufeff"), "rules")
        nodes = read(source)
        sheet = RuleSheet.from_nodes(nodes, source)
        agent = read_agent(command.agent)
        match = MatchState(sheet, read_term(command.role), agent, command.seed)
        match.history = [tuple(map(read_term, moves)) for moves in command.history]
        self._match, self._think_until = match, command.by
        make_reasoners(sheet, nodes, self.post)

    def _use(self, machine: StateMachine) -> None:
        """A reasoner has been made; the propnet replaces Prolog, not the other way round."""
        match = self._match
        assert match is not None
        if match.machine is not None and match.machine.speed >= machine.speed:
            machine.close()
            return
        match.use(machine)
        self._say(IsReady(type(machine).__name__))
        self._say_safe_move()

    def _find_move(self, command: FindMove) -> None:
        match = self._match
        if match is None:
            raise WorkerError("no match has been started")
        self._latest = command.request
        if self._is_repeated(match, command.moves):
            log.info("a repeated PLAY")
            if self._answered is not None:
                self._say(FoundMove(command.request, match.write(self._answered)))
                return
        self._answered = None
        self._asked, self._think_until = command, command.by
        self._say_safe_move()

    def _is_repeated(self, match: MatchState, moves: tuple[str, ...] | None) -> bool:
        """Take in the joint move of a PLAY; whether the PLAY is the last one sent again."""
        if moves is None:
            return not match.history
        return not match.advance(tuple(map(read_term, moves)))

    def _say_safe_move(self) -> None:
        assert self._match is not None
        moves = self._match.own_moves()
        if moves:
            self._say(SafeMove(self._latest, self._match.write(moves[0])))
