"""Running a match: START, PLAY until the game ends, STOP; clocks, errors and what replaces a move.

Limits are those of the public GameServer: the start clock to the letter, the play clock with one
second of grace.  A player that is late, can't be reached or answers with an illegal move has a
uniformly random legal move played for it, and the match goes on.  Every random choice follows from
the seed, the step and the role, so that one player's mistakes don't change another's dice.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gdl.errors import GgpError
from gdl.rules import Term, write_term
from gdl.state_machine import CHANCE_ROLE, Move, State, order
from ggp_agent.errors import GameError
from ggp_agent.manager.asking import Answer, ask_all
from ggp_agent.manager.match_setup import Event, MatchEnded, MatchSetup, MatchStarted, StateReached
from ggp_agent.manager.players import Player
from ggp_agent.manager.record import ILLEGAL, NO_ERROR, MatchRecord, state_text
from ggp_agent.manager.scramble import Names, PlainNames, Scrambler
from ggp_agent.protocol.messages import Abort, Play, Start, Stop

ABORT_SECONDS = 2.0
"""Longest wait for the replies to ABORT, all players together."""

_MAX_ERROR_TEXT = 200

log = logging.getLogger(__name__)


async def run_match(
    setup: MatchSetup,
    players: Sequence[Player],
    *,
    record_directory: str | Path | None = None,
    on_step: Callable[[Event], None] | None = None,
) -> MatchRecord:
    """Run a match to its end and return its record.

    `players` are in the order of the roles, leaving out `random` roles.  The record is saved after
    every step.  Whatever ends the match early (cancellation, a failing reasoner, a state without
    legal moves) is passed on after the players got ABORT and the record was saved as aborted.
    The players and the state machine stay open; whoever made them closes them.
    """
    return await _Match(setup, players, record_directory, on_step).run()


@dataclass(frozen=True, slots=True)
class _Position:
    """A state and what the match needs to know about it."""

    state: State
    fluents: frozenset[Term]
    legal_moves: tuple[tuple[Move, ...], ...]
    goals: tuple[int, ...] | None
    """Set in a terminal state only, where there are no legal moves."""


class _Match:
    """One run of a match."""

    def __init__(
        self,
        setup: MatchSetup,
        players: Sequence[Player],
        directory: str | Path | None,
        on_step: Callable[[Event], None] | None,
    ) -> None:
        self.setup = setup
        self.machine = setup.machine
        self.roles = setup.machine.roles
        self.seats = _seats(self.roles, players, setup.game)
        self.plain = PlainNames(setup.sheet)
        self.names: Names = Scrambler(setup.sheet, setup.seed) if setup.scramble else self.plain
        self.directory = directory
        self.on_step = on_step
        self.last_moves: tuple[str, ...] | None = None
        self.players_know = False
        self.record = MatchRecord(
            match_id=setup.match_id,
            game_url=setup.game_url,
            players=[CHANCE_ROLE if player is None else player.name for player in self.seats],
            start_clock=setup.start_clock,
            play_clock=setup.play_clock,
            scrambled=setup.scramble,
            tournament=setup.tournament,
            extras={"x-game": setup.game, "x-seed": setup.seed},
        )

    async def run(self) -> MatchRecord:
        try:
            await self._play_to_the_end()
        except (Exception, asyncio.CancelledError):
            if not self.record.is_completed:
                await self._abort()
            raise
        return self.record

    async def _play_to_the_end(self) -> None:
        position = await asyncio.to_thread(self._initial_position)
        self.record.begin(self._state_text(position))
        self._save()
        self._tell(
            MatchStarted(self.setup.match_id, self.setup.game, self.roles, self.record.players)
        )
        await self._start(position)
        while position.goals is None:
            position = await self._step(position)
        await self._finish(position.goals)

    # --- The stages of a match -----------------------------------------------------------------

    async def _start(self, position: _Position) -> None:
        setup = self.setup

        def start(player: Player, role: int) -> Coroutine[None, None, None]:
            role_name = self.names.scramble(self.roles[role])
            return player.start(
                Start(
                    setup.match_id,
                    role_name,
                    self.names.rules,
                    setup.start_clock,
                    setup.play_clock,
                )
            )

        self.players_know = True
        answers = await ask_all(self.seats, start, setup.start_clock + setup.start_grace)
        errors = [answer.error for answer in answers]
        times = [answer.milliseconds for answer in answers]
        self.record.started(errors, times)
        self._save()
        self._tell(StateReached(0, position.fluents, None, tuple(errors), tuple(times)))

    async def _step(self, position: _Position) -> _Position:
        self._check_legal_moves(position)
        play = Play(self.setup.match_id, self.last_moves)
        answers = await ask_all(
            self.seats,
            lambda player, _role: player.play(play),
            self.setup.play_clock + self.setup.play_grace,
        )
        chosen = [self._choose(position, role, answer) for role, answer in enumerate(answers)]
        joint_move = tuple(move for move, _ in chosen)
        errors = tuple(error for _, error in chosen)
        times = tuple(answer.milliseconds for answer in answers)
        self.last_moves = tuple(self.names.scramble(move) for move in joint_move)
        position = await asyncio.to_thread(self._next_position, position, joint_move)
        moves = [self.plain.scramble(move) for move in joint_move]
        self.record.step(moves, self._state_text(position), errors, times)
        self._save()
        step = len(self.record.moves)
        self._tell(StateReached(step, position.fluents, joint_move, errors, times))
        return position

    async def _finish(self, goals: tuple[int, ...]) -> None:
        self.record.complete(goals)
        self._note_tuning()
        self._save()
        stop = Stop(self.setup.match_id, self.last_moves)
        await ask_all(
            self.seats,
            lambda player, _role: player.stop(stop),
            self.setup.play_clock + self.setup.play_grace,
        )
        self._tell(MatchEnded(goals))

    def _note_tuning(self) -> None:
        """Put into the record what players that are run here say of their tuning, by role."""
        told = {
            str(role): seat.tuning.as_json()
            for role, seat in enumerate(self.seats)
            if seat is not None and seat.tuning is not None
        }
        told = {role: tuning for role, tuning in told.items() if tuning}
        if told:
            self.record.extras["x-tuning"] = told

    async def _abort(self) -> None:
        """Tell everybody; nothing that fails here may hide what ended the match."""
        self.record.abort()
        try:
            self._save()
        except GgpError as error:
            log.warning("%s", error)
        if self.players_know:
            abort = Abort(self.setup.match_id)
            try:
                await ask_all(self.seats, lambda player, _role: player.abort(abort), ABORT_SECONDS)
            except Exception:
                log.exception("could not tell all players of the abort")

    # --- What players answered ------------------------------------------------------------------

    def _choose(self, position: _Position, role: int, answer: Answer) -> tuple[Move, str]:
        """The move that counts for a role, and the entry for the record's errors."""
        legal = position.legal_moves[role]
        error = answer.error
        if self.seats[role] is not None and error == NO_ERROR:
            move, text = self._read_move(answer.text)
            if move in legal:
                return move, NO_ERROR
            error = ILLEGAL + text
        step = len(self.record.moves) + 1
        rng = random.Random(f"match {self.setup.seed} step {step} role {role}")
        return rng.choice(legal), error

    def _read_move(self, text: str) -> tuple[Move, str]:
        """A reply as a move (an empty, illegal one if unreadable) and as text for the record."""
        with suppress(GgpError):
            move = self.names.unscramble(text)
            return move, _error_text(self.plain.scramble(move))
        return "", _error_text(text)

    # --- Asking the state machine (in a thread, it may be slow) --------------------------------

    def _initial_position(self) -> _Position:
        return self._position(self.machine.initial_state)

    def _next_position(self, position: _Position, joint_move: tuple[Move, ...]) -> _Position:
        return self._position(self.machine.next_state(position.state, joint_move))

    def _position(self, state: State) -> _Position:
        fluents = self.machine.fluents(state)
        if self.machine.is_terminal(state):
            return _Position(state, fluents, (), self.machine.goals(state))
        legal = (self.machine.legal_moves(state, role) for role in range(len(self.roles)))
        # Sorted, so that a seed means the same choice whichever reasoner is behind the machine.
        return _Position(state, fluents, tuple(tuple(sorted(m, key=order)) for m in legal), None)

    def _check_legal_moves(self, position: _Position) -> None:
        for role, legal in zip(self.roles, position.legal_moves, strict=True):
            if not legal:
                raise GameError(
                    f"{self.setup.game}: role {self.plain.scramble(role)} has no legal move in "
                    f"state {len(self.record.moves)}, {self._state_text(position)[:500]}; "
                    "the rules must give every role a move in every state that isn't terminal"
                )

    # --- Telling -------------------------------------------------------------------------------

    def _state_text(self, position: _Position) -> str:
        return state_text(position.fluents, self.plain.scramble)

    def _save(self) -> None:
        if self.directory is not None and self.record.states:
            try:
                self.record.save(self.directory)
            except GgpError:
                self.directory = None  # once is enough; the match ends by this error
                raise

    def _tell(self, event: Event) -> None:
        if self.on_step is not None:
            self.on_step(event)


def _seats(
    roles: Sequence[Term], players: Sequence[Player], game: str
) -> tuple[Player | None, ...]:
    """The player of every role, None for `random`, which the manager plays itself."""
    seated = [role for role in roles if role != CHANCE_ROLE]
    if len(players) != len(seated):
        names = ", ".join(write_term(role) for role in seated) or "none"
        raise GameError(
            f"{game} needs {len(seated)} players, one for each of its roles ({names}); "
            f"{len(players)} given"
        )
    remaining = iter(players)
    return tuple(None if role == CHANCE_ROLE else next(remaining) for role in roles)


def _error_text(text: str) -> str:
    """An illegal reply as one short printable line."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words[:_MAX_ERROR_TEXT] or "()"
