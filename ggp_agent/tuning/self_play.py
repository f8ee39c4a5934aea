"""Games of self-play between agents that differ in parameters of simulations: who wins how often.

Games are dealt to all places of `ggp_agent.search.self_play.SelfPlay` at once, and a new one as
soon as one is over.  In every game each role is played by an entrant, drawn at random, but no
entrant twice as long as there are others.  Whoever has a choice searches, alone, with its own
parameters for all roles and with what its own playouts have learnt of moves, as it would in a
match; where several roles choose at once, each has a search of its own.

The first moves are drawn in proportion to their visits, so that games differ.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.search.self_play import SEARCHES, Searches, SelfPlay
from ggp_agent.search.settings import F32, F64, settings_row
from ggp_agent.search.stopping import Interrupted
from propnet.layout import U64

DRAWN_MOVES = 4
"""At the start of a game moves are drawn."""
MOST_SIMULATIONS = 1 << 15
"""of the searches of a move in all games together"""
LONGEST = 500
"""Games that take longer count for nothing."""
NO_GOAL = 255


class Size(NamedTuple):
    """How much is played at once."""

    simulations: int
    """per move"""
    games: int = SEARCHES
    apart: bool = True
    """whether entrants have histories of moves of their own, and so batches: that takes longer"""


@dataclass(slots=True)
class Scores:
    """What entrants have scored."""

    totals: F64
    """(K,) sums of goals, each in [0, 1]"""
    games: F64
    """(K,) how many games, one for every role played"""

    @property
    def means(self) -> F64:
        """(K,) mean goals; half where there was no game."""
        known = self.games > 0
        return np.divide(self.totals, self.games, out=np.full(len(known), 0.5), where=known)


@dataclass(slots=True)
class Positions:
    """States of games, and what these games brought in the end."""

    states: list[U64] = field(default_factory=list)
    """(words,) each"""
    rewards: list[F64] = field(default_factory=list)
    """(R,) each, in [0, 1]"""


class SelfPlayGames:
    """Games that go on for as long as there is time."""

    def __init__(self, game: CompiledModel, agent: Agent, seed: int) -> None:
        """`agent` has what all entrants have in common."""
        self._game = game
        self._chance, self._roles = game.chance_role, len(game.moves)
        self._random = np.random.Generator(np.random.PCG64([seed, 5]))
        self._search = SelfPlay(game, agent, MOST_SIMULATIONS, seed)
        self.searches = self.finished = 0
        """moves that were searched for, games that came to an end"""
        self.simulations_per_second = self.searches_per_game = 0.0
        self.finished_last = 0
        """when it was last played"""
        self.positions = Positions()
        self.alone = self.together = 0
        """states in which one role had a choice, and in which several had"""

    def evaluate_by(self, weights: F32, bias: F32) -> None:
        """Let searches evaluate states by these weights (R, F) and biases (R,)."""
        self._search.learn(weights, bias)

    def play(
        self,
        entrants: Sequence[Agent],
        size: Size,
        deadline: float,
        interrupted: Interrupted,
        latest: float = 0.0,
    ) -> Scores:
        """Play until the deadline, a reading of `time.monotonic()`, or until interrupted.

        Go on until the `latest`, if need be, for a game for every place.
        """
        rows = np.array([settings_row(entrant) for entrant in entrants])
        scores = Scores(np.zeros(len(rows)), np.zeros(len(rows)))
        self._search.begin(len(rows) if size.apart else 1)
        table = _Table(self._search.initial_states(size.games), self._roles)
        for place in range(size.games):
            self._deal(table, place, len(rows))
        begin, so_far = time.monotonic(), (self.searches, self.finished)
        while not interrupted():
            has_few = self.finished - so_far[1] < size.games
            until = max(deadline, latest) if has_few else deadline
            if time.monotonic() + self._search.batch_seconds >= until:
                break
            nodes, goals, choices = self._search.see(table.states)
            over = (goals[:, 0] != NO_GOAL) | (choices.min(axis=1) == 0) | (table.moves >= LONGEST)
            if over.any():
                for place in np.flatnonzero(over).tolist():
                    self._note_end(table, place, goals[place], scores)
                    self._deal(table, place, len(rows))
                continue
            self._make_moves(table, rows, _Seen(nodes, choices), size, until)
        searches, finished = self.searches - so_far[0], self.finished - so_far[1]
        simulations = searches * size.simulations
        self.simulations_per_second = simulations / max(1e-6, time.monotonic() - begin)
        self.searches_per_game = searches / max(1, finished)
        self.finished_last = finished
        return scores

    def _deal(self, table: _Table, place: int, entrants: int) -> None:
        """A new game at a place."""
        table.states[place, :-1] = self._game.layout.initial
        table.moves[place], table.seen[place] = 0, []
        drawn: list[int] = []
        while len(drawn) < self._roles:
            drawn += self._random.permutation(entrants).tolist()
        table.players[place] = drawn[: self._roles]

    def _note_end(
        self, table: _Table, place: int, goals: NDArray[np.uint8], scores: Scores
    ) -> None:
        if goals[0] == NO_GOAL:
            return
        self.finished += 1
        rewards = goals / 100.0
        for role in range(self._roles):
            if role != self._chance:
                scores.totals[table.players[place, role]] += rewards[role]
                scores.games[table.players[place, role]] += 1
        self.positions.states += table.seen[place]
        self.positions.rewards += [rewards] * len(table.seen[place])

    def _make_moves(
        self,
        table: _Table,
        rows: F32,
        seen: _Seen,
        size: Size,
        deadline: float,
    ) -> None:
        """One move of all games; those of roles that have none to choose are made by the way."""
        nodes, choosing = seen.nodes, seen.choices > 1
        if self._chance is not None:
            choosing[:, self._chance] = False
        choosers = choosing.sum(axis=1)
        self.alone += int((choosers == 1).sum())
        self.together += int((choosers > 1).sum())
        for place in range(len(table.seen)):
            table.seen[place].append(table.states[place, :-1].copy())
        first, every = choosing.argmax(axis=1), np.arange(len(table.seen))
        at_random = table.moves < DRAWN_MOVES
        picks = np.zeros((len(every), self._roles), np.int32)
        movers = table.players[every, first]
        for history, own in self._shared(movers, len(rows), size):
            picks[own] = self._search.search(
                Searches(nodes[own], rows[movers[own]], at_random[own], history),
                size.simulations,
                deadline,
            )
        self.searches += len(nodes)
        before = table.states.copy()
        for role in range(self._roles):  # the others that choose at the same time
            also = np.flatnonzero(choosing[:, role] & (first != role))
            for history, chosen in self._shared(table.players[also, role], len(rows), size):
                own = also[chosen]
                others = self._search.see(before[own])[0]
                settings = rows[table.players[own, role]]
                searches = Searches(others, settings, at_random[own], history)
                found = self._search.search(searches, size.simulations, deadline)
                picks[own, role] = found[:, role]
            self.searches += len(also)
        self._search.advance(table.states, picks)
        table.moves += 1

    def _shared(
        self, players: NDArray[np.int64], entrants: int, size: Size
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Histories by number, and which of some searches share each of them."""
        if not size.apart and len(players):
            yield 0, np.arange(len(players))
        for entrant in range(entrants if size.apart else 0):
            own = np.flatnonzero(players == entrant)
            if len(own):
                yield entrant, own


class _Seen(NamedTuple):
    """What is seen of the states of all games."""

    nodes: NDArray[np.int32]
    """(n,)"""
    choices: NDArray[np.int32]
    """(n, R) legal moves"""


class _Table:
    """The games that are under way, by place."""

    def __init__(self, states: U64, roles: int) -> None:
        self.states = states
        self.players = np.zeros((len(states), roles), np.int64)
        self.moves = np.zeros(len(states), np.int64)
        self.seen: list[list[U64]] = [[] for _ in states]
