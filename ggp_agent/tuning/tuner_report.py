"""What tuners have learned, as JSON values: for reports, traces and records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ggp_agent.tuning.choosing import TUNED, ChoosingTuner
from ggp_agent.tuning.cma_es import I64, CmaTuner
from ggp_agent.tuning.model import ALL, FIRST, KNOWN, MEAN, Model
from ggp_agent.tuning.space import F64, Space
from ggp_agent.tuning.tuners import DiscreteTuner

MOST_COMBINATIONS = 5
"""Combinations that are told of: those with most samples."""


def insight(name: str, space: Space, tuners: Sequence[DiscreteTuner | CmaTuner]) -> dict[str, Any]:
    """What the tuners of all roles know; means are goals, 0 where there are no samples.

    Samples are simulations whose rewards are known.  Several `tuners` are those of trees that are
    searched side by side: their samples are put together.
    """
    discrete = [tuner for tuner in tuners if not isinstance(tuner, CmaTuner)]
    choosing = [tuner for tuner in tuners if isinstance(tuner, ChoosingTuner)]
    if discrete:
        models = [tuner.model for tuner in discrete]
        roles = [_statistics(space, models, role) for role in range(len(models[0].arms))]
    else:
        evolutions = [tuner for tuner in tuners if isinstance(tuner, CmaTuner)]
        roles = [_distribution(space, evolutions, role) for role in range(evolutions[0].roles)]
    if choosing:
        for role, known in enumerate(roles):
            known["tuned"] = _decisions(choosing, role)
    return {"tuner": name, "parameters": list(space.names), "roles": roles}


def _arms(models: Sequence[Model], role: int, which: slice | I64) -> F64:
    """(n, 4) some of a role's arms with the rewards of all models: MEAN and KNOWN."""
    together = np.zeros_like(models[0].arms[role, which])
    for model in models:
        arms = model.arms[role, which]
        together[:, KNOWN] += arms[:, KNOWN]
        together[:, MEAN] += arms[:, KNOWN] * arms[:, MEAN]
    together[:, MEAN] /= np.maximum(together[:, KNOWN], 1)
    return together


def _statistics(space: Space, models: Sequence[Model], role: int) -> dict[str, Any]:
    first = models[0].shape[FIRST]
    arms = _arms(models, role, slice(0, first[-1]))
    values = {}
    for i, (name, size) in enumerate(zip(space.names, space.sizes, strict=True)):
        labels = [space.label(i, pick) for pick in range(size)]
        values[name] = {"values": labels, **_numbers(arms[first[i] : first[i] + size])}
    known = [model.arms[role, first[-1] :, KNOWN] > 0 for model in models]
    seen = np.flatnonzero(np.logical_or.reduce(known))  # few of what can be millions
    combinations = _arms(models, role, first[-1] + seen)
    most = np.argsort(-combinations[:, KNOWN], kind="stable")[:MOST_COMBINATIONS]
    words = [space.describe(list(np.unravel_index(code, space.sizes))) for code in seen[most]]
    return {
        "samples": round(float(arms[ALL, KNOWN])),
        "mean": _goal(arms[ALL, MEAN]) if arms[ALL, KNOWN] > 0 else 0.0,
        "values": values,
        "combinations": {"values": words, **_numbers(combinations[most])},
        "favourite": words[0] if words else "",
    }


def _decisions(tuners: Sequence[ChoosingTuner], role: int) -> dict[str, Any]:
    """Which variables were tuned, how many at once, and the set that was tuned most often."""
    decided = [tuner.decided for tuner in tuners]
    arms, first = _arms(decided, role, slice(None)), decided[0].shape[FIRST]
    names, choices = tuners[0].decisions.names, tuners[0].decisions.sizes
    sets = arms[first[-1] :]
    sizes = np.array([code.bit_count() for code in range(len(sets))])
    numbers = np.zeros((len(names) + 1, arms.shape[1]))
    numbers[:, KNOWN] = np.bincount(sizes, sets[:, KNOWN])
    totals = np.bincount(sizes, sets[:, KNOWN] * sets[:, MEAN])
    numbers[:, MEAN] = totals / np.maximum(1, numbers[:, KNOWN])
    most = np.unravel_index(int(np.argmax(sets[:, KNOWN])), choices)
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


def _distribution(space: Space, tuners: Sequence[CmaTuner], role: int) -> dict[str, Any]:
    """Of continuous values: the middle of the search distribution and how far it spreads.

    Of several distributions it is that of their mixture.
    """
    counts, means, middles, spreads = map(
        np.array, zip(*(t.state_of(role) for t in tuners), strict=True)
    )
    samples = int(counts.sum())
    mean = float(counts @ means) / max(1, samples)
    middle = middles.mean(axis=0)
    spread = np.sqrt((spreads**2 + (middles - middle) ** 2).mean(axis=0))
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
