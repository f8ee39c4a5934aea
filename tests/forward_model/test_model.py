"""What every forward model must do, on models of three kinds; and what it need not say."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from forward_model.model import AnyModel, ForwardModel
from tests.forward_model.butterflies import Butterflies
from tests.forward_model.kuhn_poker import DEALER, WAIT, Hand, KuhnPoker
from tests.forward_model.morpion import Morpion

MODELS: dict[str, AnyModel] = {
    "butterflies": Butterflies(),
    "morpion 5D": Morpion(disjoint=True),
    "morpion 5T": Morpion(disjoint=False),
    "kuhn poker": KuhnPoker(),
}

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


class Countdown(ForwardModel[int, str]):
    """No more than a model must have: whoever comes to 0 has ended the game."""

    role_names = ("counter",)
    initial_state = 3

    def legal_moves(self, state: int, role: int) -> tuple[str, ...]:
        return ("one", "two") if state > 1 else ("one",)

    def next_state(self, state: int, joint_move: Sequence[str], random: Random) -> int:
        return state - (1 if joint_move[0] == "one" else 2)

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def rewards(self, state: int) -> tuple[float, ...]:
        return (1.0 - state / 3,)

    def write_move(self, move: str) -> str:
        return move

    def read_move(self, text: str) -> str:
        return text


def states_of(model: AnyModel, seed: int) -> tuple[list[object], list[list[object]]]:
    """The states of a random game, and the joint moves made in all but the last."""
    random, states = Random(seed), [model.initial_state]
    joint_moves: list[list[object]] = []
    while not model.is_terminal(states[-1]):
        roles = range(len(model.role_names))
        joint_moves.append([random.choice(model.legal_moves(states[-1], r)) for r in roles])
        states.append(model.next_state(states[-1], joint_moves[-1], random))
    return states, joint_moves


def test_what_a_model_does_not_say() -> None:
    """The defaults are those of a deterministic game with perfect information."""
    model, random = Countdown(), Random(1)
    before = random.getstate()
    assert model.chance_role is None and model.reward_bounds == (0.0, 1.0)
    assert model.heuristic(3) is None
    assert model.observation(3, 0) == 3 and model.determinize(3, 0, random) == 3
    assert random.getstate() == before
    assert model.compiled is None and model.compile() is None
    assert model.in_process and model.speed == 0
    model.close()


def test_many_states_at_once_are_one_after_the_other() -> None:
    model = Countdown()
    assert model.legal_moves_of([3, 1], 0) == [("one", "two"), ("one",)]
    assert model.next_states([3, 1], [["two"], ["one"]], Random(1)) == [1, 0]
    assert model.are_terminal([0, 3]) == [True, False]
    assert model.rewards_of([3, 0]) == [(0.0,), (1.0,)]
    with pytest.raises(ValueError):
        model.next_states([3, 1], [["one"]], Random(1))


@every_model
def test_many_states_at_once_draw_as_single_ones_do(model: AnyModel) -> None:
    states, joint_moves = states_of(model, 1)
    one, other = Random(2), Random(2)
    pairs = list(zip(states, joint_moves, strict=False))
    singly = [model.next_state(state, joint, one) for state, joint in pairs]
    assert model.next_states(states[:-1], joint_moves, other) == singly


@every_model
def test_moves_are_read_as_they_are_written(model: AnyModel) -> None:
    states, _ = states_of(model, 3)
    for state in states[:-1]:
        for role in range(len(model.role_names)):
            moves = model.legal_moves(state, role)
            texts = [model.write_move(move) for move in moves]
            assert len(set(texts)) == len(moves) > 0
            assert tuple(map(model.read_move, texts)) == moves


@every_model
def test_states_are_values(model: AnyModel) -> None:
    """The same moves and the same dice lead to equal states, and nothing changes a state."""
    first, second = states_of(model, 4)[0], states_of(model, 4)[0]
    assert first == second and list(map(hash, first)) == list(map(hash, second))
    assert len(set(first)) == len(first)


@every_model
def test_rewards_and_heuristic_values_are_within_the_bounds(model: AnyModel) -> None:
    low, high = model.reward_bounds
    for state in states_of(model, 5)[0]:
        for values in (model.rewards(state), model.heuristic(state)):
            assert values is None or len(values) == len(model.role_names)
            assert all(low <= value <= high for value in values or ())


@every_model
def test_a_role_cannot_tell_the_drawn_state_from_the_true_one(model: AnyModel) -> None:
    random = Random(6)
    for state in states_of(model, 7)[0]:
        for role in range(len(model.role_names)):
            drawn = model.determinize(state, role, random)
            assert model.observation(drawn, role) == model.observation(state, role)
            assert model.is_terminal(drawn) == model.is_terminal(state)
            if not model.is_terminal(state):
                assert model.legal_moves(drawn, role) == model.legal_moves(state, role)


class TestTheModelsThemselves:
    def test_the_cross_of_morpion_solitaire_has_28_first_lines(self) -> None:
        for disjoint in (True, False):
            start = Morpion(disjoint).initial_state
            assert (len(start.points), len(start.moves)) == (36, 28)

    @pytest.mark.parametrize("disjoint", [True, False])
    def test_lines_are_legal_by_the_rules(self, disjoint: bool) -> None:
        """Counted anew from the lines drawn: what is shared, and which could be drawn."""
        model = Morpion(disjoint)
        states, _ = states_of(model, 8)
        for state in states:
            lines = list(state.lines)  # type: ignore[attr-defined]
            for i, line in enumerate(lines):
                for other in lines[:i]:
                    if line.direction == other.direction:
                        shared = set(line.points()) & set(other.points())
                        assert len(shared) <= (0 if disjoint else 1)
            assert len(state.points) == 36 + len(lines)  # type: ignore[attr-defined]
        assert 20 <= len(states) - 1 <= (121 if disjoint else 485)  # bounds that are proven

    def test_disjoint_lines_are_fewer(self) -> None:
        lengths = [
            sum(len(states_of(Morpion(disjoint), seed)[0]) for seed in range(10))
            for disjoint in (True, False)
        ]
        assert lengths[0] < lengths[1]

    def test_poker_pays_what_is_bet(self) -> None:
        model = KuhnPoker()
        cases = {
            ("pass", "pass"): 1.0,
            ("bet", "bet"): 2.0,
            ("pass", "bet", "bet"): 2.0,
            ("bet", "pass"): 1.0,
            ("pass", "bet", "pass"): -1.0,  # the better card has given up
        }
        for bets, gain in cases.items():
            state = model.next_state(Hand(), (WAIT, WAIT, (2, 0)), Random(1))
            for number, bet in enumerate(bets):
                assert not model.is_terminal(state)
                joint = [WAIT, WAIT, WAIT]
                joint[number % 2] = bet
                state = model.next_state(state, joint, Random(1))
            assert model.is_terminal(state)
            assert model.rewards(state) == (gain, -gain, 0.0)
        assert model.chance_role == DEALER
