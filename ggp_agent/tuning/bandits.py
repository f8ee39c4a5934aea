"""Tuners made of multi-armed bandits: `nmc`, `mab` and `local`.

- Naive Monte-Carlo (Ontanon 2013; Sironi, Liu, Winands 2020, Algorithm 1): with probability 0.75 it
  explores, choosing every value by the variable's own bandit (the naive assumption), else it
  chooses among the combinations seen so far by a bandit over these.
- `mab` (Sironi, Winands 2019, section II) has one bandit over all legal combinations.
- `local` (AP_LOCAL of the 2020 paper, section VI-E) has the variables' own bandits alone.

All bandits are UCB1 with first-play urgency 1, and all learn from every reward.

With many simulations in flight: as `model` says, by counting those in flight as visits; and N, the
number of all simulations in the bonuses, is looked at only when it has grown by a tenth, which is
1 % of a bonus at N = 100 and less later on: otherwise all combinations would have to be valued anew
for every batch.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import (
    ALL,
    ASKED,
    FIRST,
    SIZE,
    STRIDE,
    URGENCY,
    Model,
    allowed,
    ask_for,
    bound_of,
    code_of,
    exploration,
    fetch_arm,
    note_rewards,
)
from ggp_agent.tuning.random_numbers import below, chance
from ggp_agent.tuning.space import F64, I32, Space
from ggp_agent.tuning.tournament_tree import new_trees, play_all, replace, winner


class Seen(NamedTuple):
    """The combinations that the bandit over combinations knows of.

    P: legal combinations, C: combinations, S: leaves of the tournament.
    """

    order: I32
    """(R, P) codes of the combinations seen, in the order of their coming, and then, where the
    bandit may choose those as well, of those that were not seen, in random order"""
    position: I32
    """(R, C) the position of a combination in `order`, -1 unless seen"""
    number: I32
    """(R,) combinations seen"""
    trees: F64
    """(R, 2 S) tournaments of the values of those seen, by position"""
    asked: F64
    """(R,) N when all were valued last"""
    root: F64
    """(R,) sqrt(ln N) in the bonuses"""


class Bandits(NamedTuple):
    """Which bandits there are: how often the local ones choose, and exploration constants."""

    local: float
    """probability of exploration: that every value is chosen by the variable's own bandit"""
    c_local: float = 1.0
    c_global: float = 1.0
    unseen: bool = False
    """whether the bandit over combinations has those, too, that were never chosen"""


I64 = NDArray[np.int64]

GROWTH = 1.1
"""Of the number of simulations, before it is looked at again with many in flight."""

MOST_VALUES = 4096
KEY_SCALE = 2.0**32
"""A value's bound, a random number for ties, and its own number make one integer, so that the best
value is a plain maximum: 40 bits for the bound in units of 1 / KEY_SCALE, 12 for the random number,
which is drawn once per batch, and 12 for the value's."""

NMC = Bandits(local=0.75)
LOCAL = Bandits(local=1.0)
MAB = Bandits(local=0.0, c_global=0.7, unseen=True)


class BanditTuner(DiscreteTuner):
    """A `ValueTuner` of bandits."""

    def __init__(self, space: Space, roles: int, slots: int, seed: int, kind: Bandits) -> None:
        super().__init__(space, roles, slots, seed)
        self._kind = kind
        self._seen = _new_seen(space, roles, seed, kind)
        self._keys = np.zeros((roles, 1 + sum(space.sizes)), np.int64)

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        ask_bandits(self.model, self._seen, self._keys, self._kind, slots, weights)

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        tell_bandits(self.model, self._seen, self._kind, slots, totals, weights)


nmc = partial(BanditTuner, kind=NMC)
local = partial(BanditTuner, kind=LOCAL)
mab = partial(BanditTuner, kind=MAB)


def _new_seen(space: Space, roles: int, seed: int, kind: Bandits) -> Seen:
    combinations = space.combinations if kind.local < 1 else 1
    order = np.zeros((roles, combinations), np.int32)
    if kind.unseen:
        source = np.random.Generator(np.random.PCG64([seed, 4]))
        order = source.permuted(np.tile(space.legal_codes(), (roles, 1)), axis=1)
    return Seen(
        order=order,
        position=np.full((roles, combinations), -1, np.int32),
        number=np.zeros(roles, np.int32),
        trees=new_trees(roles, combinations),
        asked=np.zeros(roles),
        root=np.zeros(roles),
    )


@direct
@entry
def ask_bandits(
    model: Model, seen: Seen, keys: I64, kind: Bandits, slots: I32, weights: I32
) -> None:
    """Choose combinations for every role."""
    alone = len(slots) == 1 and weights[0] == 1
    roles, base = model.picks.shape[1], model.shape[FIRST, model.picks.shape[2]]
    for role in range(roles):
        total = model.arms[role, ALL, ASKED]
        is_new = alone or total > GROWTH * seen.asked[role]
        if is_new:
            seen.asked[role] = total
            seen.root[role] = exploration(total)
        key_values(model, role, keys[role], kind.c_local * seen.root[role])
        if kind.local < 1.0 and is_new:
            _value_all(model, seen, role, base, kind.c_global * seen.root[role])
    for i in range(len(slots)):
        slot = slots[i]
        for role in range(roles):
            pick = model.picks[slot, role]
            if kind.local < 1.0 and _exploits(model, seen, role, kind):
                _choose_global(model, seen, slot, role, kind.unseen)
            else:
                _choose_local(model, role, pick, keys[role])
            fetch_arm(model, role, pick)
        for role in range(roles):
            arm = ask_for(model, slot, role, weights[i])
            if kind.local > 0.0:
                pick = model.picks[slot, role]
                key_picked(model, role, pick, keys[role], kind.c_local * seen.root[role])
            if kind.local < 1.0:
                entrant = _note_seen(seen, role, arm - base)
                bound = bound_of(model, role, arm, kind.c_global * seen.root[role])
                replace(seen.trees[role], entrant, bound)


@part
def _exploits(model: Model, seen: Seen, role: int, kind: Bandits) -> bool:
    """Whether the bandit over combinations is to choose; it can't while it has no arm."""
    if kind.local > 0.0 and chance(model.random[role], kind.local):
        return False
    return kind.unseen or seen.number[role] > 0


@part
def _value_all(model: Model, seen: Seen, role: int, base: int, c: float) -> None:
    """The tournament of all combinations seen."""
    tree = seen.trees[role]
    size = tree.shape[0] >> 1
    for position in range(seen.number[role]):
        arm = base + seen.order[role, position]
        tree[size + position] = bound_of(model, role, arm, c)
    play_all(tree, seen.number[role])


@direct
@entry
def tell_bandits(
    model: Model, seen: Seen, kind: Bandits, slots: I32, totals: F64, weights: I32
) -> None:
    """See `ValueTuner.tell`."""
    note_rewards(model, slots, totals, weights)
    if kind.local < 1.0:
        _value_again(model, seen, slots, kind.c_global)


@part
def _value_again(model: Model, seen: Seen, slots: I32, c: float) -> None:
    """Value the combinations in these slots in the tournament: rewards of theirs are new."""
    base = model.shape[FIRST, model.picks.shape[2]]
    for role in range(model.picks.shape[1]):
        bonus = c * seen.root[role]
        for slot in slots:
            code = code_of(model, model.picks[slot, role])
            bound = bound_of(model, role, base + code, bonus)
            replace(seen.trees[role], seen.position[role, code], bound)


@part
def _choose_global(model: Model, seen: Seen, slot: int, role: int, unseen: bool) -> None:
    """pi_g: the combination of the highest value; one never tried has first-play urgency."""
    known = seen.number[role]
    code = 0
    if unseen and known < seen.order.shape[1] and seen.trees[role, 1] < URGENCY:
        code = seen.order[role, known]
    else:
        code = seen.order[role, winner(seen.trees[role], model.random[role])]
    for i in range(model.picks.shape[2]):
        stride = model.shape[STRIDE, i]
        model.picks[slot, role, i] = code // stride
        code -= (code // stride) * stride


@part
def _choose_local(model: Model, role: int, pick: I32, keys: I64) -> None:
    """pi_l: every variable's value by its own bandit, among those legal with the ones before."""
    for i in range(pick.shape[0]):
        pick[i] = -1
    for i in range(pick.shape[0]):
        first = model.shape[FIRST, i]
        only, never = allowed(model.links, pick, i)
        if only < 0:
            best = np.int64(-1)
            for arm in range(first, first + never):
                best = max(best, keys[arm])
            for arm in range(first + never + 1, first + model.shape[SIZE, i]):
                best = max(best, keys[arm])
            only = best & np.int64(MOST_VALUES - 1)
        pick[i] = only


@part
def key_values(model: Model, role: int, keys: I64, c: float) -> None:
    """Make keys of the upper confidence bounds of all values, by arm; see `KEY_SCALE`."""
    for i in range(model.picks.shape[2]):
        for value in range(model.shape[SIZE, i]):
            arm = model.shape[FIRST, i] + value
            bound = np.int64(bound_of(model, role, arm, c) * KEY_SCALE)
            keys[arm] = (bound << 24) | (below(model.random[role], MOST_VALUES) << 12) | value


@part
def key_picked(model: Model, role: int, pick: I32, keys: I64, c: float) -> None:
    """The same for the values of a combination."""
    for i in range(pick.shape[0]):
        arm = model.shape[FIRST, i] + pick[i]
        bound = np.int64(bound_of(model, role, arm, c) * KEY_SCALE)
        keys[arm] = (bound << 24) | (keys[arm] & np.int64(MOST_VALUES * MOST_VALUES - 1))


@part
def _note_seen(seen: Seen, role: int, code: int) -> int:
    """The position of a combination, which is a new one where it was not seen before."""
    position = seen.position[role, code]
    if position < 0:
        position = seen.number[role]
        seen.order[role, position] = code
        seen.position[role, code] = position
        seen.number[role] += 1
    return position
