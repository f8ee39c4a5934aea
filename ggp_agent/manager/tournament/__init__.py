"""Tournaments: designed, played in parallel, stopped and resumed, and told as tables."""

from ggp_agent.manager.tournament.contestants import Contestant
from ggp_agent.manager.tournament.driver import Progress, run_tournament
from ggp_agent.manager.tournament.plan import Plan, make_plan, resumed_plan
from ggp_agent.manager.tournament.results import MatchResult, read_results
from ggp_agent.manager.tournament.settings import check_settings, read_settings

__all__ = [
    "Contestant",
    "MatchResult",
    "Plan",
    "Progress",
    "check_settings",
    "make_plan",
    "read_results",
    "read_settings",
    "resumed_plan",
    "run_tournament",
]
