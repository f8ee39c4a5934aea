"""Which matches make a tournament: the design of the SA-MCTS paper.

For every game and every pair of agents: all assignments of the two to the roles except those that
give all roles to one, each the same number of times (Sironi, Liu, Winands, "Self-Adaptive
Monte-Carlo Tree Search in General Game Playing", section VI-A).  More than two agents meet each
other in pairs, round robin.  A game for one role is played by every agent alone.

The schedule goes round after round, every round having each assignment once, so that a tournament
that is stopped is balanced up to the last round.  A match is known by its game, round and
assignment, not by its place: a tournament that is made longer keeps the matches it has.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match to be played: `seats[i]` is the number of the contestant that plays role i."""

    game: str
    round: int
    seats: tuple[int, ...]

    @property
    def key(self) -> str:
        """What tells it from the other matches: `ticTacToe.0001.1-2`; counts from 1."""
        seats = "-".join(str(seat + 1) for seat in self.seats)
        return f"{self.game}.{self.round + 1:04}.{seats}"

    @property
    def block(self) -> tuple[str, int, tuple[int, ...]]:
        """The game, the round and who is playing: what the assignments of a round share."""
        return self.game, self.round, tuple(sorted(set(self.seats)))

    def seed(self, master: int) -> int:
        """The seed of the match, below 2**32, from the seed of the tournament."""
        digest = hashlib.sha256(f"{master} {self.key}".encode()).digest()
        return int.from_bytes(digest[:4], "big")


def match_id(tournament: str, fixture: Fixture) -> str:
    """The id of a match, which no other match of the tournament has."""
    return re.sub(r"[^A-Za-z0-9_.+-]", "_", f"{tournament}.{fixture.key}")


def assignments(pair: tuple[int, int], roles: int) -> list[tuple[int, ...]]:
    """All ways to give the roles to both of a pair."""
    return [seats for seats in product(pair, repeat=roles) if len(set(seats)) == 2]


def line_ups(contestants: int, roles: int) -> list[tuple[int, ...]]:
    """The assignments of one round of a game: of all pairs, or of single agents to one role."""
    if roles == 1:
        return [(contestant,) for contestant in range(contestants)]
    pairs = combinations(range(contestants), 2)
    return [seats for pair in pairs for seats in assignments(pair, roles)]


def rounds_for(matches: int, roles: int) -> int:
    """How many rounds give a pair (or an agent alone) at least so many matches of a game."""
    return math.ceil(matches / (1 if roles == 1 else 2**roles - 2))


def schedule(roles: Mapping[str, int], contestants: int, matches: int) -> Iterator[Fixture]:
    """All fixtures in their order; `roles` has the number of roles of every game.

    `matches` is the least number of matches per game and pair of contestants.
    """
    rounds = {game: rounds_for(matches, count) for game, count in roles.items()}
    for number in range(max(rounds.values(), default=0)):
        for game, count in roles.items():
            if number < rounds[game]:
                for seats in line_ups(contestants, count):
                    yield Fixture(game, number, seats)
