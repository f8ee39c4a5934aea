"""Games between thinkers in the test's own process."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from ggp_agent.mind.thinker import LegalThinker, Thinker
from ggp_agent.parameters import Value
from tests.ggp_agent.search.positions import GUARD, machine_of, native


def play(game: str, players: Sequence[Thinker]) -> tuple[int, ...]:
    """A game from its beginning to its end: its goals."""
    machine = machine_of(game)
    state = machine.initial_state
    while not machine.is_terminal(state):
        for player in players:
            player.think(time.monotonic() + GUARD, lambda: False)
        joint_move = tuple(player.choose() for player in players)
        for role, move in enumerate(joint_move):
            assert move in machine.legal_moves(state, role)
        state = machine.next_state(state, joint_move)
        for player in players:
            player.enter(state, joint_move)
    return machine.goals(state)


def goals_against_random(game: str, role: int, matches: int, **settings: Value) -> list[int]:
    """The goals of the search in that role of a two-role game against random moves."""
    machine, goals = machine_of(game), []
    for seed in range(matches):
        players: list[Thinker] = [native(game, role, seed, **settings)]
        players.insert(1 - role, LegalThinker(machine, 1 - role, random.Random(seed)))
        goals.append(play(game, players)[role])
    return goals
