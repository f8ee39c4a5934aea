"""The propnet as a state machine: the game of the naive reasoner, and errors for what is none."""

from __future__ import annotations

from random import Random

import pytest

from forward_model.model import ForwardModel
from gdl.errors import GroundingError, GroundingTimeout, ReasonerError
from gdl.rules import RuleSheet
from gdl.state_machine import StateMachine
from propnet.machine import PropnetStateMachine
from tests.conformance import assert_agree
from tests.naive import NaiveStateMachine, random_playout
from tests.small_sheets import SHEETS, small_sheet, tic_tac_toe


@pytest.fixture(scope="module")
def machine() -> PropnetStateMachine:
    return PropnetStateMachine.from_rules(tic_tac_toe())


@pytest.mark.parametrize("name", SHEETS)
def test_it_plays_as_the_naive_reasoner_does(name: str) -> None:
    sheet = small_sheet(name)
    propnet = PropnetStateMachine.from_rules(sheet)
    assert assert_agree(NaiveStateMachine(sheet), propnet, playouts=10, steps=8) >= 10


def test_it_plays_tic_tac_toe(machine: PropnetStateMachine) -> None:
    assert assert_agree(NaiveStateMachine(tic_tac_toe()), machine, playouts=3, steps=9) > 15


def test_states_are_values(machine: PropnetStateMachine) -> None:
    one = machine.next_state(machine.initial_state, (("mark", "1", "1"), "noop"))
    two = machine.next_state(one, ("noop", ("mark", "2", "2")))
    again = machine.next_state(machine.initial_state, (("mark", "1", "1"), "noop"))
    assert again == one != two and hash(again) == hash(one)
    assert len(machine.legal_moves(machine.initial_state, 0)) == 9
    assert machine.legal_moves(one, 0) == ("noop",)
    assert len(machine.legal_moves(two, 0)) == 7


def test_a_state_can_be_made_of_fluents(machine: PropnetStateMachine) -> None:
    won = [("cell", "1", str(i), "x") for i in (1, 2, 3)]
    state = machine.state_from([*won, ("turn", "o")])
    assert machine.is_terminal(state)
    assert machine.goals(state) == (100, 0)
    assert machine.fluents(state) == {*won, ("turn", "o")}


def test_a_fluent_that_play_cannot_reach_is_an_error(machine: PropnetStateMachine) -> None:
    with pytest.raises(ReasonerError, match=r"^\(cell 9 9 x\) is no fluent"):
        machine.state_from([("cell", "9", "9", "x")])


def test_a_move_that_a_role_never_has_is_an_error(machine: PropnetStateMachine) -> None:
    with pytest.raises(ReasonerError, match=r"^\(mark 9 9\) is never a move of x"):
        machine.next_state(machine.initial_state, (("mark", "9", "9"), "noop"))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_joint_move_has_a_move_per_role(machine: PropnetStateMachine, count: int) -> None:
    with pytest.raises(ValueError):
        machine.next_state(machine.initial_state, ("noop",) * count)


def test_an_error_leaves_the_machine_usable(machine: PropnetStateMachine) -> None:
    with pytest.raises(ReasonerError):
        machine.next_state(machine.initial_state, ("nonsense", "noop"))
    assert len(machine.legal_moves(machine.initial_state, 0)) == 9
    machine.close()
    assert machine.goals(machine.initial_state) == (50, 50)


def test_rules_that_cannot_be_grounded_are_errors() -> None:
    with pytest.raises(GroundingError, match="unsafe rule"):
        PropnetStateMachine.from_rules(RuleSheet.from_text("(role r) (<= (legal r ?x) (true a))"))
    endless = "(role r) (init (n 0)) (<= (next (n (s ?x))) (true (n ?x)))"
    with pytest.raises(GroundingTimeout):
        PropnetStateMachine.from_rules(RuleSheet.from_text(endless), seconds=1)


def test_a_long_chain_of_relations_becomes_a_network() -> None:
    """Gates that are used once are merged: here 200 of them into one."""
    length = 200
    chain = " ".join(f"(<= (h {i + 1}) (h {i}) (true (c {i})))" for i in range(length))
    cells = " ".join(
        f"(init (c {i})) (<= (next (c {i})) (true (c {i})) (not (does r (cut {i}))))"
        f"(<= (legal r (cut {i})) (true (c {i})))"
        for i in range(length)
    )
    text = f"(role r) (h 0) {chain} {cells} (<= terminal (not (h {length}))) (goal r 1)"
    propnet = PropnetStateMachine.from_rules(RuleSheet.from_text(text))
    state = propnet.initial_state
    assert not propnet.is_terminal(state)
    for number in (0, 57, length - 1):
        assert propnet.is_terminal(propnet.next_state(state, (("cut", str(number)),)))
    assert propnet.network.gate_count < 2 * length


def test_more_fluents_than_a_word_has_bits() -> None:
    rules = " ".join(f"(<= (next (b {i + 1})) (true (b {i})))" for i in range(150))
    text = f"(role r) (init (b 0)) (legal r x) (goal r 1) {rules} (<= terminal (true (b 150)))"
    propnet = PropnetStateMachine.from_rules(RuleSheet.from_text(text))
    state = propnet.initial_state
    for number in range(150):
        assert propnet.fluents(state) == {("b", str(number))}
        assert not propnet.is_terminal(state)
        state = propnet.next_state(state, ("x",))
    assert propnet.is_terminal(state)


@pytest.mark.parametrize("count", [0, 1, 2, 256, 257, 512, 513, 1100])
def test_many_states_at_once_are_as_one_after_the_other(
    machine: PropnetStateMachine, count: int
) -> None:
    """States of random games, terminal ones too, in half the lanes, all lanes, more than that."""
    random = Random(count)
    steps = [step for _ in range(2 + count // 8) for step in random_playout(machine, random)]
    steps = random.sample(steps, count)
    states = [state for state, _ in steps]
    for role in (0, 1):
        expected = ForwardModel.legal_moves_of(machine, states, role)
        assert machine.legal_moves_of(states, role) == expected
    terminal = machine.are_terminal(states)
    assert terminal == ForwardModel.are_terminal(machine, states)
    assert machine.rewards_of(states) == ForwardModel.rewards_of(machine, states)
    going = [(state, joint) for state, joint in steps if joint]
    states, joints = [state for state, _ in going], [joint for _, joint in going]
    following = machine.next_states(states, joints)
    assert following == StateMachine.next_states(machine, states, joints)
    assert all(type(state) is bytes for state in following) and set(map(type, terminal)) <= {bool}


def test_many_states_need_a_joint_move_each(machine: PropnetStateMachine) -> None:
    joint = (("mark", "1", "1"), "noop")
    with pytest.raises(ValueError):
        machine.next_states([machine.initial_state] * 2, [joint])
    with pytest.raises(ValueError):
        machine.next_states([machine.initial_state], [joint] * 600)


def test_what_the_native_search_needs(machine: PropnetStateMachine) -> None:
    game = machine.compiled
    assert game is machine.compiled and game.layout is machine.layout
    assert [len(moves) for moves in game.moves] == [10, 10]
    assert game.best_rewards == (1.0, 1.0) and game.chance_role is None
    text = "(role r) (role random) (legal r x) (legal random x) (init a) (goal r 30) (goal r 70)"
    other = PropnetStateMachine.from_rules(RuleSheet.from_text(text))
    assert other.compiled.best_rewards == (0.7, 0.0) and other.compiled.chance_role == 1
