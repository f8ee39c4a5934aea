"""How the tuning of a player's parameters went over a match, for the match record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class TuningRecord:
    """What tuners knew at the last move, and which combination had most samples at every move."""

    last: Mapping[str, Any] = field(default_factory=dict)
    """see `ggp_agent.tuning.tuner_report`"""
    favourites: list[list[str]] = field(default_factory=list)
    """per move, per role"""
    tuned: list[list[str]] = field(default_factory=list)
    """the same for the set of parameters that was tuned most often, where tuners choose it"""

    def add(self, report: Mapping[str, object]) -> None:
        """Take in what was reported with a move, if there is any tuning in it."""
        tuning = report.get("tuning")
        if isinstance(tuning, Mapping):
            self.last = tuning
            self.favourites.append([str(role["favourite"]) for role in tuning["roles"]])
            if all("tuned" in role for role in tuning["roles"]):
                self.tuned.append([str(role["tuned"]["favourite"]) for role in tuning["roles"]])

    def as_json(self) -> dict[str, Any]:
        """Both as one JSON object; empty where nothing was tuned."""
        if not self.favourites:
            return {}
        sets = {"course_of_tuned": self.tuned} if self.tuned else {}
        return {**self.last, "course": self.favourites, **sets}
