"""Selection: which move a role takes in a node of the tree.

UCT (L. Kocsis, C. Szepesvari, 2006): the move with the highest mean + C·sqrt(ln N / n).  GRAVE
(T. Cazenave, 2015) puts (1 - β)·mean + β·AMAF in place of the mean, β = sqrt(K / (3N + K)), where
the AMAF value is that of the closest node above (or this one) with at least Ref visits.  A move
that was never tried counts as the first-play urgency, under GRAVE plus its AMAF value, if any.
Among moves within VO of the best value one is drawn uniformly.  N is the number of visits before
this simulation.
"""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.search.flight import GIBBS, RANDOM, ROOTS, Flight
from ggp_agent.search.kernel import part
from ggp_agent.search.memory import NO_BLOCK, UNIT, get_int
from ggp_agent.search.scoring import LANES, bits_in, near_best, score_grave, score_uct
from ggp_agent.search.settings import EPSILON, FPU, REF, VO, C, K, T
from ggp_agent.search.tree import MEAN, SPREAD, Tree
from propnet.layout import U64
from propnet.vectors import lowest_bit


@part
def random_word(random: U64) -> np.uint64:
    """64 random bits; splitmix64 (S. Vigna, 2015) on `random` (1,)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@part
def random_below(random: U64, bound: int) -> int:
    """A uniform integer below `bound`."""
    # 32 bits times a small bound: the bias is below bound / 2^32
    drawn = ((random_word(random) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)
    return int(np.int64(drawn))  # signed, for numba compares signed and unsigned as doubles


@part
def random_real(random: U64) -> float:
    """A uniform number in [0, 1)."""
    return np.float64(random_word(random) >> np.uint64(11)) * 2.0**-53


@part
def _draw_near_best(flight: Flight, count: int, threshold: float) -> int:
    """One of the moves whose value is not below the threshold."""
    values, candidates = flight.values, 0
    for place in range(0, count, LANES):
        candidates += bits_in(near_best(values, place, count, threshold))
    skip = random_below(flight.random, candidates) if candidates > 1 else 0
    for place in range(0, count, LANES):
        chosen = near_best(values, place, count, threshold)
        here = bits_in(chosen)
        if skip < here:
            for _ in range(skip):
                chosen &= chosen - np.uint64(1)
            return place + lowest_bit(chosen)
        skip -= here
    return 0


@part
def _pick_by_policy(flight: Flight, words, moves: int, count: int, epsilon: float) -> int:  # type: ignore[no-untyped-def]
    """What the playout's policy picks among moves whose numbers are given."""
    if flight.policy == RANDOM:
        return random_below(flight.random, count)
    best = np.float32(0.0)
    for i in range(count):
        flight.values[i] = flight.quality[get_int(words, moves + i)]
        best = max(best, flight.values[i])
    if flight.policy != GIBBS:
        if random_real(flight.random) < epsilon:
            return random_below(flight.random, count)
        return _draw_near_best(flight, count, best)
    total = 0.0
    for i in range(count):
        total += math.exp((flight.values[i] - best) / flight.tau)
    point = random_real(flight.random) * total
    for i in range(count):
        point -= math.exp((flight.values[i] - best) / flight.tau)
        if point < 0.0:
            return i
    return count - 1


@part
def root_of_log(flight: Flight, visits: int) -> float:
    """sqrt(ln n), beyond the table with an error of 1 / 8000 at most: ln n = ln(n / 2^k) + k ln 2.

    A logarithm would take longer than all the rest of a selection.
    """
    if visits < ROOTS:
        return flight.log_roots[visits]
    halvings = 0
    while visits >= ROOTS:
        visits >>= 1
        halvings += 1
    root = flight.log_roots[visits]
    return np.sqrt(root * root + np.float32(math.log(2.0)) * np.float32(halvings))


@part
def select_move(tree: Tree, flight: Flight, simulation: int, node: int, role: int) -> int:
    """The place, in an open node's moves, of the one that a role takes.

    The node has its statistics, and the simulation has been added to its visits.
    """
    record, words = tree.nodes[node], tree.pool.words
    start = np.int64(record.moves) * UNIT
    low, high = get_int(words, start + role), get_int(words, start + role + 1)
    count = high - low
    if count == 1:
        return int(low)
    if role == flight.chance:
        return int(low + random_below(flight.random, count))
    settings = flight.settings.values[flight.settings.row[simulation], role]
    visits = record.visits - 1
    moves = start + len(tree.best) + 1 + low
    if visits < settings[T]:
        return int(low + _pick_by_policy(flight, words, moves, count, settings[EPSILON]))
    root = root_of_log(flight, visits)
    exploration, fpu = settings[C] * root, settings[FPU]
    stats, size = np.int64(record.stats) * UNIT, record.count
    mean, spread = stats + MEAN * size + low, stats + SPREAD * size + low
    amaf = tree.nodes[flight.reference[simulation, role]].amaf
    if settings[K] > np.float32(0.0) and amaf != NO_BLOCK:
        k = settings[K]
        beta = np.float32(1.0)
        if k < np.float32(1e30):
            beta = np.sqrt(k / (np.float32(3.0) * np.float32(visits) + k))
        best = score_grave(
            words, flight.values, mean, spread, count, exploration, fpu, moves,
            np.int64(amaf) * UNIT, beta,
        )  # fmt: skip
    else:
        best = score_uct(words, flight.values, mean, spread, count, exploration, fpu)
    return int(low + _draw_near_best(flight, count, best - settings[VO]))


@part
def note_reference(tree: Tree, flight: Flight, simulation: int, node: int) -> None:
    """Make the node GRAVE's reference for the roles for which it has enough visits."""
    if tree.nodes[node].amaf == NO_BLOCK:
        return
    visits, row = tree.nodes[node].visits - 1, flight.settings.row[simulation]
    for role in range(len(tree.best)):
        if visits >= flight.settings.values[row, role, REF]:
            flight.reference[simulation, role] = node
