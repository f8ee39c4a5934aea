"""Games of self-play in as many threads as an agent has, each with games of its own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.search.parallel import seed_of_thread
from ggp_agent.search.settings import F32
from ggp_agent.search.stopping import Interrupted
from ggp_agent.tuning.self_play import Positions, Scores, SelfPlayGames, Size

LEAST_TURNS = 0.1
"""Share of the states in which a single role has a choice, where that is not rare."""


class SelfPlayCrew:
    """Several `SelfPlayGames` that are asked the same, at the same time."""

    def __init__(self, game: CompiledModel, agent: Agent, seed: int, threads: int) -> None:
        seeds = [seed_of_thread(seed, number) for number in range(threads)]
        self._all = [SelfPlayGames(game, agent, own) for own in seeds]

    @property
    def finished_last(self) -> int:
        """Games that came to an end when they were last played."""
        return sum(games.finished_last for games in self._all)

    @property
    def simulations_per_second(self) -> float:
        """Of all threads, as of the last games."""
        return sum(games.simulations_per_second for games in self._all)

    @property
    def searches_per_game(self) -> float:
        """Moves that were searched for, as of the last games."""
        return float(np.mean([games.searches_per_game for games in self._all]))

    @property
    def takes_turns(self) -> bool:
        """Whether it is not rare that a single role has a choice."""
        alone = sum(games.alone for games in self._all)
        together = sum(games.together for games in self._all)
        return alone >= LEAST_TURNS * (alone + together)

    @property
    def positions(self) -> Positions:
        """Of all games so far."""
        all_states = [state for games in self._all for state in games.positions.states]
        all_rewards = [rewards for games in self._all for rewards in games.positions.rewards]
        return Positions(all_states, all_rewards)

    def evaluate_by(self, weights: F32, bias: F32) -> None:
        """See `SelfPlayGames.evaluate_by`."""
        for games in self._all:
            games.evaluate_by(weights, bias)

    def play(
        self,
        entrants: Sequence[Agent],
        size: Size,
        deadline: float,
        interrupted: Interrupted,
        latest: float = 0.0,
    ) -> Scores:
        """What all have scored; see `SelfPlayGames.play`."""

        def play(games: SelfPlayGames) -> Scores:
            return games.play(entrants, size, deadline, interrupted, latest)

        if len(self._all) == 1:
            return play(self._all[0])
        with ThreadPoolExecutor(len(self._all)) as threads:
            scores = list(threads.map(play, self._all))
        return Scores(
            totals=np.sum([score.totals for score in scores], axis=0),
            games=np.sum([score.games for score in scores], axis=0),
        )
