"""A tuner that decides on line which parameters it tunes, and how many: `choosing`.

Sironi, Liu, Winands (2020) choose by hand what is tuned, and propose (section VII) to make these
choices a part of the adaptation, which could leave out what is less relevant.  Here every variable
decides before every simulation whether it stays at its default, the agent's own value, or is tuned,
by a bandit with two arms:

- The default is worth its mean reward, and a bonus as in UCB1.
- Tuning is worth the highest lower confidence bound of the other values, and a smaller bonus.  The
  mean of all simulations in which the variable was tuned would be too little, for at first they
  only try values; the highest mean too much, for of many it is that of a lucky one.

Where it is tuned it gets the other value with the highest upper confidence bound.  So variables
stay at their defaults for the most part, until there is evidence against them.

This is careful on purpose: rewards tell which simulations win, and that is not the same as which
parameters play well (see docs/tuning.md), while the agent's own values have been found in play.

Where a link leaves no choice nothing is decided: Ref is unused, and not tuned, where K = 0, and is
tuned where its default is not legal.

With many simulations in flight: as `model` says, for decisions and values; those in flight count as
visits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.bandits import I64, MOST_VALUES, key_picked, key_values
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import (
    ALL,
    ASKED,
    FIRST,
    KNOWN,
    MEAN,
    SIZE,
    URGENCY,
    Model,
    allowed,
    ask_for,
    bound_of,
    exploration,
    new_model,
    tell_rewards,
)
from ggp_agent.tuning.random_numbers import below
from ggp_agent.tuning.space import F64, I32, Space
from ggp_agent.tuning.tuner_report import arms_together, numbers_of

DEFAULT, TUNED = range(2)
"""What can be decided about a variable."""


class Constants(NamedTuple):
    """Of the bounds by which it decides and chooses."""

    default: float = 1.0
    """exploration constant of the decision for the default"""
    tuned: float = 0.33
    """the same of that for tuning"""
    doubt: float = 0.1
    """the best other value is the one with the highest lower bound, by this constant"""
    value: float = 0.5
    """exploration constant of the values of variables that are tuned"""


class ChoosingTuner(DiscreteTuner):
    """A `ValueTuner` that also decides which variables leave their defaults."""

    def __init__(
        self,
        space: Space,
        roles: int,
        slots: int,
        seed: int,
        constants: Constants = Constants(),  # noqa: B008  # it can't be changed
    ) -> None:
        super().__init__(space, roles, slots, seed)
        self.decisions = decisions_of(space)
        self.decided = new_model(self.decisions, roles, slots, seed)
        """statistics of the decisions: its combinations are the sets of variables tuned"""
        self._defaults = np.array(space.defaults, np.int32)
        self._keys = np.zeros((roles, 1 + sum(space.sizes)), np.int64)
        self._constants = constants

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        ask_choosing(
            self.model, self.decided, self._defaults, self._keys, self._constants, slots, weights
        )

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        tell_rewards(self.model, slots, totals, weights)
        tell_rewards(self.decided, slots, totals, weights)

    def report(self, role: int, others: Sequence[Self] = ()) -> dict[str, Any]:
        """See `ValueTuner.report`; also what was tuned."""
        decided = [tuner.decided for tuner in (self, *others)]
        return {
            **super().report(role, others),
            "tuned": _report_of_decisions(self.decisions, decided, role),
        }


def _report_of_decisions(space: Space, decided: Sequence[Model], role: int) -> dict[str, Any]:
    """Which variables were tuned, how many at once, and the set that was tuned most often."""
    arms, first = arms_together(decided, role, slice(None)), decided[0].shape[FIRST]
    sets = arms[first[-1] :]
    sizes = np.array([code.bit_count() for code in range(len(sets))])
    numbers = np.zeros((len(space.names) + 1, arms.shape[1]))
    numbers[:, KNOWN] = np.bincount(sizes, sets[:, KNOWN])
    totals = np.bincount(sizes, sets[:, KNOWN] * sets[:, MEAN])
    numbers[:, MEAN] = totals / np.maximum(1, numbers[:, KNOWN])
    most = np.unravel_index(int(np.argmax(sets[:, KNOWN])), space.sizes)
    favourite = " ".join(name for name, on in zip(space.names, most, strict=True) if on)
    return {
        "parameters": {"values": list(space.names), **numbers_of(arms[first[:-1] + TUNED])},
        "number": {"values": [str(n) for n in range(len(numbers))], **numbers_of(numbers)},
        "favourite": favourite or "none",
    }


def decisions_of(space: Space) -> Space:
    """The same variables with the values `DEFAULT` and `TUNED`."""
    variables = len(space.names)
    return Space(space.names, ((DEFAULT, TUNED),) * variables, ((0.0, 1.0),) * variables)


@direct
@entry
def ask_choosing(
    model: Model,
    decided: Model,
    defaults: I32,
    keys: I64,
    constants: Constants,
    slots: I32,
    weights: I32,
) -> None:
    """Decide and choose values for every role.

    `defaults` (d,) the picks of variables that are not tuned, `keys` (R, values + 1) room.
    """
    for role in range(model.picks.shape[1]):
        root = exploration(model.arms[role, ALL, ASKED])
        scaled = constants.default * root, constants.tuned * root, constants.doubt * root
        c_value = constants.value * root
        key_values(model, role, keys[role], c_value)
        for i in range(len(slots)):
            slot = slots[i]
            pick = model.picks[slot, role]
            tuned = decided.picks[slot, role]
            _choose(model, decided, role, pick, tuned, defaults, keys[role], scaled)
            weight = weights[i]
            ask_for(model, slot, role, weight)
            ask_for(decided, slot, role, weight)
            key_picked(model, role, pick, keys[role], c_value)


@part
def _choose(
    model: Model,
    decided: Model,
    role: int,
    pick: I32,
    tuned: I32,
    defaults: I32,
    keys: I64,
    scaled: tuple[float, float, float],
) -> None:
    """Decide about every variable, and pick its value; `scaled` are constants times sqrt(ln N)."""
    for i in range(pick.shape[0]):
        pick[i] = -1
    for i in range(pick.shape[0]):
        only, never = allowed(model.links, pick, i)
        tuned[i] = DEFAULT
        if only < 0:
            other, worth = _best_other(model, role, i, defaults[i], never, keys, scaled[2])
            only = defaults[i]
            if other >= 0 and (
                only == never or _is_tuned(model, decided, role, i, only, worth, scaled)
            ):
                tuned[i], only = TUNED, other
        pick[i] = only


@part
def _is_tuned(
    model: Model,
    decided: Model,
    role: int,
    variable: int,
    default: int,
    worth: float,
    scaled: tuple[float, float, float],
) -> bool:
    """Whether UCB1 prefers tuning, for what it is worth, to the default; ties by a coin."""
    stay = bound_of(model, role, model.shape[FIRST, variable] + default, scaled[0])
    times = decided.arms[role, decided.shape[FIRST, variable] + TUNED, ASKED]
    tune = worth + scaled[1] / math.sqrt(times) if times > 0.0 else URGENCY
    return tune > stay or (tune == stay and below(model.random[role], 2) == 1)


@part
def _best_other(
    model: Model, role: int, variable: int, default: int, never: int, keys: I64, doubt: float
) -> tuple[int, float]:
    """Of all values but these two: that with the greatest key, -1 for none; best lower bound."""
    first = model.shape[FIRST, variable]
    best, worth = np.int64(-1), -doubt
    for value in range(model.shape[SIZE, variable]):
        if value != default and value != never:
            best = max(best, keys[first + value])
            if model.arms[role, first + value, ASKED] > 0.0:
                worth = max(worth, bound_of(model, role, first + value, -doubt))
    if best < 0:
        return np.int64(-1), worth  # type: ignore[return-value]  # one type for numba
    return best & np.int64(MOST_VALUES - 1), worth  # type: ignore[return-value]
