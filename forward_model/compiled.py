"""What the native search needs of a model whose games can be played by kernels, many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A game as arrays for kernels, and what the numbers in them stand for.

    Moves of a role are numbered from 0 on, in an order in which legal ones are listed, too.
    """

    layout: Any
    """the arrays (`propnet.layout.Layout`); the initial state is one of them"""
    moves: tuple[tuple[Any, ...], ...]
    """of every role, the moves by number; opaque"""
    best_rewards: tuple[float, ...]
    """the highest reward that each role can get, in [0, 1]"""
    chance_role: int | None
    """the role whose moves are drawn uniformly"""
    write_move: Callable[[Any], str]
    """a move as text"""
