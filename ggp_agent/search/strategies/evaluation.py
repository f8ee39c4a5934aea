"""A learnt evaluation of states that takes the place of the rest of a playout.

A playout is cut after as many moves as the parameter `cut` says, counted from the leaf on.  What it
brings to a role is then 1 / (1 + exp(-(b + w))), where w is the sum of the weights of the fluents
that are true, in whole percents, as goals are.  A playout that comes to the end of the game before
counts as ever.  (R. Lorentz, "Amazons discover Monte-Carlo", 2008, cut playouts first.)

Nothing is cut as long as nothing has been learnt; `ggp_agent.tuning.start_clock` learns.
Letters: R roles, F fluents, L 512 lanes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.parameters import Parameter, Scope, column_of, declare
from ggp_agent.search.kernel import kernel, part
from ggp_agent.search.played_moves import GOAL_BITS
from propnet.lane_bits import add_lane, get_word, has_lane, remove_lane, words_of
from propnet.layout import Lanes
from propnet.vectors import LANES, WORDS, lowest_bit

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

declare(
    Parameter(
        "cut",
        math.inf,
        "moves after which a playout ends with the learnt evaluation, where there is one",
        infinite=True,
        unit="moves",
        source="Lorentz: Amazons discover Monte-Carlo (2008)",
        discrete=(0, 1, 2, 4, 8, 16, math.inf),
        continuous=(0.0, 20.0),
        scope=Scope.SIMULATION,
    ),
)
CUT = column_of("cut")

F32 = NDArray[np.float32]
NEVER = 1 << 30


class Evaluation(NamedTuple):
    """The weights, and room to work with."""

    weights: F32
    """(R, F)"""
    bias: F32
    """(R,)"""
    is_known: NDArray[np.bool_]
    """(1,) whether these have been learnt"""
    sums: F32
    """(L,)"""
    cut: NDArray[np.uint64]
    """(1, 8) the lanes whose playouts have been cut"""


def new_evaluation(roles: int, fluents: int) -> Evaluation:
    """Nothing learnt."""
    return Evaluation(
        weights=np.zeros((roles, fluents), np.float32),
        bias=np.zeros(roles, np.float32),
        is_known=np.zeros(1, np.bool_),
        sums=np.zeros(LANES, np.float32),
        cut=np.zeros((1, WORDS), np.uint64),
    )


def learn(evaluation: Evaluation, weights: F32, bias: F32) -> None:
    """Use these weights (R, F) and biases (R,) from now on."""
    evaluation.weights[:], evaluation.bias[:] = weights, bias
    evaluation.is_known[0] = True


@part
def _cut_of(arrays: Arrays, slot: int) -> int:
    """Moves that a simulation's playout has left: the least of what the roles want."""
    values, row = arrays.settings.values, arrays.settings.row[slot]
    least = np.float32(np.inf)
    for role in range(values.shape[1]):
        least = min(least, values[row, role, CUT])
    if least > np.float32(1e6):
        return NEVER
    return max(0, int(least) - (arrays.slots.length[slot] - arrays.slots.depth[slot]))


@kernel
def first_cut(arrays: Arrays, simulations: int) -> int:
    """After how many moves of a batch's playouts the first of them are cut."""
    arrays.evaluation.cut[:] = np.uint64(0)
    first = NEVER
    if arrays.evaluation.is_known[0]:
        for slot in range(simulations):
            first = min(first, _cut_of(arrays, slot))
    return first


@kernel
def cut_playouts(lanes: Lanes, arrays: Arrays, simulations: int, playouts: int, moves: int) -> int:
    """End the playouts that are to be cut after so many moves; when the next ones are."""
    following, cut = NEVER, arrays.evaluation.cut
    for slot in range(simulations):
        at = _cut_of(arrays, slot)
        if at > moves:
            following = min(following, at)
            continue
        for lane in range(slot * playouts, (slot + 1) * playouts):
            if has_lane(lanes.active, lane):
                add_lane(cut, 0, lane)
                remove_lane(lanes.active, 0, lane)
    return following


@kernel
def evaluate_cut(lanes: Lanes, arrays: Arrays) -> None:
    """Write the values of the states in the lanes whose playouts were cut where their goals go."""
    evaluation, played = arrays.evaluation, arrays.played
    for role in range(len(evaluation.bias)):
        evaluation.sums[:] = evaluation.bias[role]
        for fluent in range(evaluation.weights.shape[1]):
            weight = evaluation.weights[role, fluent]
            if weight == np.float32(0.0):
                continue
            for word in range(words_of(lanes.values)):
                bits = get_word(lanes.values, 1 + fluent, word) & get_word(evaluation.cut, 0, word)
                while bits != np.uint64(0):
                    evaluation.sums[64 * word + lowest_bit(bits)] += weight
                    bits &= bits - np.uint64(1)
        for word in range(words_of(evaluation.cut)):
            bits = get_word(evaluation.cut, 0, word)
            while bits != np.uint64(0):
                place = lowest_bit(bits)
                lane = 64 * word + place
                share = 1.0 / (1.0 + np.exp(-evaluation.sums[lane]))
                goal = np.uint64(share * 100.0 + 0.5)
                played.goals[role, lane] = goal
                for bit in range(GOAL_BITS):
                    row = role * GOAL_BITS + bit
                    if (goal >> np.uint64(bit)) & np.uint64(1):
                        add_lane(played.goal_bits, row, lane)
                    else:
                        remove_lane(played.goal_bits, row, lane)
                bits &= bits - np.uint64(1)
