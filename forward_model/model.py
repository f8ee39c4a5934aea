"""What a search or a player asks of a game: moves, what follows from them, rewards.

A game engine is a subclass of `ForwardModel`.  It must have the abstract methods; the others have
defaults that are right for a deterministic game with perfect information, and are overridden where
the game or the engine offers more.  Nobody has to ask what kind of model one is.

States and moves are opaque to who uses a model: hashable values that are equal if and only if they
mean the same, and never change.  Roles are numbered from 0 on; a joint move has one move per role
in that order.  A role that can't do anything in a state has one legal move there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from random import Random
from typing import Any, Generic, TypeVar

from forward_model.compiled import CompiledModel

S = TypeVar("S", bound=Hashable)
M = TypeVar("M", bound=Hashable)


class ForwardModel(ABC, Generic[S, M]):
    """A game with states S and moves M.

    Methods may raise the errors of the engine behind them.
    """

    # --- The game ---

    @property
    @abstractmethod
    def role_names(self) -> tuple[str, ...]:
        """The names of the roles, by number."""

    @property
    def chance_role(self) -> int | None:
        """The role that stands for chance, if any: its moves are drawn uniformly."""
        return None

    @property
    @abstractmethod
    def initial_state(self) -> S:
        """The state in which the game begins."""

    @abstractmethod
    def legal_moves(self, state: S, role: int) -> tuple[M, ...]:
        """A role's moves in a state that is not over, in an order that is always the same."""

    @abstractmethod
    def next_state(self, state: S, joint_move: Sequence[M], random: Random) -> S:
        """The state that follows when every role makes its legal move.

        Where the game has chance in its steps, `random` decides.
        """

    @abstractmethod
    def is_terminal(self, state: S) -> bool:
        """Whether the game has ended in this state."""

    @abstractmethod
    def rewards(self, state: S) -> tuple[float, ...]:
        """What every role gets if the game ends here; states that are not over have some, too."""

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """Between which values rewards and heuristic values are; infinite where nobody knows."""
        return 0.0, 1.0

    # --- Texts ---

    @abstractmethod
    def write_move(self, move: M) -> str:
        """A move as text, for people and for messages."""

    @abstractmethod
    def read_move(self, text: str) -> M:
        """The move that has this text."""

    # --- What only some games have ---

    def heuristic(self, state: S) -> tuple[float, ...] | None:
        """Every role's value of a state that is not over, on the scale of the rewards.

        None where the model knows none.
        """
        return None

    def observation(self, state: S, role: int) -> Hashable:
        """What a role can tell of a state: equal for states that it can't tell apart.

        Such states agree in the role's legal moves and in whether the game is over.
        """
        return state

    def determinize(self, state: S, role: int, random: Random) -> S:
        """A state drawn from those that a role can't tell from this one.

        Nothing else of `state` may matter than what the role can tell.
        """
        return state

    # --- Many states at once ---

    def legal_moves_of(self, states: Sequence[S], role: int) -> list[tuple[M, ...]]:
        """`legal_moves` in each of the states."""
        return [self.legal_moves(state, role) for state in states]

    def next_states(
        self, states: Sequence[S], joint_moves: Sequence[Sequence[M]], random: Random
    ) -> list[S]:
        """`next_state` for each of the states with its joint move."""
        pairs = zip(states, joint_moves, strict=True)
        return [self.next_state(state, joint_move, random) for state, joint_move in pairs]

    def are_terminal(self, states: Sequence[S]) -> list[bool]:
        """`is_terminal` for each of the states."""
        return [self.is_terminal(state) for state in states]

    def rewards_of(self, states: Sequence[S]) -> list[tuple[float, ...]]:
        """`rewards` in each of the states."""
        return [self.rewards(state) for state in states]

    # --- The engine ---

    speed: int = 0
    """For models of the same game: one with a higher number replaces one with a lower number."""

    in_process: bool = True
    """Whether the model works in this process, so that the process's CPU time is what it takes."""

    @property
    def compiled(self) -> CompiledModel | None:
        """What the native search needs; None where the plain search has to do."""
        return None

    def compile(self) -> object | None:
        """Have machine code made in the background from the first call on.

        Returns what can be waited for; None where there is no such code or it isn't worth its
        price.
        """
        return None

    def close(self) -> None:
        """Release what the model holds (processes, memory); it must not be used afterwards."""


AnyModel = ForwardModel[Any, Any]
"""A model for those to whom states and moves are opaque."""
