"""What can be forced in a game, in a few plain lines, and the games' machines, made once."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from itertools import product

from forward_model.model import AnyModel
from gdl.state_machine import Move, State
from ggp_agent.library.games import find_game
from propnet.machine import PropnetStateMachine


@functools.cache
def machine_of(game: str) -> PropnetStateMachine:
    return PropnetStateMachine.from_rules(find_game(game).rule_sheet())


class Plain:
    """What a role can force, by definition."""

    def __init__(
        self, machine: AnyModel, attacker: int, wanted: Callable[[tuple[float, ...]], bool]
    ) -> None:
        self.machine, self.attacker, self.wanted = machine, attacker, wanted
        self.forces = functools.cache(self._forces)

    def _forces(self, state: State, plies: int) -> bool:
        if self.machine.is_terminal(state):
            return self.wanted(self.machine.rewards(state))
        return plies > 0 and bool(self.moves(state, plies))

    def moves(self, state: State, plies: int) -> set[Move]:
        found, roles = set(), range(len(self.machine.role_names))
        legal = [self.machine.legal_moves(state, role) for role in roles]
        for move in legal[self.attacker]:
            choices = [(move,) if r == self.attacker else legal[r] for r in roles]
            following = (
                self.machine.next_state(state, joint, random.Random(0))
                for joint in product(*choices)
            )
            if all(self.forces(state, plies - 1) for state in following):
                found.add(move)
        return found


def plain_win(machine: AnyModel, role: int) -> Plain:
    return Plain(machine, role, lambda rewards: rewards[role] == 1)


def plain_loss(machine: AnyModel, role: int) -> Plain:
    return Plain(machine, 1 - role, lambda rewards: rewards[role] == 0)
