"""What it takes to choose moves for one role: the `Thinker` protocol and the simplest two.

A thinker is told about every state that the game reaches, may think until a deadline, and can name
its choice at any time.  The searches (`ggp_agent.search`) are thinkers, too.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from forward_model.model import AnyModel
from ggp_agent.search.stopping import Interrupted


class Thinker(Protocol):
    """Chooses moves for one role; states and moves are those of a forward model."""

    def enter(self, state: Any, joint_move: Sequence[Any] | None) -> None:
        """The game is now in `state`, by `joint_move` from the last one (None: anew)."""

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """Think until `time.monotonic()` reaches the deadline, or as soon as interrupted.

        Returns early where more thought is of no use.
        """

    def choose(self) -> Any:
        """The move to make in the present state, which is not terminal."""

    def report(self) -> Mapping[str, object]:
        """What the thinking found, for the log."""


class LegalThinker:
    """Makes the first legal move (`pick` None), or one at random."""

    def __init__(self, model: AnyModel, role: int, pick: random.Random | None) -> None:
        self._model, self._role, self._pick = model, role, pick
        self._state = model.initial_state

    def enter(self, state: Any, joint_move: Sequence[Any] | None) -> None:
        """See `Thinker.enter`."""
        self._state = state

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; there is nothing to think about."""

    def choose(self) -> Any:
        """See `Thinker.choose`."""
        moves = self._model.legal_moves(self._state, self._role)
        return moves[0] if self._pick is None else self._pick.choice(moves)

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {}
