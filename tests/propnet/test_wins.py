"""Moves that win at once: what the gates say against what the rules say of every next state."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.grounding import ground
from gdl.rules import RuleSheet
from gdl.state_machine import MAX_GOAL, State
from ggp_agent.library.games import find_game
from propnet import kernels
from propnet.compiling import compile_in_background
from propnet.layout import layout_of, new_few_lanes, new_lanes
from propnet.machine import PropnetStateMachine
from propnet.network import Network, compile_network
from propnet.vectors import LANES
from tests.conformance import wins_by_rules

COMPLETE = ("ticTacToe", "connectFive", "ticTacToe3D", "pentago", "nineBoardTicTacToe")
"""Games of which all moves that win are known."""
GAMES = (
    *COMPLETE, "connectFour", "quad", "breakthrough", "knightthrough", "ttcc4", "ttcc4TwoPlayer",
    "chinook", "chineseCheckers3", "battle", "gridGame2", "runners", "merrills",
    "ticTacToe3Player", "amazons6x6", "biddingTicTacToe", "rockPaperScissors",
)  # fmt: skip
Bits = NDArray[np.bool_]


@cache
def _network(game: str) -> Network:
    return compile_network(ground(find_game(game).rule_sheet(), seconds=60))


@cache
def _states(game: str) -> tuple[PropnetStateMachine, list[State]]:
    """A lane for every state, of random games, the last ones before their ends first."""
    machine, random = PropnetStateMachine(_network(game)), Random(3)
    states: list[State] = []
    while len(states) < LANES:
        line: list[State] = []
        state = machine.initial_state
        while not machine.is_terminal(state) and len(line) < 200:
            line.append(state)
            joint = [
                random.choice(machine.legal_moves(state, r)) for r in range(len(machine.roles))
            ]
            state = machine.next_state(state, tuple(joint))
        states += line[::-1][: LANES // 8]
    return machine, states[:LANES]


def _wins(machine: PropnetStateMachine, states: list[State]) -> Bits:
    """(moves, states) whether a move is legal, nobody else has a choice, and it wins."""
    network = machine.network
    wins = np.zeros((len(network.legal), len(states)), np.bool_)
    for role, best in enumerate(max((0, *v)) for v in network.goal_values):
        legal = [machine.legal_moves_of(states, r) for r in range(len(machine.roles))]
        asked = [
            (number, move)
            for number in range(len(states))
            if best and all(len(legal[r][number]) == 1 for r in range(len(legal)) if r != role)
            for move in legal[role][number]
        ]
        joints = [
            tuple(move if r == role else legal[r][number][0] for r in range(len(legal)))
            for number, move in asked
        ]
        after = machine.next_states([states[number] for number, _ in asked], joints)
        ended, rewards = machine.are_terminal(after), machine.rewards_of(after)
        numbers = {move: i for i, move in enumerate(network.moves[role], network.move_span[role])}
        for (number, move), over, reward in zip(asked, ended, rewards, strict=True):
            wins[numbers[move], number] = over and reward[role] == best / MAX_GOAL
    return wins


def _seen(network: Network, states: list[State], *, few: bool, code: bool) -> tuple[Bits, Bits]:
    """(moves, states) the moves that are made where somebody wins at once, and all others."""
    layout = layout_of(network)
    if code:
        compilation = compile_in_background(network, layout)
        assert compilation is not None
        assert compilation.wait(120)
    lanes = new_few_lanes(layout) if few else new_lanes(layout, 1)
    lanes.random[:] = 1 + np.arange(lanes.random.size, dtype=np.uint64).reshape(lanes.random.shape)
    made = np.zeros((len(network.legal), len(states)), np.bool_)
    decided = np.zeros((len(network.roles), len(states)), np.bool_)
    at_once = 64 if few else LANES
    for low in range(0, len(states), at_once):
        some = np.array([np.frombuffer(packed(s), np.uint64) for s in states[low : low + at_once]])
        kernels.load_states(layout, lanes, some, len(some))
        lanes.active[:] = kernels.ALL
        kernels.see_position(layout, lanes)
        kernels.see_wins(layout, lanes)
        kernels.choose_moves(layout, lanes)
        decided[:, low : low + at_once] = _bits(lanes.decided)[:, : len(some)]
        kernels.make_decided(layout, lanes)
        rows = lanes.values[layout.first_move : layout.first_move + len(network.legal)]
        made[:, low : low + at_once] = _bits(rows)[:, : len(some)]
    role_of = np.repeat(np.arange(len(network.roles)), np.diff(network.move_span))
    return made & decided[role_of], made & ~decided[role_of]


def packed(state: State) -> bytes:
    """A propnet's state is the bytes of a packed one."""
    assert isinstance(state, bytes)
    return state


def _bits(rows: NDArray[np.uint64]) -> Bits:
    bytes_ = np.ascontiguousarray(rows.reshape(len(rows), -1)).view(np.uint8)
    return np.unpackbits(bytes_, axis=1, bitorder="little").astype(np.bool_)


# Decision 53
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("few", "code"), [(False, False), (True, False), (False, True)])
def test_moves_that_are_said_to_win_do(game: str, few: bool, code: bool) -> None:
    network = _network(game)
    machine, states = _states(game)
    wins = _wins(machine, states)
    winning, others = _seen(network, states, few=few, code=code)
    assert not (winning & ~wins).any()
    span = network.move_span
    for low, high in pairwise(span):
        assert (winning[low:high].sum(axis=0) + others[low:high].sum(axis=0) == 1).all()
    if game in COMPLETE:
        assert wins.any()
        assert (winning.any(axis=0) == wins.any(axis=0)).all()


@pytest.mark.parametrize("game", ["connectFour", "quad", "breakthrough", "ttcc4", "gridGame2"])
def test_some_that_win_are_known(game: str) -> None:
    machine, states = _states(game)
    winning, _ = _seen(_network(game), states, few=False, code=False)
    assert winning.any(axis=0).sum() >= _wins(machine, states).any(axis=0).sum() / 2


def test_nothing_is_known_of_games_for_one_role() -> None:
    assert not _network("eightPuzzle").wins.any()


RACE = """
    (role a) (role b) (init (at 0)) (init (turn a))
    (<= (legal ?r (go 1)) (true (turn ?r))) (<= (legal ?r (go 2)) (true (turn ?r)))
    (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
    (+ 0 1 1) (+ 1 1 2) (+ 2 1 3) (+ 0 2 2) (+ 1 2 3)
    (<= (next (at ?n)) (true (at ?m)) (does ?r (go ?d)) (+ ?m ?d ?n))
    (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
    (<= terminal (true (at 3)))
    (<= (goal ?r 100) (role ?r) (not (true (turn ?r)))) (<= (goal ?r 0) (true (turn ?r)))
"""


def test_a_race() -> None:
    """Whoever comes to three first wins."""
    network = compile_network(ground(RuleSheet.from_text(RACE)))
    machine = PropnetStateMachine(network)
    states = [machine.initial_state]
    for moves in ((("go", "2"), None), (None, ("go", "1"))):
        legal = [machine.legal_moves(states[-1], role)[0] for role in range(2)]
        joint = tuple(move or other for move, other in zip(moves, legal, strict=True))
        states.append(machine.next_state(states[-1], joint))
    assert machine.is_terminal(states.pop())
    winning, _ = _seen(network, states, few=False, code=False)
    names = [(r, m) for r, moves in enumerate(network.moves) for m in moves]
    assert [names[i] for i in np.flatnonzero(winning[:, 0])] == []
    assert [names[i] for i in np.flatnonzero(winning[:, 1])] == [(1, ("go", "1"))]


def test_roles_that_choose_at_once_are_never_decided() -> None:
    rules = """
        (role a) (role b) (init start) (legal a x) (legal a y) (legal b x) (legal b y)
        (<= (next won) (does a x) (does b x)) (<= terminal (true won))
        (<= (goal a 100) (true won)) (goal b 0)
    """
    network = compile_network(ground(RuleSheet.from_text(rules)))
    winning, _ = _seen(network, [PropnetStateMachine(network).initial_state], few=True, code=False)
    assert not winning.any()


# -------------------------------------------------------------------------------------- playouts


def _turned(machine: PropnetStateMachine, state: State) -> State:
    """The state with the turn passed on, in a game with two roles and a fluent `control`."""
    fluents = set(machine.fluents(state))
    (turn,) = (fluent for fluent in fluents if fluent[0] == "control")
    other = machine.roles[1 - machine.roles.index(turn[1])]
    return machine.state_from(fluents - {turn} | {("control", other)})


def _mover(machine: PropnetStateMachine, state: State) -> int:
    return next(r for r in range(2) if machine.legal_moves(state, r) != ("noop",))


def _played(blocks: bool, random: Random) -> int:
    """The first role's goal of a game of tic-tac-toe: wins first, then blocks, else at random."""
    machine, _ = _states("ticTacToe")
    state = machine.initial_state
    while not machine.is_terminal(state):
        mover = _mover(machine, state)
        choice = wins_by_rules(machine, state, mover)
        if not choice and blocks:
            choice = wins_by_rules(machine, _turned(machine, state), 1 - mover)
        move = choice[0] if choice else random.choice(machine.legal_moves(state, mover))
        joint = (move, "noop") if mover == 0 else ("noop", move)
        state = machine.next_state(state, joint)
    return machine.goals(state)[0]


@pytest.mark.parametrize("blocks", [False, True])
def test_playouts_are_those_of_the_policy(blocks: bool) -> None:
    layout = layout_of(_network("ticTacToe"))
    lanes = new_lanes(layout, 5)
    ours: list[int] = []
    for _ in range(8):
        kernels.load_states(layout, lanes, np.tile(layout.initial, (LANES, 1)), LANES)
        lanes.active[:] = kernels.ALL
        for _ in range(9):
            kernels.see_position(layout, lanes)
            over = lanes.values[layout.terminal >> 1]
            lanes.active[0] &= over if layout.terminal & 1 else ~over
            kernels.see_wins(layout, lanes)
            if blocks:
                kernels.see_blocks(layout, lanes)
            kernels.choose_moves(layout, lanes)
            kernels.make_decided(layout, lanes)
            kernels.advance(layout, lanes)
        kernels.see_position(layout, lanes)
        goals = np.zeros((2, LANES), np.uint8)
        kernels.read_goals(layout, lanes, goals)
        ours += goals[0].tolist()
    random = Random(11)
    theirs = [_played(blocks, random) for _ in range(1500)]
    error = np.sqrt(np.var(ours) / len(ours) + np.var(theirs) / len(theirs))
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


# Decision 54
@pytest.mark.parametrize(
    "game", ["ticTacToe", "connectFour", "connectFive", "quad", "breakthrough", "knightthrough"]
)
def test_a_block_takes_away_a_threat(game: str) -> None:
    """Threats are what the other role would win by, had it the turn; a block leaves fewer."""
    machine, states = _states(game)
    network = machine.network
    layout, lanes = layout_of(network), new_lanes(layout_of(network), 1)
    kernels.load_states(
        layout, lanes, np.array([np.frombuffer(packed(s), np.uint64) for s in states]), LANES
    )
    lanes.active[:] = kernels.ALL
    kernels.see_position(layout, lanes)
    kernels.see_wins(layout, lanes)
    won = _bits(lanes.decided).any(axis=0)
    kernels.see_blocks(layout, lanes)
    blocked = _bits(lanes.decided).any(axis=0) & ~won
    kernels.choose_moves(layout, lanes)
    kernels.make_decided(layout, lanes)
    made = _bits(lanes.values[layout.first_move : layout.first_move + len(network.legal)])
    seen = 0
    for number in np.flatnonzero(blocked)[:60]:
        mover = _mover(machine, states[number])
        low, high = network.move_span[mover : mover + 2]
        (move,) = (network.moves[mover][i] for i in np.flatnonzero(made[low:high, number]))
        threats = set(wins_by_rules(machine, _turned(machine, states[number]), 1 - mover))
        joint = (move, "noop") if mover == 0 else ("noop", move)
        after = machine.next_state(states[number], joint)
        # in connect four the place above may win as well
        assert move in threats or threats - set(wins_by_rules(machine, after, 1 - mover))
        seen += 1
    assert seen
