"""Who won: one point a match, split among the roles with the highest goal.

This is the rule of Sironi, Liu, Winands, "Self-Adaptive Monte-Carlo Tree Search in General Game
Playing", section VI-A.  Every role counts as a player of its own: an agent that plays several
roles gets the sum of their shares, so that the points of a match always add up to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def split_point(goals: Sequence[int]) -> tuple[Fraction, ...]:
    """The share of every role, by the roles' goals (0 to 100).  There is at least one role."""
    best = max(goals)
    share = Fraction(1, sum(goal == best for goal in goals))
    return tuple(share if goal == best else Fraction(0) for goal in goals)


def agent_points(agents: Sequence[str], goals: Sequence[int]) -> dict[str, Fraction]:
    """The points of every agent of a match; `agents[i]` played the role with `goals[i]`."""
    points = dict.fromkeys(agents, Fraction(0))
    for agent, share in zip(agents, split_point(goals), strict=True):
        points[agent] += share
    return points
