"""Our games and the public sheets of the same games: the same moves, ends and goals.

Where the public sheet takes long to ground, only the kept perft counts are compared, unless
GGP_HEAVY_SHEETS is set.
"""

from __future__ import annotations

import os
import random

import pytest

from gdl.perft import perft
from gdl.state_machine import State
from propnet.machine import PropnetStateMachine
from tests.games.machines import GOLDEN, machine_of
from tests.games.public import PUBLIC, Position, PublicSheet

PLAYOUTS = 3
SEQUENCES = 1500

LIGHT = [key for key, public in PUBLIC.items() if not public.heavy]
HEAVY = [key for key, public in PUBLIC.items() if public.heavy]


@pytest.mark.parametrize("key", LIGHT)
def test_it_is_the_same_game(key: str) -> None:
    _compare(key)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("GGP_HEAVY_SHEETS"), reason="set GGP_HEAVY_SHEETS")
@pytest.mark.parametrize("key", HEAVY)
def test_it_is_the_same_game_as_a_heavy_sheet(key: str) -> None:
    _compare(key)


def _compare(key: str) -> None:
    public, ours = PUBLIC[key], machine_of(key)
    theirs = PropnetStateMachine.from_rules(public.rule_sheet(), seconds=240)
    kept = (GOLDEN / "perft" / f"{key}.txt").read_text().splitlines()
    expected = [line for line in kept if int(line.split()[1]) <= SEQUENCES]
    assert [str(line) for line in perft(theirs, len(expected))] == expected
    for seed in range(PLAYOUTS):
        _play_side_by_side(ours, theirs, public, random.Random(seed))


def _play_side_by_side(
    ours: PropnetStateMachine, theirs: PropnetStateMachine, public: PublicSheet, rng: random.Random
) -> None:
    here: State = ours.initial_state
    there: State = theirs.initial_state
    step = 0
    while not ours.is_terminal(here):
        assert not theirs.is_terminal(there)
        position = Position(step, ours.fluents(here))
        our_moves, their_moves = [], []
        for role in range(len(ours.roles)):
            ours_legal, theirs_legal = ours.legal_moves(here, role), theirs.legal_moves(there, role)
            translated = {public.ours_as_theirs(position, move): move for move in ours_legal}
            shortened = {public.theirs_in_short(position, move): move for move in theirs_legal}
            assert set(translated) == set(shortened)
            assert len(translated) == len(ours_legal) == len(theirs_legal)
            chosen = rng.choice(sorted(translated, key=str))
            our_moves.append(translated[chosen])
            their_moves.append(shortened[chosen])
        here, there = ours.next_state(here, our_moves), theirs.next_state(there, their_moves)
        step += 1
    assert theirs.is_terminal(there)
    if public.goals:
        assert theirs.goals(there) == ours.goals(here)
