"""A learnt evaluation of states: linear in the fluents, one for every role.

What a state is expected to bring to a role is 1 / (1 + exp(-(b + w))), where w is the sum of the
weights of the fluents that are true.  `ggp_agent.tuning.start_clock` learns the weights;
`implicit_minimax` uses what they say of the states in the tree.

Letters: R roles, F fluents, L 512 lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import kernel
from propnet.lane_bits import get_word
from propnet.layout import Lanes
from propnet.vectors import LANES, lowest_bit

F32 = NDArray[np.float32]


class Evaluation(NamedTuple):
    """The weights, and what they say of the states in the simulator's lanes."""

    weights: F32
    """(R, F)"""
    bias: F32
    """(R,)"""
    is_known: NDArray[np.bool_]
    """(1,) whether these have been learnt"""
    values: F32
    """(R, L) in [0, 1]"""


def new_evaluation(roles: int, fluents: int) -> Evaluation:
    """Nothing learnt."""
    return Evaluation(
        weights=np.zeros((roles, fluents), np.float32),
        bias=np.zeros(roles, np.float32),
        is_known=np.zeros(1, np.bool_),
        values=np.zeros((roles, LANES), np.float32),
    )


def learn(evaluation: Evaluation, weights: F32, bias: F32) -> None:
    """Use these weights (R, F) and biases (R,) from now on."""
    evaluation.weights[:], evaluation.bias[:] = weights, bias
    evaluation.is_known[0] = True


@kernel
def evaluate_states(lanes: Lanes, evaluation: Evaluation, count: int) -> None:
    """Write to `values` what the states in lanes 0 to count - 1 are expected to bring."""
    words, values = (count + 63) >> 6, evaluation.values
    for role in range(len(evaluation.bias)):
        values[role] = evaluation.bias[role]
        for fluent in range(evaluation.weights.shape[1]):
            weight = evaluation.weights[role, fluent]
            if weight == np.float32(0.0):
                continue
            for word in range(words):
                bits = get_word(lanes.values, 1 + fluent, word)
                while bits != np.uint64(0):
                    values[role, 64 * word + lowest_bit(bits)] += weight
                    bits &= bits - np.uint64(1)
        for lane in range(count):
            values[role, lane] = 1.0 / (1.0 + np.exp(-values[role, lane]))
