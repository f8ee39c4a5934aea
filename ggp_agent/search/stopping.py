"""Reasons to stop thinking about a state, a class each; a search stops as soon as one holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ggp_agent.agents import Agent

Interrupted = Callable[[], bool]


@dataclass(slots=True)
class Progress:
    """How far the thinking about a state has come."""

    now: float
    """a reading of `time.monotonic()`"""
    seconds: float
    """spent on the state so far"""
    next_seconds: float = 0.0
    """that the next piece of work will take, as far as one can tell"""
    simulations: int = 0
    """from the state so far"""
    is_open: bool = True
    """whether there is anything left to find out"""


class StopReason(Protocol):
    """A reason to stop."""

    def holds(self, progress: Progress) -> bool:
        """Whether it is time to stop, before the next piece of work."""

    def seconds_left(self, progress: Progress) -> float:
        """For how long the reason lets one think; inf where time is not what counts."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The clock runs out at this reading of `time.monotonic()`."""

    at: float

    def holds(self, progress: Progress) -> bool:
        """See `StopReason.holds`."""
        return progress.now + progress.next_seconds >= self.at

    def seconds_left(self, progress: Progress) -> float:
        """See `StopReason.seconds_left`."""
        return self.at - progress.now


@dataclass(frozen=True, slots=True)
class SecondsSpent:
    """The agent's own limit of seconds per move."""

    most: float

    def holds(self, progress: Progress) -> bool:
        """See `StopReason.holds`."""
        return progress.seconds + progress.next_seconds >= self.most

    def seconds_left(self, progress: Progress) -> float:
        """See `StopReason.seconds_left`."""
        return self.most - progress.seconds


@dataclass(frozen=True, slots=True)
class SimulationsMade:
    """The agent's budget of simulations per move."""

    most: int

    def holds(self, progress: Progress) -> bool:
        """See `StopReason.holds`."""
        return progress.simulations >= self.most

    def seconds_left(self, progress: Progress) -> float:
        """See `StopReason.seconds_left`."""
        return math.inf


@dataclass(frozen=True, slots=True)
class Interruption:
    """Something else is to be done."""

    is_asked_for: Interrupted

    def holds(self, progress: Progress) -> bool:
        """See `StopReason.holds`."""
        return self.is_asked_for()

    def seconds_left(self, progress: Progress) -> float:
        """See `StopReason.seconds_left`."""
        return math.inf


class NothingLeft:
    """The game is over, its result proven, or nobody would learn from more visits."""

    def holds(self, progress: Progress) -> bool:
        """See `StopReason.holds`."""
        return not progress.is_open

    def seconds_left(self, progress: Progress) -> float:
        """See `StopReason.seconds_left`."""
        return math.inf


def stop_reasons(agent: Agent, deadline: float, interrupted: Interrupted) -> list[StopReason]:
    """What stops an agent that is to answer by a deadline, the likeliest to hold first."""
    reasons: list[StopReason] = [NothingLeft(), Interruption(interrupted), Deadline(deadline)]
    if seconds := agent.number("seconds"):
        reasons.append(SecondsSpent(seconds))
    if simulations := int(agent.number("simulations")):
        reasons.append(SimulationsMade(simulations))
    return reasons


def is_to_stop(reasons: Sequence[StopReason], progress: Progress) -> bool:
    """Whether any of the reasons holds."""
    for reason in reasons:  # noqa: SIM110  # between small batches a generator takes long
        if reason.holds(progress):
            return True
    return False


def seconds_left(reasons: Sequence[StopReason], progress: Progress) -> float:
    """How long all reasons together let one think."""
    return min(reason.seconds_left(progress) for reason in reasons)
