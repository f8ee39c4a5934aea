"""A match in mid-play: the reasoner that there is, the history, the state, and what thinks."""

from __future__ import annotations

import logging

from gdl.errors import GgpError
from gdl.rules import RuleSheet, Term
from gdl.state_machine import JointMove, Move, State, StateMachine
from ggp_agent.agents import Agent
from ggp_agent.errors import WorkerError
from ggp_agent.mind.search_factory import make_thinker
from ggp_agent.mind.thinker import Thinker

log = logging.getLogger(__name__)


class MatchState:
    """The match as its worker sees it: a reasoner, the history, the state, and a thinker."""

    def __init__(self, sheet: RuleSheet, role: Term, agent: Agent, seed: int) -> None:
        self._sheet, self._role, self._agent, self._seed = sheet, role, agent, seed
        self.history: list[tuple[Term, ...]] = []
        self.machine: StateMachine | None = None
        self.thinker: Thinker | None = None
        self._state: State = None
        self._number = 0

    def use(self, machine: StateMachine) -> None:
        """Take a reasoner (in place of a slower one) and catch up with the history."""
        if self._role not in machine.roles:
            roles = " ".join(map(self._sheet.write, machine.roles))
            raise WorkerError(f"{self._sheet.write(self._role)} is not a role; roles: {roles}")
        if self.machine is not None:
            self.machine.close()
        self.machine, self._number = machine, machine.roles.index(self._role)
        self.thinker = make_thinker(machine, self._number, self._agent, self._seed)
        self._state = machine.initial_state
        history, self.history = self.history, []
        for joint_move in history:
            try:
                self.advance(joint_move)
            except WorkerError as error:
                log.warning("%s", error)

    def advance(self, joint_move: tuple[Term, ...]) -> bool:
        """Go on by a joint move; False where it repeats the last one and can't do so legally.

        Raises `WorkerError` for one of the wrong length.
        """
        if self.machine is not None and self.thinker is not None:
            self._check_length(joint_move)
            if not self._is_legal(joint_move):
                if self.history and self.history[-1] == joint_move:
                    return False
                log.warning("illegal joint move %s", " ".join(map(self._sheet.write, joint_move)))
            try:
                self._state = self.machine.next_state(self._state, joint_move)
                self.thinker.enter(self._state, joint_move)
            except GgpError as error:
                log.warning("staying in the old state: %s", error)
        self.history.append(joint_move)
        return True

    def is_over(self) -> bool:
        """Whether the state is terminal."""
        return self.machine is not None and self.machine.is_terminal(self._state)

    def own_moves(self) -> tuple[Move, ...]:
        """Our legal moves, () where nothing is known yet or the game is over."""
        if self.machine is None or self.is_over():
            return ()
        return self.machine.legal_moves(self._state, self._number)

    def think(self, deadline: float) -> None:
        """Think about the present state, not to be interrupted."""
        assert self.thinker is not None
        self.thinker.think(deadline, lambda: False)

    def choose(self) -> Move:
        """Our move in the present state."""
        assert self.thinker is not None
        move: Move = self.thinker.choose()
        return move

    def write(self, move: Move) -> str:
        """A move in the spelling of the rules."""
        return self._sheet.write(move)

    def _check_length(self, joint_move: JointMove) -> None:
        assert self.machine is not None
        if len(joint_move) != len(self.machine.roles):
            raise WorkerError(
                f"the joint move has {len(joint_move)} moves, but the game has "
                f"{len(self.machine.roles)} roles"
            )

    def _is_legal(self, joint_move: JointMove) -> bool:
        assert self.machine is not None
        if self.is_over():
            return False
        return all(
            move in self.machine.legal_moves(self._state, role)
            for role, move in enumerate(joint_move)
        )
