"""The moves among which a role selects in a node of the tree."""

from __future__ import annotations

from typing import NamedTuple

from propnet.layout import I32


class Candidates(NamedTuple):
    """A role's m legal moves in a node; places are words of the tree's pool."""

    words: I32
    """the pool's"""
    numbers: int
    """where their numbers begin"""
    means: int
    """where their mean rewards begin, floats; CLOSED for one that is proven to be worse"""
    inverse_roots: int
    """where 1 / sqrt(n) begins for each of them, floats; 0 for a move that was never selected"""
    size: int
    """m"""
    visits: int
    """N, the visits of the node before this simulation"""
