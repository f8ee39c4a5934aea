"""A match as the process that runs it is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ggp_agent.manager.tournament.contestants import Contestant


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A match to run; `seats` has the contestant of every role, one URL each over HTTP."""

    match_id: str
    tournament: str
    game: str
    game_url: str
    rules: str
    round: int
    seed: int
    seats: tuple[Contestant, ...]
    simulations: int
    start_clock: float
    play_clock: float
    scramble: bool
    records: str
    by_clock: bool
    """whether the clock decides how long somebody thinks"""
    isolated: bool
    """whether every agent gets a process of its own"""

    def as_json(self) -> dict[str, Any]:
        """The job as a JSON object."""
        return {**asdict(self), "seats": [seat.as_json() for seat in self.seats]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Job:
        """The inverse of `as_json`."""
        return cls(**{**values, "seats": tuple(map(Contestant.from_json, values["seats"]))})
