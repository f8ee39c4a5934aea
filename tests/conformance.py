"""Two reasoners must agree on a game: the comparison, and the rule sheets it is run over."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from gdl.rules import RuleSheet
from gdl.state_machine import State, StateMachine
from tests.naive import random_playout

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("GGP_RULESHEETS", ROOT.parent / "shared" / "rulesheets"))
"""A folder of public rule sheets; tests that need one of them are skipped where it is not there."""


def shared_sheet(name: str) -> RuleSheet:
    """A public rule sheet by its name; skips the test where it is not there."""
    path = SHARED / f"{name}.kif"
    if not path.is_file():
        pytest.skip(f"no {path.name} in {SHARED}; set GGP_RULESHEETS")
    return RuleSheet.from_file(path)


def assert_agree(
    first: StateMachine, second: StateMachine, *, playouts: int, steps: int, seed: int = 0
) -> int:
    """Hold two machines against each other in every state of random playouts; counts the states.

    The first one plays; the second one has to come to the same states by the same moves.
    """
    assert first.roles == second.roles
    rng, compared = random.Random(seed), 0
    for _ in range(playouts):
        other: State = second.initial_state
        for state, joint_move in random_playout(first, rng, steps):
            _assert_alike(first, state, second, other)
            compared += 1
            if joint_move:
                other = second.next_state(other, joint_move)
    return compared


def _assert_alike(first: StateMachine, state: State, second: StateMachine, other: State) -> None:
    fluents = first.fluents(state)
    assert second.fluents(other) == fluents
    assert first.state_from(fluents) == state
    assert second.state_from(fluents) == other
    terminal = first.is_terminal(state)
    assert second.is_terminal(other) == terminal
    assert second.goals(other) == first.goals(state)
    if not terminal:
        for role in range(len(first.roles)):
            assert second.legal_moves(other, role) == first.legal_moves(state, role)
