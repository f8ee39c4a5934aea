"""The exhaustive search against the same in a few plain lines, one state at a time."""

from __future__ import annotations

import random

import pytest

from gdl.errors import GgpError
from gdl.rules import RuleSheet
from gdl.state_machine import State
from ggp_agent.tactics.proof import (
    Proof,
    StateLimitError,
    losing_moves,
    proof_of_loss,
    proof_of_win,
)
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.tactics.plain import machine_of, plain_loss, plain_win


def walk(game: str, seed: int, steps: int) -> State:
    """A state after random moves that is not over."""
    machine, dice = machine_of(game), random.Random(seed)
    state = machine.initial_state
    for _ in range(steps):
        roles = range(len(machine.roles))
        joint = [dice.choice(machine.legal_moves(state, role)) for role in roles]
        following = machine.next_state(state, joint)
        if machine.is_terminal(following):
            break
        state = following
    return state


CASES = [
    ("ticTacToe", 1, 9),
    ("nim", 2, 7),
    ("connectFour", 14, 3),
    ("pentago", 44, 2),
    ("biddingTicTacToe", 8, 2),
    ("ticTacToe3Player", 8, 3),
]


@pytest.mark.parametrize(("game", "steps", "most"), CASES)
def test_it_finds_the_moves_that_force_a_win(game: str, steps: int, most: int) -> None:
    machine, different = machine_of(game), set()
    for seed in range(6):
        state = walk(game, seed, steps + seed)
        for role in range(len(machine.roles)):
            proof, plain = proof_of_win(machine, role), plain_win(machine, role)
            for plies in range(1, most + 1):
                found = proof.forcing_moves(state, plies)
                assert set(found) == plain.moves(state, plies)
                different.add(bool(found))
    assert different == {False, True}


@pytest.mark.parametrize(("game", "steps", "most"), CASES[:3])
def test_it_finds_the_moves_that_lose(game: str, steps: int, most: int) -> None:
    machine, lost = machine_of(game), 0
    for seed in range(6):
        state = walk(game, seed, steps + seed)
        role = 0 if len(machine.legal_moves(state, 0)) > 1 else 1
        moves = machine.legal_moves(state, role)
        (pause,) = machine.legal_moves(state, 1 - role)
        proof, plain = proof_of_loss(machine, role), plain_loss(machine, role)
        for plies in range(2, most + 1):
            found = losing_moves(proof, state, role, plies)
            for move in moves:
                joint = (move, pause) if role == 0 else (pause, move)
                after = machine.next_state(state, joint)
                assert plain.forces(after, plies - 1) == (move in found)
            lost += len(found)
    assert lost


def test_who_moves_at_the_same_time_knows_nothing_of_the_others_move() -> None:
    machine = machine_of("rockPaperScissors")
    for role in (0, 1):
        assert proof_of_win(machine, role).forcing_moves(machine.initial_state, 20) == []


def test_it_gives_up_rather_than_look_at_more_states_than_it_may() -> None:
    machine = machine_of("connectFour")
    proof = proof_of_win(machine, 0, most_states=100)
    with pytest.raises(StateLimitError, match="100"):
        proof.forcing_moves(machine.initial_state, 7)


def test_without_a_legal_move_nothing_is_proven() -> None:
    text = "(role a) (role b) (init s) (legal a go) (<= terminal (true e)) (goal a 0) (goal b 0)"
    machine = PropnetStateMachine.from_rules(RuleSheet.from_text(text + " (<= (next s) (true s))"))
    with pytest.raises(GgpError, match="no legal move"):
        Proof(machine, 0, lambda _: True).forcing_moves(machine.initial_state, 2)
