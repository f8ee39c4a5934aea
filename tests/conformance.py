"""Two reasoners must agree on a game: the comparison, and the rule sheets it is run over.

`python -m tests.conformance FILE...` holds the propnet against Prolog in whole games of each sheet,
for as many transitions as asked for or as the time allows.
"""

from __future__ import annotations

import math
import os
import random
import time
from contextlib import closing
from pathlib import Path

import click
import pytest

from gdl.errors import GgpError
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from gdl.state_machine import MAX_GOAL, Move, State, StateMachine
from propnet.machine import PropnetStateMachine
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
    first: StateMachine,
    second: StateMachine,
    *,
    playouts: int,
    steps: int,
    seed: int = 0,
    deadline: float = math.inf,
) -> int:
    """Hold two machines against each other in every state of random playouts; counts the states.

    The first one plays; the second one has to come to the same states by the same moves.  At the
    deadline (of `time.monotonic()`) it is left at what was compared by then.
    """
    assert first.roles == second.roles
    rng, compared = random.Random(seed), 0
    for _ in range(playouts):
        other: State = second.initial_state
        for state, joint_move in random_playout(first, rng, steps):
            _assert_alike(first, state, second, other)
            compared += 1
            if time.monotonic() >= deadline:
                return compared
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


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--transitions", default=200, show_default=True, help="How many to compare.")
@click.option("--seconds", default=120.0, show_default=True, help="Time for each sheet.")
def main(files: tuple[Path, ...], transitions: int, seconds: float) -> None:
    """Compare the propnet with Prolog over whole games of rule sheets; a line per sheet."""
    disagreements = 0
    for file in files:
        try:
            compared = _compare(RuleSheet.from_file(file), transitions, seconds)
            click.echo(f"{file.stem}: {compared} transitions agree")
        except AssertionError as error:
            disagreements += 1
            click.echo(f"{file.stem}: DISAGREE: {error}"[:1000])
        except GgpError as error:
            click.echo(f"{file.stem}: not compared: {error}")
    click.echo(f"{disagreements} sheets disagree")
    raise SystemExit(disagreements > 0)


def _compare(sheet: RuleSheet, transitions: int, seconds: float) -> int:
    propnet = PropnetStateMachine.from_rules(sheet, seconds=60)
    compared, seed, deadline = 0, 0, time.monotonic() + seconds
    with closing(PrologStateMachine(sheet, seconds=60)) as prolog:
        while compared < transitions and time.monotonic() < deadline:
            steps = transitions - compared
            agreed = assert_agree(
                propnet, prolog, playouts=1, steps=steps, seed=seed, deadline=deadline
            )
            compared += agreed - 1
            seed += 1
    return compared


if __name__ == "__main__":
    main()


def wins_by_rules(machine: StateMachine, state: State, role: int) -> list[Move]:
    """The moves by which a role wins at once if it has the turn, by the rules."""
    moves = []
    for move in machine.legal_moves(state, role):
        joint = [machine.legal_moves(state, r)[0] for r in range(len(machine.roles))]
        joint[role] = move
        after = machine.next_state(state, tuple(joint))
        if machine.is_terminal(after) and machine.goals(after)[role] == MAX_GOAL:
            moves.append(move)
    return moves
