"""How often an agent finds the good moves of the suite's positions."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdl.rules import RuleSheet
from ggp_agent.agents import Agent
from ggp_agent.library.games import find_game
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.tactics.positions import Position
from propnet.machine import PropnetStateMachine

CODE_SECONDS = 60.0
"""Seconds for which a game's machine code is waited for before the clock runs."""
LOADING_SIMULATIONS = 256
"""Length of a search before the others, for which kernels are loaded."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What an agent may spend on a position: seconds, or else simulations."""

    seconds: float = 0.0
    simulations: int = 0

    def __str__(self) -> str:
        return f"{self.simulations:,} simulations" if self.simulations else f"{self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an agent chose in a position."""

    position: Position
    budget: Budget
    chosen: str
    """in the sheet's spelling"""
    solved: bool
    """whether it is one of the good moves"""
    simulations: int
    """that it took; 0 where the agent doesn't search"""


class Examination:
    """Has one agent search positions of one game, each of them as if nothing else had been.

    With a budget of simulations the same seed gives the same moves.
    """

    def __init__(
        self, game: str, agent: Agent, seed: int, machine: PropnetStateMachine | None = None
    ) -> None:
        self._sheet: RuleSheet = find_game(game).rule_sheet()
        self._machine = machine or PropnetStateMachine.from_rules(self._sheet)
        self._agent, self._seed = agent, seed

    def warm_up(self) -> None:
        """Have nothing left to be compiled or loaded while the clock runs."""
        compilation = self._machine.compile()
        if compilation is not None:
            compilation.wait(CODE_SECONDS)
        loading = self._agent.with_settings([f"simulations={LOADING_SIMULATIONS}"])
        make_thinker(self._machine, 0, loading, self._seed).think(math.inf, lambda: False)

    def attempt(self, position: Position, budget: Budget) -> Attempt:
        """Search a position.  Raises `GameError` where it does not come about by its moves."""
        state = position.state(self._machine, self._sheet)
        role, agent = position.role_number(self._machine), self._agent
        if budget.simulations:
            agent = agent.with_settings([f"simulations={budget.simulations}"])
        seed = (self._seed + position.seed) % 2**32
        thinker = make_thinker(self._machine, role, agent, seed)
        thinker.enter(state, None)
        seconds = math.inf if budget.simulations else budget.seconds
        thinker.think(time.monotonic() + seconds, lambda: False)
        chosen = thinker.choose()
        simulations = thinker.report().get("simulations", 0)
        assert isinstance(simulations, int)
        solved = chosen in position.good_moves()
        return Attempt(position, budget, self._sheet.write(chosen), solved, simulations)


def examine(
    positions: Sequence[Position], agent: Agent, budgets: Sequence[Budget], seed: int
) -> Iterator[Attempt]:
    """An agent's attempts at positions of one game, one after the other, with each budget."""
    examination = Examination(positions[0].game, agent, seed)
    examination.warm_up()
    for position in positions:
        for budget in budgets:
            yield examination.attempt(position, budget)
