"""Tournaments: designed, played in parallel, stopped and resumed, and told as tables."""

from ggp_agent.manager.tournament.contestants import Contestant
from ggp_agent.manager.tournament.driver import Progress, run_tournament
from ggp_agent.manager.tournament.plan import Plan, make_plan, resumed_plan
from ggp_agent.manager.tournament.results import MatchResult, read_results
from ggp_agent.manager.tournament.settings import check_settings, read_settings
from ggp_agent.manager.tournament.summary import summarize
from ggp_agent.manager.tournament.tables import (
    games_table,
    ratings_table,
    render,
    summary_table,
    versus_table,
)

__all__ = [
    "Contestant",
    "MatchResult",
    "Plan",
    "Progress",
    "check_settings",
    "games_table",
    "make_plan",
    "ratings_table",
    "read_results",
    "read_settings",
    "render",
    "resumed_plan",
    "run_tournament",
    "summarize",
    "summary_table",
    "versus_table",
]
