"""What tuners of numbered values share: domains as arrays, statistics, random generators.

Letters: R roles (one tuner each), d variables, A arms: one for the tuner as a whole, one per value
of every variable, one per combination of values; B slots.

Combinations in use count as asked for at once, and are known when they are rewarded.  Until
something is known of an arm, it counts as average.  The bonus of an upper confidence bound is
C sqrt(ln N / n), where n includes what is in flight, and N is all that was asked for before the
batch: with one simulation in flight this is UCB1.

A combination in use has a *slot*, a row of `picks`, and a weight: simulations may share it, and it
counts as asked for as often.  Their rewards may come one by one; the slot is taken until all are
there.  Where more simulations are rewarded than were asked for (how many a batch will complete is
not known before), so many count as asked for, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.search.memory import prefetch
from ggp_agent.tuning.random_numbers import below, two_below
from ggp_agent.tuning.space import F64, I32, Space

SIZE, FIRST, STRIDE, OTHERS = range(4)
"""Rows of `shape`."""

MEAN, WIDTH, KNOWN, ASKED = range(4)
"""Columns of `arms`: mean reward, 1 / sqrt(times asked), rewards known, times asked."""

ALL = 0
"""The arm for the tuner as a whole."""

URGENCY = 1.0
"""Value of an arm that was never asked for (first-play urgency)."""


class Model(NamedTuple):
    """The arrays that all tuners share."""

    shape: I32
    """(4, d + 1) per variable: values, its first arm, weight of its pick in a combination's code,
    values less 1; the last column has the first arm of combinations"""
    links: I32
    """(links, 4) see `Space`"""
    arms: F64
    """(R, A, 4) see MEAN"""
    picks: I32
    """(B, R, d) the combinations in use, by slot"""
    random: NDArray[np.uint64]
    """(R, 1) generators"""


def new_model(space: Space, roles: int, slots: int, seed: int) -> Model:
    """A model that knows nothing, with so many slots."""
    sizes = np.array(space.sizes, np.int32)
    shape = np.zeros((4, len(sizes) + 1), np.int32)
    shape[SIZE, :-1] = sizes
    shape[OTHERS, :-1] = sizes - 1
    shape[FIRST, 0] = 1
    shape[FIRST, 1:] = 1 + np.cumsum(sizes)
    shape[STRIDE, :-1] = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
    arms = np.zeros((roles, int(shape[FIRST, -1]) + space.combinations, 4))
    arms[:, :, MEAN] = URGENCY
    source = np.random.Generator(np.random.PCG64([seed, 3]))
    return Model(
        shape=shape,
        links=np.array(space.links, np.int32).reshape(-1, 4),
        arms=arms,
        picks=np.zeros((slots, roles, len(sizes)), np.int32),
        random=source.integers(0, 2**64, size=(roles, 1), dtype=np.uint64),
    )


@part
def copy(target: I32, source: I32) -> None:
    """Copy an array of one dimension."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@part
def allowed(links: I32, pick: I32, variable: int) -> tuple[int, int]:
    """What is legal with the values picked already, where -1 is none.

    Returns the only value that is, or -1 for several, and the one value that is not, or -1.
    """
    for link in range(links.shape[0]):
        other, here, there = -1, 0, 0
        if links[link, 0] == variable:
            other, here, there = links[link, 2], links[link, 1], links[link, 3]
        elif links[link, 2] == variable:
            other, here, there = links[link, 0], links[link, 3], links[link, 1]
        if other >= 0 and pick[other] >= 0:
            return (here, -1) if pick[other] == there else (-1, here)
    return -1, -1


@part
def draw(model: Model, role: int, pick: I32) -> None:
    """Pick values for all variables that have none, one by one uniformly among those legal."""
    for i in range(pick.shape[0]):
        if pick[i] < 0:
            only, never = allowed(model.links, pick, i)
            while only < 0:
                value = below(model.random[role], model.shape[SIZE, i])
                if value != never:
                    only = value
            pick[i] = only


@part
def mutate(model: Model, role: int, pick: I32) -> None:
    """Change a random variable to another random value.

    Where a link forbids the result, the variable at its other end changes, too, to a random legal
    value; or else some values could never be reached.
    """
    i, value = two_below(model.random[role], pick.shape[0], model.shape[OTHERS])
    pick[i] = value + 1 if value >= pick[i] else value
    for link in range(model.links.shape[0]):
        a, b = model.links[link, 0], model.links[link, 2]
        if (pick[a] == model.links[link, 1]) != (pick[b] == model.links[link, 3]):
            pick[b if a == i else a] = -1
            draw(model, role, pick)


@part
def code_of(model: Model, pick: I32) -> int:
    """A combination's number."""
    code = 0
    for i in range(model.picks.shape[2]):
        code += pick[i] * model.shape[STRIDE, i]
    return code


@part
def exploration(asked: float) -> float:
    """sqrt(ln N)."""
    return math.sqrt(math.log(max(1.0, asked)))


@part
def bound_of(model: Model, role: int, arm: int, c: float) -> float:
    """The upper confidence bound of an arm with the bonus c / sqrt(n)."""
    return model.arms[role, arm, MEAN] + c * model.arms[role, arm, WIDTH]


@part
def ask_arm(model: Model, role: int, arm: int, weight: int) -> None:
    """So many more simulations are asked for."""
    row = model.arms[role, arm]
    if row[KNOWN] == 0.0 and row[ASKED] == 0.0:
        row[MEAN] = model.arms[role, ALL, MEAN] if model.arms[role, ALL, KNOWN] > 0.0 else 0.5
    row[ASKED] += weight
    row[WIDTH] = 1.0 / math.sqrt(row[ASKED])


@part
def ask_for(model: Model, slot: int, role: int, weight: int) -> int:
    """The combination in a slot is asked for, for so many simulations; returns its arm."""
    pick = model.picks[slot, role]
    for i in range(model.picks.shape[2]):
        ask_arm(model, role, model.shape[FIRST, i] + pick[i], weight)
    arm = model.shape[FIRST, model.picks.shape[2]] + code_of(model, pick)
    ask_arm(model, role, arm, weight)
    model.arms[role, ALL, ASKED] += weight
    return arm


@part
def tell_arm(model: Model, role: int, arm: int, total: float, weight: int) -> None:
    """So many more rewards are known."""
    row = model.arms[role, arm]
    row[KNOWN] += weight
    if row[KNOWN] > row[ASKED]:
        row[ASKED] = row[KNOWN]
        row[WIDTH] = 1.0 / math.sqrt(row[ASKED])
    row[MEAN] += (total - weight * row[MEAN]) / row[KNOWN]


@direct
@entry
def ask_at_random(model: Model, slots: I32, weights: I32) -> None:
    """Random legal combinations in these slots."""
    for i in range(len(slots)):
        for role in range(model.picks.shape[1]):
            pick = model.picks[slots[i], role]
            pick[:] = -1
            draw(model, role, pick)
            ask_for(model, slots[i], role, weights[i])


@part
def fetch_arm(model: Model, role: int, pick: I32) -> None:
    """Have the arm of a combination, of which there are many, under way before it is needed."""
    arm = model.shape[FIRST, model.picks.shape[2]] + code_of(model, pick)
    row = role * model.arms.shape[1] + arm
    prefetch(model.arms, row * model.arms.shape[2])


@part
def note_rewards(model: Model, slots: I32, totals: F64, weights: I32) -> None:
    """See `ValueTuner.tell`."""
    for slot in slots:
        for role in range(model.picks.shape[1]):
            fetch_arm(model, role, model.picks[slot, role])
    for role in range(model.picks.shape[1]):
        for i in range(len(slots)):
            total, weight = totals[i, role], weights[i]
            pick = model.picks[slots[i], role]
            for j in range(model.picks.shape[2]):
                tell_arm(model, role, model.shape[FIRST, j] + pick[j], total, weight)
            arm = model.shape[FIRST, model.picks.shape[2]] + code_of(model, pick)
            tell_arm(model, role, arm, total, weight)
            tell_arm(model, role, ALL, total, weight)


@direct
@entry
def tell_rewards(model: Model, slots: I32, totals: F64, weights: I32) -> None:
    """See `ValueTuner.tell`."""
    note_rewards(model, slots, totals, weights)
