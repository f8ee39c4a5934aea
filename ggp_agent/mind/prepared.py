"""A search whose parameters are chosen by self-play while the start clock runs."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping

from forward_model.compiled import CompiledModel
from gdl.state_machine import JointMove, Move, State
from ggp_agent.agents import Agent
from ggp_agent.mind.thinker import Thinker
from ggp_agent.search.stopping import Interrupted
from ggp_agent.tuning.evaluation import Weights
from ggp_agent.tuning.start_clock import LEAST_SECONDS, SEARCH_SHARE, choose_by_self_play

log = logging.getLogger(__name__)


def seconds_for(agent: Agent) -> float:
    """How much of a start clock an agent takes for self-play.

    One with a budget of its own per move takes no more than that, unless it says how much.
    """
    seconds = agent.number("self_play")
    if math.isfinite(seconds):
        return seconds
    if agent["simulations"]:
        return 0.0
    return agent.number("seconds") or seconds


def uses_start_clock(agent: Agent) -> bool:
    """Whether an agent plays against itself as soon as it knows the rules, if the clock allows."""
    return seconds_for(agent) >= LEAST_SECONDS


MakeSearch = Callable[[Agent, Weights | None], Thinker]


class PreparedSearch:
    """A `Thinker`: the first thinking about the initial state begins with self-play."""

    def __init__(self, game: CompiledModel, agent: Agent, seed: int, make: MakeSearch) -> None:
        """`make` makes the search of an agent, with an evaluation of states if there is one."""
        self._game, self._agent, self._seed, self._make = game, agent, seed, make
        self._search = make(agent, None)
        self._has_begun = False
        self._chosen: dict[str, object] = {}

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`; self-play is for the initial state, before the first move."""
        moved = joint_move is not None or state != self._game.layout.initial.tobytes()
        self._has_begun = self._has_begun or moved
        self._search.enter(state, joint_move)

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`."""
        if not self._has_begun:
            self._has_begun = self._prepare(deadline, interrupted)
        self._search.think(deadline, interrupted)

    def _prepare(self, deadline: float, interrupted: Interrupted) -> bool:
        """Whether that was it; what is interrupted may be tried again."""
        now = time.monotonic()
        seconds = min((deadline - now) * (1 - SEARCH_SHARE), seconds_for(self._agent))
        if seconds < LEAST_SECONDS:
            return True
        until = now + seconds
        choice = choose_by_self_play(self._game, self._agent, self._seed, until, interrupted)
        if interrupted():
            return False
        log.info("self-play: %s", choice.report)
        self._chosen = {"self_play": choice.report}
        self._search = self._make(choice.agent, choice.evaluation)
        return True

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        move: Move = self._search.choose()
        return move

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`; what self-play has chosen is told once."""
        chosen, self._chosen = self._chosen, {}
        return {**self._search.report(), **chosen}
