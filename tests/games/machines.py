"""Our games' machines, made once for all tests, and random games on them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gdl.state_machine import JointMove, State, StateMachine
from ggp_agent.library.games import find_game, games
from propnet.machine import PropnetStateMachine

KEYS = tuple(game.key for game in games())
GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def machine_of(key: str) -> PropnetStateMachine:
    """The machine of a game of ours."""
    return PropnetStateMachine.from_rules(find_game(key).rule_sheet(), seconds=120)


def random_states(machine: StateMachine, seed: int) -> Iterator[tuple[State, JointMove]]:
    """The states of a random game, each with the joint move made in it; () with the last one."""
    rng, state = random.Random(seed), machine.initial_state
    while not machine.is_terminal(state):
        moves = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        joint_move = tuple(map(rng.choice, moves))
        yield state, joint_move
        state = machine.next_state(state, joint_move)
    yield state, ()
