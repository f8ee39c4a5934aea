"""The reference reasoner: a rule sheet run by SWI-Prolog, slow and obvious.

It is the oracle of the conformance tests and plays the sheets that can't be grounded in time.
Relations that recurse are tabled, so that left and mutual recursion end.  If a question takes too
long, everything is tabled and it is asked again (tabling everything from the start would make
simple games many times slower).
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from gdl.encoding import PROLOG, Encoder
from gdl.errors import ReasonerError
from gdl.prolog_program import prolog_program
from gdl.rules import RuleSheet, Term, write_term
from gdl.state_machine import JointMove, Move, State, StateMachine, goal_value, order

FIRST_TRY_SECONDS = 2.0


class PrologStateMachine(StateMachine):
    """`gdl.state_machine.StateMachine` over SWI-Prolog; a state is the frozenset of its fluents.

    `seconds` bounds every answer.  Raises `ReasonerError` when SWI-Prolog is not installed, when
    an answer takes longer, or when the rules lead it into an error.
    """

    in_process = False  # but in SWI-Prolog's

    def __init__(self, rule_sheet: RuleSheet, *, seconds: float = 60.0) -> None:
        self._sheet = rule_sheet
        self._seconds = seconds
        self._lock = threading.Lock()
        self._entered: object = None
        self._process: _Process | None = None
        self._tabled = False
        self._closed = False
        self._start()
        try:
            self._roles = self._find_roles()
            self._initial_state: State = frozenset(self._ask("initial"))
        except BaseException:
            self.close()
            raise

    @property
    def roles(self) -> tuple[Term, ...]:
        """See `StateMachine.roles`."""
        return self._roles

    @property
    def initial_state(self) -> State:
        """See `StateMachine.initial_state`."""
        return self._initial_state

    def legal_moves(self, state: State, role: int) -> tuple[Move, ...]:
        """See `StateMachine.legal_moves`."""
        answers = self._ask("legal", state)
        return tuple(sorted((a[2] for a in answers if a[1] == self.roles[role]), key=order))

    def next_state(
        self, state: State, joint_move: JointMove, random: Random | None = None
    ) -> State:
        """See `StateMachine.next_state`."""
        moves = tuple(zip(self.roles, joint_move, strict=True))
        return frozenset(self._ask("next", state, moves))

    def is_terminal(self, state: State) -> bool:
        """See `StateMachine.is_terminal`."""
        return bool(self._ask("terminal", state))

    def goals(self, state: State) -> tuple[int, ...]:
        """See `StateMachine.goals`."""
        return self._goals(self._ask("goals", state))

    def fluents(self, state: State) -> frozenset[Term]:
        """See `StateMachine.fluents`."""
        assert isinstance(state, frozenset)
        return state

    def state_from(self, fluents: Iterable[Term]) -> State:
        """See `StateMachine.state_from`."""
        return frozenset(fluents)

    def playout(self, limit: int = 500) -> tuple[int, tuple[int, ...]]:
        """A random playout from the initial state, inside Prolog: its length and goals."""
        with self._lock:
            self._entered = None
            length, *goals = self._request(f"playout({limit})", None, ())
            return int(length), self._goals(self._encoder.decode(goals))

    def seed(self, seed: int) -> None:
        """Make the playouts that follow repeatable."""
        with self._lock:
            self._request(f"seed({seed})", None, ())

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _find_roles(self) -> tuple[Term, ...]:
        found = self._ask("roles")
        if not found:
            raise ReasonerError("the rules name no role; add (role NAME) facts")
        facts = tuple(role for role in self._sheet.roles if role in found)
        return facts + tuple(sorted(set(found) - set(facts), key=write_term))

    def _goals(self, answers: Iterable[Term]) -> tuple[int, ...]:
        found = list(answers)
        return tuple(goal_value(a[2] for a in found if a[1] == role) for role in self.roles)

    def _ask(
        self, question: str, state: State = None, moves: tuple[tuple[Term, Term], ...] = ()
    ) -> list[Term]:
        """Ask in a state with a joint move made."""
        with self._lock:
            return self._encoder.decode(self._request(question, state, moves))

    def _request(
        self, question: str, state: State, moves: tuple[tuple[Term, Term], ...]
    ) -> list[str]:
        """The answer's terms as printed; the state is sent only when it has changed."""
        if self._closed:
            raise ReasonerError("the Prolog reasoner has been closed")
        if self._process is None:  # it died of the last question
            self._start()
        assert self._process is not None
        seconds = self._seconds if self._tabled else min(FIRST_TRY_SECONDS, self._seconds)
        request = {"question": question, "fluents": "keep", "moves": "[]", "seconds": seconds}
        if state is not None and self._entered != (state, moves):
            assert isinstance(state, frozenset)
            term = self._encoder.term
            request["fluents"] = f"[{','.join(map(term, state))}]"
            does = (f"does({term(role)},{term(move)})" for role, move in moves)
            request["moves"] = f"[{','.join(does)}]"
        self._entered = None
        try:
            reply = self._process.ask(request, 2 * seconds + 10)
        except ReasonerError:
            self._end()
            raise
        if "answer" in reply:
            self._entered = (state, moves)
            return list(reply["answer"])
        if "timeout" in reply and not self._tabled:
            self._tabled = True
            self._start()
            return self._request(question, state, moves)
        if "timeout" in reply:
            raise ReasonerError(f"Prolog found no answer to '{question}' in {seconds:g} s")
        raise ReasonerError(f"Prolog failed: {reply['error']}")

    def _start(self) -> None:
        self._end()
        self._encoder = Encoder(PROLOG)
        self._process = _Process(
            "\n".join(prolog_program(self._sheet, self._encoder, self._tabled))
        )


class _Process:
    """The child process with a program loaded."""

    def __init__(self, program: str) -> None:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="gdl-", suffix=".pl", delete=False
        ) as file:
            file.write(program)
        self._path = Path(file.name)  # the child removes it once it has read it
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (for as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gdl.prolog_process", file.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and wait for its reply; `seconds` guards against a Prolog that hangs."""
        assert self._process.stdin is not None and self._process.stdout is not None
        guard = threading.Timer(seconds, self._process.kill)
        guard.start()
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        finally:
            guard.cancel()
        if not line:
            raise ReasonerError(f"the Prolog process ended: {self._last_words()}")
        return dict(json.loads(line))

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1][:300] if lines else "no message; is SWI-Prolog installed?"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._path.unlink(missing_ok=True)
