"""What match results say, and how sure that is: points, intervals, a sequential test, ratings."""

from ggp_agent.statistics.intervals import Interval, average_interval, mean_interval
from ggp_agent.statistics.points import agent_points, split_point
from ggp_agent.statistics.ratings import Rating, rate
from ggp_agent.statistics.sprt import Sprt, SprtState, Verdict

__all__ = [
    "Interval",
    "Rating",
    "Sprt",
    "SprtState",
    "Verdict",
    "agent_points",
    "average_interval",
    "mean_interval",
    "rate",
    "split_point",
]
