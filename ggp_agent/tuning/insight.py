"""What tuners have learned, as JSON values: for reports, traces and records."""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp_agent.tuning.choosing import TUNED, ChoosingTuner
from ggp_agent.tuning.cma_es import CmaTuner
from ggp_agent.tuning.model import ALL, FIRST, KNOWN, MEAN, Model
from ggp_agent.tuning.space import F64, Space
from ggp_agent.tuning.tuners import DiscreteTuner

MOST_COMBINATIONS = 5
"""Combinations that are told of: those with most samples."""


def insight(name: str, space: Space, tuner: DiscreteTuner | CmaTuner) -> dict[str, Any]:
    """What the tuners of all roles know; means are goals, 0 where there are no samples.

    Samples are simulations whose rewards are known.
    """
    if isinstance(tuner, CmaTuner):
        roles = [_distribution(space, tuner, role) for role in range(tuner.roles)]
    else:
        roles = [_statistics(space, tuner.model, role) for role in range(len(tuner.model.arms))]
    if isinstance(tuner, ChoosingTuner):
        for role, known in enumerate(roles):
            known["tuned"] = _decisions(tuner, role)
    return {"tuner": name, "parameters": list(space.names), "roles": roles}


def _statistics(space: Space, model: Model, role: int) -> dict[str, Any]:
    arms, first = model.arms[role], model.shape[FIRST]
    values = {}
    for i, (name, size) in enumerate(zip(space.names, space.sizes, strict=True)):
        labels = [space.label(i, pick) for pick in range(size)]
        values[name] = {"values": labels, **_numbers(arms[first[i] : first[i] + size])}
    combinations = arms[first[-1] :]
    seen = np.flatnonzero(combinations[:, KNOWN])  # few of what can be millions
    most = seen[np.argsort(-combinations[seen, KNOWN], kind="stable")[:MOST_COMBINATIONS]]
    words = [space.describe(list(np.unravel_index(code, space.sizes))) for code in most]
    return {
        "samples": round(float(arms[ALL, KNOWN])),
        "mean": _goal(arms[ALL, MEAN]) if arms[ALL, KNOWN] > 0 else 0.0,
        "values": values,
        "combinations": {"values": words, **_numbers(combinations[most])},
        "favourite": words[0] if words else "",
    }


def _decisions(tuner: ChoosingTuner, role: int) -> dict[str, Any]:
    """Which variables were tuned, how many at once, and the set that was tuned most often."""
    arms, first = tuner.decided.arms[role], tuner.decided.shape[FIRST]
    names = tuner.decisions.names
    sets = arms[first[-1] :]
    sizes = np.array([code.bit_count() for code in range(len(sets))])
    numbers = np.zeros((len(names) + 1, arms.shape[1]))
    numbers[:, KNOWN] = np.bincount(sizes, sets[:, KNOWN])
    totals = np.bincount(sizes, sets[:, KNOWN] * sets[:, MEAN])
    numbers[:, MEAN] = totals / np.maximum(1, numbers[:, KNOWN])
    most = np.unravel_index(int(np.argmax(sets[:, KNOWN])), tuner.decisions.sizes)
    return {
        "parameters": {"values": list(names), **_numbers(arms[first[:-1] + TUNED])},
        "number": {"values": [str(n) for n in range(len(numbers))], **_numbers(numbers)},
        "favourite": " ".join(n for n, on in zip(names, most, strict=True) if on) or "none",
    }


def _numbers(arms: F64) -> dict[str, Any]:
    known = arms[:, KNOWN] > 0
    return {
        "samples": [round(float(samples)) for samples in arms[:, KNOWN]],
        "means": [_goal(mean) if k else 0.0 for mean, k in zip(arms[:, MEAN], known, strict=True)],
    }


def _goal(reward: float) -> float:
    return round(100 * float(reward), 2)


def _distribution(space: Space, tuner: CmaTuner, role: int) -> dict[str, Any]:
    """Of continuous values: the middle of the search distribution and how far it spreads."""
    samples, mean, middle, spread = tuner.state_of(role)
    low, high = np.array(space.intervals).T
    values = space.values_between(np.clip(middle, 0, 1))
    pairs = zip(space.names, values, strict=True)
    return {
        "samples": samples,
        "mean": _goal(mean),
        "distribution": {
            name: {"middle": round(float(value), 4), "spread": round(float(width), 4)}
            for name, value, width in zip(space.names, values, spread * (high - low), strict=True)
        },
        "favourite": " ".join(f"{name}={value:.3g}" for name, value in pairs),
    }
