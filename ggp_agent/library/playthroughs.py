"""A random game as readable text: state drawings, legal moves, the moves made, goals.

A playthrough shows at a glance what a rule sheet is about, and a kept one ("golden") shows any
change of what it means; the idea is OpenSpiel's.  Only the first and the last states are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from forward_model.model import AnyModel
from gdl.rules import RuleSheet, Term
from gdl.state_machine import State, StateMachine
from ggp_agent.library.board_descriptions import LINE_WIDTH, BoardDescription
from ggp_agent.library.boards import draw

FIRST_STATES = 4
"""So many states from the start are drawn with all legal moves; of the rest, the last one."""
MAX_STEPS = 500
"""A game that goes on for longer is broken off."""


def random_game(
    model: AnyModel, seed: int, steps: int = MAX_STEPS
) -> Iterator[tuple[Any, tuple[Any, ...] | None]]:
    """The states of a random game, each with the joint move made in it; None with the last one.

    Every role's legal moves are equally likely; the same seed gives the same game.
    """
    rng, state = random.Random(seed), model.initial_state
    roles = range(len(model.role_names))
    for _ in range(steps):
        if model.is_terminal(state):
            break
        joint_move = tuple(rng.choice(model.legal_moves(state, role)) for role in roles)
        yield state, joint_move
        state = model.next_state(state, joint_move, rng)
    yield state, None


def playthrough(
    machine: StateMachine, sheet: RuleSheet, seed: int, board: BoardDescription | None = None
) -> Iterator[str]:
    """The lines of a random game; `machine` plays by `sheet`, which spells the moves."""
    yield f"; a random game, seed {seed}"
    for step, (state, joint_move) in enumerate(random_game(machine, seed)):
        if step < FIRST_STATES or joint_move is None:
            yield ""
            yield f"State {step}"
            yield from draw(machine.fluents(state), board).splitlines()
        if joint_move is None:
            yield from _end(machine, sheet, state)
            return
        if step < FIRST_STATES:
            for role, name in enumerate(machine.roles):
                moves = [sheet.write(move) for move in machine.legal_moves(state, role)]
                yield from _wrap(f"{sheet.write(name)} may ({len(moves)}): ", moves)
        yield f"Move {step + 1}: {_pairs(machine, sheet, joint_move)}"


def _end(machine: StateMachine, sheet: RuleSheet, state: State) -> Iterator[str]:
    how = "The game is over" if machine.is_terminal(state) else f"Broken off after {MAX_STEPS}"
    goals = (str(goal) for goal in machine.goals(state))
    roles = (sheet.write(role) for role in machine.roles)
    yield f"{how}: {', '.join(f'{r} {g}' for r, g in zip(roles, goals, strict=True))}"


def _pairs(machine: StateMachine, sheet: RuleSheet, joint_move: Iterable[Term]) -> str:
    pairs = zip(machine.roles, joint_move, strict=True)
    return ", ".join(f"{sheet.write(role)} {sheet.write(move)}" for role, move in pairs)


def _wrap(heading: str, items: list[str]) -> Iterator[str]:
    """The items behind the heading; long lines go on indented."""
    line, empty = heading, True
    for item in items:
        if not empty and len(line) + len(item) > LINE_WIDTH - 2:
            yield line.rstrip()
            line, empty = "  ", True
        line += item if empty else f" {item}"
        empty = False
    yield line
