"""What a search works with: arrays in groups, made once per match.

Letters: B 512 simulations in flight at most, D the depth limit, R roles, M moves of all roles (a
move's number is its place in `layout.legal`), L 512 lanes.

A simulation in flight has a *slot*, which it keeps until it is completed; with one playout per leaf
the slot's number is that of its lane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.search.played_moves import PlayedMoves, new_played_moves
from ggp_agent.search.roots import Roots, new_roots
from ggp_agent.search.scoring import GROUP
from ggp_agent.search.settings import Settings, new_settings
from ggp_agent.search.slots import Slots, new_slots
from ggp_agent.search.strategies.decisive import NOBODY
from ggp_agent.search.strategies.dispatch import Options, options_of
from ggp_agent.search.strategies.evaluation import Evaluation, new_evaluation
from ggp_agent.search.strategies.grave import AmafReferences, new_amaf_references
from ggp_agent.search.strategies.mast import GreedyLanes, new_greedy_lanes
from ggp_agent.search.strategies.move_history import MoveHistory, new_move_history
from propnet.choice import CHANCE_PLANES
from propnet.layout import I32, U64
from propnet.vectors import LANES, rows

TRANSITIONS, EDGES, DEEPEST, EVALUATIONS = range(4)
"""What `totals` counts: transitions in playouts, edges of the tree that were passed, the longest
path, evaluations for new nodes; then looks for decisive moves, and how often there were some (see
`ggp_agent.search.strategies.decisive`)."""


class NewStates(NamedTuple):
    """States that simulations have come to, evaluated side by side in the simulator's lanes."""

    states: U64
    """(L, state_words)"""
    joint: I32
    """(L, R) joint moves, every move by its number in its role"""
    keys: U64
    """(L,) hashes of `states`"""
    ended: NDArray[np.bool_]
    """(L,) whether it is the end of the game"""
    winner: I32
    """(L,) the only role that can choose, if it is known to win at once; NOBODY else"""


class Scratch(NamedTuple):
    """Room to work with; what is in it is void between uses."""

    moves: I32
    """(max(M, D * R),) a list of moves"""
    values: NDArray[np.float32]
    """(max(M, D * R) + GROUP,) values or rewards of a list of moves"""
    times: NDArray[np.float32]
    """(max(M, D * R),) likewise how often each was played"""
    lanes: U64
    """(M, 8) a set of lanes for every move"""
    masks: U64
    """(CHANCE_PLANES + 2, 8) sets of lanes"""


class Arrays(NamedTuple):
    """All that a search works with, besides its tree and the simulator's lanes."""

    options: Options
    settings: Settings
    slots: Slots
    new: NewStates
    played: PlayedMoves
    greedy: GreedyLanes
    history: MoveHistory
    references: AmafReferences
    evaluation: Evaluation
    scratch: Scratch
    roots: Roots
    random: U64
    """(1,) generator of the tree's random numbers"""
    totals: NDArray[np.int64]
    """(6,) see TRANSITIONS"""


def new_arrays(game: CompiledModel, agent: Agent, seed: int, tags: int = 0) -> Arrays:
    """The arrays for a game; states have `tags` words more than the game's own."""
    layout, roles = game.layout, len(game.moves)
    words = len(layout.initial) + tags
    moves, limit = len(layout.legal), int(agent.number("depth"))
    random = np.random.Generator(np.random.PCG64([seed, 1]))
    chance = -1 if game.chance_role is None else game.chance_role
    return Arrays(
        options=options_of(agent, chance),
        settings=new_settings(LANES, roles),
        slots=new_slots(LANES, limit, roles, words),
        new=NewStates(
            states=np.zeros((LANES, words), np.uint64),
            joint=np.zeros((LANES, roles), np.int32),
            keys=np.zeros(LANES, np.uint64),
            ended=np.zeros(LANES, np.bool_),
            winner=np.full(LANES, NOBODY, np.int32),
        ),
        played=new_played_moves(moves, roles, limit),
        greedy=new_greedy_lanes(roles),
        history=new_move_history(moves),
        references=new_amaf_references(LANES, roles, agent),
        evaluation=new_evaluation(roles, layout.fluents),
        scratch=_new_scratch(moves, max(moves, limit * roles)),
        roots=new_roots(),
        random=random.integers(0, 2**64, size=1, dtype=np.uint64),
        totals=np.zeros(6, np.int64),
    )


def beside(arrays: Arrays, first: Arrays) -> Arrays:
    """The arrays of another thread that works on the same tree as the one that has the `first`.

    What simulations have taught is common; all that belongs to simulations in flight is its own.
    """
    learnt = first.evaluation
    return arrays._replace(
        history=arrays.history._replace(sums=first.history.sums),
        evaluation=arrays.evaluation._replace(
            weights=learnt.weights, bias=learnt.bias, is_known=learnt.is_known
        ),
        roots=first.roots,
    )


def _new_scratch(moves: int, listed: int) -> Scratch:
    return Scratch(
        moves=np.zeros(listed, np.int32),
        values=np.zeros(listed + GROUP, np.float32),
        times=np.zeros(listed, np.float32),
        lanes=rows(moves),
        masks=rows(CHANCE_PLANES + 2),
    )
