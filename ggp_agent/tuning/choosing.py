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

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.bandits import I64, MOST_VALUES, key_picked, key_values
from ggp_agent.tuning.model import (
    ALL,
    ASKED,
    FIRST,
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

DEFAULT, TUNED = range(2)
"""What can be decided about a variable."""

C_DEFAULT, C_TUNED = 1.0, 0.33
"""Exploration constants of the decisions."""
DOUBT = 0.1
"""The best other value is the one with the highest lower bound, by this constant."""
C_VALUE = 0.5
"""Exploration constant of the values of variables that are tuned."""


class ChoosingTuner:
    """A `DiscreteTuner` that also decides which variables leave their defaults."""

    def __init__(
        self,
        space: Space,
        roles: int,
        most: int,
        seed: int,
        c_default: float = C_DEFAULT,
        c_tuned: float = C_TUNED,
        doubt: float = DOUBT,
        c_value: float = C_VALUE,
    ) -> None:
        self.model = new_model(space, roles, most, seed)
        self.decisions = decisions_of(space)
        self.decided = new_model(self.decisions, roles, most, seed)
        """statistics of the decisions: its combinations are the sets of variables tuned"""
        self._defaults = np.array(space.defaults, np.int32)
        self._keys = np.zeros((roles, 1 + sum(space.sizes)), np.int64)
        self._constants = c_default, c_tuned, doubt, c_value

    def ask(self, places: I32, weights: I32) -> None:
        """See `DiscreteTuner.ask`."""
        ask_choosing(
            self.model, self.decided, self._defaults, self._keys, places, weights, *self._constants
        )

    def tell(self, places: I32, totals: F64, weights: I32) -> None:
        """See `DiscreteTuner.tell`."""
        tell_rewards(self.model, places, totals, weights)
        tell_rewards(self.decided, places, totals, weights)


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
    places: I32,
    weights: I32,
    c_default: float,
    c_tuned: float,
    doubt: float,
    c_value: float,
) -> None:
    """Decide and choose values for every role.

    `defaults` (d,) the picks of variables that are not tuned, `keys` (R, values + 1) room.
    """
    for role in range(model.picks.shape[1]):
        root = exploration(model.arms[role, ALL, ASKED])
        constants = c_default * root, c_tuned * root, doubt * root
        key_values(model, role, keys[role], c_value * root)
        for i in range(len(places)):
            place = places[i]
            pick = model.picks[place, role]
            tuned = decided.picks[place, role]
            _choose(model, decided, role, pick, tuned, defaults, keys[role], constants)
            weight = weights[i]
            ask_for(model, place, role, weight)
            ask_for(decided, place, role, weight)
            key_picked(model, role, pick, keys[role], c_value * root)


@part
def _choose(
    model: Model,
    decided: Model,
    role: int,
    pick: I32,
    tuned: I32,
    defaults: I32,
    keys: I64,
    constants: tuple[float, float, float],
) -> None:
    """Decide about every variable, and pick its value."""
    for i in range(pick.shape[0]):
        pick[i] = -1
    for i in range(pick.shape[0]):
        only, never = allowed(model.links, pick, i)
        tuned[i] = DEFAULT
        if only < 0:
            other, worth = _best_other(model, role, i, defaults[i], never, keys, constants[2])
            only = defaults[i]
            if other >= 0 and (
                only == never or _is_tuned(model, decided, role, i, only, worth, constants)
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
    constants: tuple[float, float, float],
) -> bool:
    """Whether UCB1 prefers tuning, for what it is worth, to the default; ties by a coin."""
    stay = bound_of(model, role, model.shape[FIRST, variable] + default, constants[0])
    times = decided.arms[role, decided.shape[FIRST, variable] + TUNED, ASKED]
    tune = worth + constants[1] / math.sqrt(times) if times > 0.0 else URGENCY
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
