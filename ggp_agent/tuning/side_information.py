"""Linear side information, `lsi`: Shleyfman, Komenda, Domshlak (2014), as in Sironi, Liu, Winands
(2020), Algorithm 2.

Three quarters of a budget of N simulations go over all values of all variables in shuffled passes,
the rest of the combination random, and give every value a mean reward.  Candidates are drawn value
by value proportionally to these means, k times, duplicates dropped.  The last quarter of the budget
goes to sequential halving: rounds of equal budgets, after each of which the better half by mean
reward stays.  The one left over is used from then on.

N is the number of simulations that the game is expected to have; until it is known the passes go
on.  Values that hold for a batch have the same budget, and spend it a batch at a time; for those
that hold for a move a game has too few moves.

With many simulations in flight a stage or round ends when the rewards of its budget are known;
meanwhile its passes go on.  Where simulations share combinations it lasts one whole pass at least.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ggp_agent.search.kernel import direct, entry, part
from ggp_agent.tuning.candidates import (
    CandidateRewards,
    mean_of,
    new_rewards,
    put_candidate,
    sort_by_mean,
    tell_candidates,
)
from ggp_agent.tuning.discrete import DiscreteTuner
from ggp_agent.tuning.model import (
    ALL,
    KNOWN,
    Model,
    allowed,
    ask_for,
    copy,
    draw,
)
from ggp_agent.tuning.random_numbers import below, real, shuffle
from ggp_agent.tuning.space import F64, I32, Space
from ggp_agent.tuning.value_tuner import SearchFacts

GENERATION_SHARE = 0.75
"""Share of the budget for the generation of candidates."""
FEW_CANDIDATES, MANY_CANDIDATES = 20, 2000
"""Candidates to draw, for two variables and for more."""

MOVES_AHEAD = 3
"""N: simulations of the start clock times the mean length of a simulated game times this, for
simulations become more (and shorter) as the game goes on."""
LOOK_EVERY = 64
"""Batches between looks at the mean length."""

STAGE, CURSOR, TRIED, SPENT, ALIVE, ROUNDS = range(6)
"""Columns of `state`: see the stages; position in the pass; combinations tried and simulations
spent in this stage or round; candidates left; rounds of halving."""
GENERATING, HALVING, FIXED = range(3)
"""Stages."""


class Lsi(NamedTuple):
    """Where the algorithm stands. V: values of all variables together; k: candidates."""

    values: I32
    """(V, 2) variable and number of value"""
    passes: I32
    """(R, V) the order of this pass over the values"""
    candidates: I32
    """(R, k, d)"""
    alive: I32
    """(R, k) the candidates left, by number"""
    weights: F64
    """(R, V) to work with"""
    state: I32
    """(R, 6) see STAGE"""


class LsiTuner(DiscreteTuner):
    """A `ValueTuner` that generates, evaluates and then stays with one combination per role."""

    def __init__(
        self,
        space: Space,
        roles: int,
        slots: int,
        seed: int,
        samples: int | None = None,
        candidates: int | None = None,
    ) -> None:
        """`samples`: N, None where it is not known yet."""
        super().__init__(space, roles, slots, seed)
        if candidates is None:
            candidates = FEW_CANDIDATES if len(space.names) <= 2 else MANY_CANDIDATES
        values = [(i, value) for i, size in enumerate(space.sizes) for value in range(size)]
        self._rewards = new_rewards(roles, len(values) + candidates, slots)
        self._lsi = Lsi(
            values=np.array(values, np.int32),
            passes=np.tile(np.arange(len(values), dtype=np.int32), (roles, 1)),
            candidates=np.zeros((roles, candidates, len(space.names)), np.int32),
            alive=np.zeros((roles, candidates), np.int32),
            weights=np.zeros((roles, len(values))),
            state=np.zeros((roles, 6), np.int32),
        )
        self.samples = samples
        """N; may be set while candidates are being generated"""
        self._facts = SearchFacts(in_flight=slots)
        self._batches, self._length = 0, 0.0

    def prepare(self, facts: SearchFacts) -> None:
        """See `ValueTuner.prepare`."""
        self._facts = facts
        self.samples = facts.samples or None

    def ask(self, slots: I32, weights: I32) -> None:
        """See `ValueTuner.ask`."""
        samples = 0 if self.samples is None else max(1, self.samples)
        generation = int(GENERATION_SHARE * samples)
        evaluation = samples - generation
        ask_lsi(self.model, self._rewards, self._lsi, slots, weights, generation, evaluation)

    def tell(self, slots: I32, totals: F64, weights: I32) -> None:
        """See `ValueTuner.tell`."""
        tell_candidates(self.model, self._rewards, slots, totals, weights)
        if self.samples is None:
            if self._batches % LOOK_EVERY == 0:
                self._length = self._facts.mean_length()
            self._batches += 1

    def new_move(self) -> None:
        """See `ValueTuner.new_move`; after the start clock the budget is fixed."""
        known = self.model.arms[0, ALL, KNOWN]
        if self.samples is None and known:
            self.samples = round(known * MOVES_AHEAD * max(1.0, self._length))

    @property
    def stages(self) -> list[int]:
        """Every role's stage."""
        return [int(stage) for stage in self._lsi.state[:, STAGE]]


@direct
@entry
def ask_lsi(
    model: Model,
    rewards: CandidateRewards,
    lsi: Lsi,
    slots: I32,
    weights: I32,
    generation: int,
    evaluation: int,
) -> None:
    """Choose combinations for every role.

    `generation`, `evaluation`: the budget of either, both 0 where it is not known.
    """
    for role in range(model.picks.shape[1]):
        _next_stage(model, rewards, lsi, role, generation, evaluation)
        for i in range(len(slots)):
            slot = slots[i]
            pick = model.picks[slot, role]
            weight = weights[i]
            if lsi.state[role, STAGE] == GENERATING:
                candidate = _next_value(model, lsi, role, pick)
            else:
                candidate = _next_candidate(lsi, role, pick)
            put_candidate(rewards, slot, role, candidate)
            lsi.state[role, TRIED] = min(lsi.state[role, TRIED] + 1, 2**30)
            lsi.state[role, SPENT] = min(lsi.state[role, SPENT] + weight, 2**30)
            ask_for(model, slot, role, weight)


@part
def _next_stage(
    model: Model, rewards: CandidateRewards, lsi: Lsi, role: int, generation: int, evaluation: int
) -> None:
    """Go on to the next stage or round where the present one has had its share."""
    state, values = lsi.state[role], lsi.values.shape[0]
    if state[STAGE] == GENERATING and generation + evaluation > 0:
        if _is_done(state, values, max(1, generation // values)):
            _generate(model, rewards, lsi, role)
            state[STAGE] = HALVING
            state[CURSOR], state[TRIED], state[SPENT] = 0, 0, 0
    elif state[STAGE] == HALVING:
        alive = state[ALIVE]
        if _is_done(state, alive, max(1, evaluation // (alive * state[ROUNDS]))):
            shuffle(lsi.alive[role], alive, model.random[role])
            sort_by_mean(rewards, role, lsi.alive[role], alive, values)
            state[ALIVE] = (alive + 1) // 2
            state[CURSOR], state[TRIED], state[SPENT] = 0, 0, 0
    if state[STAGE] == HALVING and state[ALIVE] == 1:
        state[STAGE] = FIXED


@part
def _is_done(state: I32, candidates: int, samples: int) -> bool:
    """Whether all of so many have been tried, and with so many simulations each."""
    return state[TRIED] >= candidates and state[SPENT] >= samples * candidates


@part
def _next_value(model: Model, lsi: Lsi, role: int, pick: I32) -> int:
    """SideInfo: the next value of the pass, randomly extended."""
    state, values = lsi.state[role], lsi.values.shape[0]
    if state[CURSOR] % values == 0:
        shuffle(lsi.passes[role], values, model.random[role])
        state[CURSOR] = 0
    value = lsi.passes[role, state[CURSOR]]
    state[CURSOR] += 1
    pick[:] = -1
    pick[lsi.values[value, 0]] = lsi.values[value, 1]
    draw(model, role, pick)
    return value


@part
def _next_candidate(lsi: Lsi, role: int, pick: I32) -> int:
    """Evaluate: the next of the candidates left."""
    state = lsi.state[role]
    if state[CURSOR] >= state[ALIVE]:
        state[CURSOR] = 0
    candidate = lsi.alive[role, state[CURSOR]]
    state[CURSOR] += 1
    copy(pick, lsi.candidates[role, candidate])
    return lsi.values.shape[0] + candidate


@part
def _generate(model: Model, rewards: CandidateRewards, lsi: Lsi, role: int) -> None:
    """Generate: draw candidates, and leave out those drawn before."""
    found = 0
    for _ in range(lsi.candidates.shape[1]):
        pick = lsi.candidates[role, found]
        _draw_candidate(model, rewards, lsi, role, pick)
        if not _is_there(lsi.candidates[role], found, pick):
            lsi.alive[role, found] = found
            found += 1
    lsi.state[role, ALIVE] = found
    lsi.state[role, ROUNDS] = max(1, math.ceil(math.log2(float(found))))


@part
def _draw_candidate(
    model: Model, rewards: CandidateRewards, lsi: Lsi, role: int, pick: I32
) -> None:
    """Draw values with probabilities proportional to their means until every variable has one."""
    pick[:] = -1
    for _ in range(model.picks.shape[2]):
        total, open_values = 0.0, 0
        for value in range(lsi.values.shape[0]):
            variable, number = lsi.values[value, 0], lsi.values[value, 1]
            weight = -1.0
            only, never = allowed(model.links, pick, variable)
            if pick[variable] < 0 and number != never and (only < 0 or number == only):
                weight = mean_of(rewards, role, value)
                total += weight
                open_values += 1
            lsi.weights[role, value] = weight
        point = real(model.random[role]) * total
        skip = below(model.random[role], open_values)  # where all means are 0
        chosen = -1
        for value in range(lsi.values.shape[0]):
            weight = lsi.weights[role, value]
            if weight >= 0.0:
                if total > 0.0:
                    if weight > 0.0:
                        chosen = value
                    point -= weight
                    if point < 0.0:
                        break
                else:
                    chosen = value
                    skip -= 1
                    if skip < 0:
                        break
        pick[lsi.values[chosen, 0]] = lsi.values[chosen, 1]


@part
def _is_there(candidates: I32, count: int, pick: I32) -> bool:
    """Whether a combination is among the first `count` candidates."""
    for candidate in range(count):
        same = True
        for i in range(pick.shape[0]):
            if candidates[candidate, i] != pick[i]:
                same = False
                break
        if same:
            return True
    return False
