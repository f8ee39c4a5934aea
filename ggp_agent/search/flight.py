"""The simulations in flight: their settings, paths and playouts, and what MAST has learned.

Letters: B 512 simulations at most, D the depth limit, R roles, M moves of all roles (a move's
number is its place in `layout.legal`), L 512 lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.agents import Agent
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import aligned
from ggp_agent.search.scoring import LANES as GROUP
from ggp_agent.search.settings import (
    Settings,
    add_rewards,
    free_rows,
    give_rows,
    new_settings,
)
from propnet.choice import CHANCE_PLANES
from propnet.layout import I32, U64, Layout
from propnet.vectors import LANES, rows

I8 = NDArray[np.int8]

RANDOM, MAST, GIBBS = 0, 1, 2
"""The policies of playouts."""

POLICIES = {"random": RANDOM, "mast": MAST, "gibbs": GIBBS}

TRANSITIONS, EDGES, DEEPEST, ROUNDS = range(4)
"""What `totals` counts: transitions in playouts, edges of the tree that were passed, the longest
path, and evaluations for new nodes."""

NODE, STATISTICS, MOVES_THERE, MOVER, TABLE, PICKS = range(6)
"""What `path` holds of a step: the node that was left, its block of statistics, its number of
moves m, its mover and its AMAF table; from PICKS on the place of every role's pick in the node's
moves, and behind that the numbers of these moves."""

GOAL_BITS = 7
"""Bits of a goal value, 0 to 100."""
ROOTS = 4096

COUNT, SUM = 0, 1

FREE, READY, LANDED, PLAYING, OVER, DONE = range(6)
"""Stages of a simulation: its place is free; its settings are set; it has come to its leaf; its
playout goes on; its playout is over; its rewards are there to be told."""


class Flight(NamedTuple):
    """Working arrays of a search, and its fixed parameters."""

    settings: Settings
    stage: I8
    """(B,) see FREE"""
    path: I32
    """(B, D, PICKS + 2 R) the steps from the root to the leaf, see NODE: all that is needed to back
    a reward up, but for the statistics themselves"""
    depth: I32
    """(B,) edges from the root to the leaf"""
    length: I32
    """(B,) moves from the root to where the playout begins or goes on"""
    leaf: I32
    """(B,) the node reached; at the end that of the leaf, or NO_NODE if there was no room"""
    reference: I32
    """(B, R) GRAVE's reference node"""
    lists: I32
    """(2, B) numbers of simulations on their way down, and of those at a new state"""
    free: I32
    """(B,) the places that are free, in order, and then those that were before"""
    leaves: U64
    """(B, state_words) the states from which playouts start, or go on"""
    states: U64
    """(L, state_words)"""
    joint: I32
    """(L, R) joint moves, every move by its number in its role"""
    rewards: NDArray[np.float32]
    """(B, R) in [0, 1], by place, like all that is (B, ...)"""
    goals: NDArray[np.uint8]
    """(R, L)"""
    by_lane: U64
    """(planes * L, words of M bits) a set of moves for every lane, or several planes of them"""
    masks: U64
    """(rows, 8) rows of lanes: greedy (R), then the bits of 1 - epsilon
    (R * (CHANCE_PLANES + 1)), then those of the goals (R * GOAL_BITS), then some to work with"""
    planes: U64
    """(planes * M, 8) how often a move was played in a lane's playout, bit by bit"""
    top: I32
    """(M,) planes of a move that are in use; what others hold is void"""
    deep: I32
    """(words of M bits,) the most planes in use of 64 moves"""
    rows: U64
    """(M, 8) a set of lanes for every move, to work with"""
    found: I32
    """(max(M, D * R),) a list of moves, to work with"""
    mast: NDArray[np.float64]
    """(M, 2) MAST: how often a move was played, and the sum of the goals that it led to"""
    quality: NDArray[np.float32]
    """(M,) MAST's value of a move, 100 for one that was never played"""
    order: I32
    """(M,) every role's moves by falling quality"""
    ties: I32
    """(2 * M + 1,) the number of groups of moves of equal quality in `order`, and their bounds"""
    values: NDArray[np.float32]
    """(max(M, D * R) + GROUP,) values or rewards of a list of moves, to work with"""
    times: NDArray[np.float32]
    """likewise how often each was played"""
    keys: U64
    """(L,) hashes of `states`"""
    log_roots: NDArray[np.float32]
    """(ROOTS,) sqrt(ln n)"""
    inverse_roots: NDArray[np.float32]
    """(ROOTS,) 1 / sqrt(n)"""
    random: U64
    """(1,) generator of the tree's dice"""
    totals: NDArray[np.int64]
    """(4,) see TRANSITIONS"""
    chance: int
    """number of the role that stands for chance and draws its moves uniformly; -1: none"""
    grave: bool
    policy: int
    """RANDOM, MAST or GIBBS"""
    tau: float
    amaf_from: int
    solver: bool


def new_flight(layout: Layout, agent: Agent, chance: int, seed: int) -> Flight:
    """Working arrays for a game."""
    roles, moves, words = len(layout.span) - 1, len(layout.legal), len(layout.initial)
    limit, step = int(agent.number("depth")), PICKS + 2 * roles
    random = np.random.Generator(np.random.PCG64([seed, 1]))
    numbers = np.maximum(1, np.arange(ROOTS))
    return Flight(
        settings=new_settings(LANES, roles),
        stage=np.zeros(LANES, np.int8),
        path=aligned(LANES * limit * step, np.dtype(np.int32)).reshape(LANES, limit, step),
        depth=np.zeros(LANES, np.int32),
        length=np.zeros(LANES, np.int32),
        leaf=np.zeros(LANES, np.int32),
        reference=np.zeros((LANES, roles), np.int32),
        lists=np.zeros((2, LANES), np.int32),
        free=np.arange(LANES, dtype=np.int32),
        leaves=np.zeros((LANES, words), np.uint64),
        states=np.zeros((LANES, words), np.uint64),
        joint=np.zeros((LANES, roles), np.int32),
        rewards=np.zeros((LANES, roles), np.float32),
        goals=np.zeros((roles, LANES), np.uint8),
        by_lane=np.zeros((limit.bit_length() * LANES, (moves + 63) // 64), np.uint64),
        masks=rows(roles * (CHANCE_PLANES + 2 + GOAL_BITS) + CHANCE_PLANES + 2),
        planes=rows(limit.bit_length() * moves),
        top=np.zeros(moves, np.int32),
        deep=np.zeros((moves + 63) // 64, np.int32),
        rows=rows(moves),
        found=np.zeros(max(moves, limit * roles), np.int32),
        mast=np.zeros((moves, 2)),
        quality=np.full(moves, 100.0, np.float32),
        order=np.arange(moves, dtype=np.int32),
        ties=np.zeros(2 * moves + 1, np.int32),
        values=np.zeros(max(moves, limit * roles) + GROUP, np.float32),
        times=np.zeros(max(moves, limit * roles), np.float32),
        keys=np.zeros(LANES, np.uint64),
        log_roots=np.sqrt(np.log(numbers)).astype(np.float32),
        inverse_roots=(np.float32(1.0) / np.sqrt(numbers.astype(np.float32))).astype(np.float32),
        random=random.integers(0, 2**64, size=1, dtype=np.uint64),
        totals=np.zeros(4, np.int64),
        chance=chance,
        grave=agent["selection"] == "grave",
        policy=POLICIES[str(agent["playout"])],
        tau=agent.number("tau"),
        amaf_from=int(agent.number("amaf_from")),
        solver=agent["solver"] == "on",
    )


@part
def take_places(flight: Flight, count: int, share: int) -> int:
    """Simulations begin at the first `count` free places; `share` have a row of settings.

    Returns how many places there are up to the last one that is not free.
    """
    for i in range(count):
        flight.stage[flight.free[i]] = READY
    give_rows(flight.settings, flight.free, count, share)
    last = len(flight.stage)
    while last > 0 and flight.stage[last - 1] == FREE:
        last -= 1
    return last


@part
def leave_places(flight: Flight) -> tuple[int, int]:
    """Sum up what the simulations that are done brought; list all places that are free then.

    Returns how many simulations these are, and how many rows of settings they had.
    """
    done, told, free = 0, 0, 0
    for place in range(len(flight.stage)):
        if flight.stage[place] == DONE:
            flight.stage[place] = FREE
            told = add_rewards(flight.settings, place, flight.rewards, told)
            done += 1
        if flight.stage[place] == FREE:
            flight.free[free] = place
            free += 1
    free_rows(flight.settings, told)
    return done, told
