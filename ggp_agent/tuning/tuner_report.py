"""What tuners have learned, as JSON values: for reports, traces and records.

Means are goals, 0 where there are no samples; samples are simulations whose rewards are known.
Several models or distributions are those of trees that are searched side by side: their samples are
put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.tuning.model import ALL, FIRST, KNOWN, MEAN, Model
from ggp_agent.tuning.space import F64, Space

MOST_SHOWN = 5
"""Combinations that are shown: those with most samples."""

Report = dict[str, Any]
State = tuple[int, float, F64, F64]
"""A search distribution: its samples and mean reward, its middle and spread (d,)."""


def tuner_report(name: str, names: Sequence[str], roles: Sequence[Sequence[Report]]) -> Report:
    """All that tuners of one kind know of the parameters `names`.

    For every role the reports of its tuners, each of other parameters, the shortest scope first.
    """
    return {"tuner": name, "parameters": list(names), "roles": [merged(parts) for parts in roles]}


def merged(parts: Sequence[Report]) -> Report:
    """One role's reports of several tuners, each of other parameters, as one.

    Samples, their mean, and how many parameters were tuned at once are those of the first.
    """
    first, *others = parts
    result = {**first, "favourite": _joined(part["favourite"] for part in parts)}
    for part in others:
        for key in ("values", "distribution"):
            if key in part:
                result[key] = {**result[key], **part[key]}
        if "combinations" in part:
            result["combinations"] = _one_table(result["combinations"], part["combinations"])
        if "tuned" in part:
            before, more = result["tuned"], part["tuned"]
            favourites = [t["favourite"] for t in (before, more) if t["favourite"] != "none"]
            table = _one_table(before["parameters"], more["parameters"])
            favourite = _joined(favourites) or "none"
            result["tuned"] = {**before, "parameters": table, "favourite": favourite}
    return result


def report_of_values(space: Space, models: Sequence[Model], role: int) -> Report:
    """Samples and means of a role's values, and of the combinations with most samples."""
    first = models[0].shape[FIRST]
    arms = arms_together(models, role, slice(0, first[-1]))
    values = {}
    for i, (name, size) in enumerate(zip(space.names, space.sizes, strict=True)):
        labels = [space.label(i, pick) for pick in range(size)]
        values[name] = {"values": labels, **numbers_of(arms[first[i] : first[i] + size])}
    known = [model.arms[role, first[-1] :, KNOWN] > 0 for model in models]
    seen = np.flatnonzero(np.logical_or.reduce(known))  # few of what can be millions
    combinations = arms_together(models, role, first[-1] + seen)
    most = np.argsort(-combinations[:, KNOWN], kind="stable")[:MOST_SHOWN]
    words = [space.describe(list(np.unravel_index(code, space.sizes))) for code in seen[most]]
    return {
        "samples": round(float(arms[ALL, KNOWN])),
        "mean": _goal(arms[ALL, MEAN]) if arms[ALL, KNOWN] > 0 else 0.0,
        "values": values,
        "combinations": {"values": words, **numbers_of(combinations[most])},
        "favourite": words[0] if words else "",
    }


def report_of_distributions(space: Space, states: Sequence[State]) -> Report:
    """Of continuous values: the middle of the search distribution and how far it spreads.

    Of several distributions it is that of their mixture.
    """
    counts, means, middles, spreads = map(np.array, zip(*states, strict=True))
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


def arms_together(models: Sequence[Model], role: int, which: slice | NDArray[np.int64]) -> F64:
    """(n, 4) some of a role's arms with the rewards of all models: MEAN and KNOWN."""
    together = np.zeros_like(models[0].arms[role, which])
    for model in models:
        arms = model.arms[role, which]
        together[:, KNOWN] += arms[:, KNOWN]
        together[:, MEAN] += arms[:, KNOWN] * arms[:, MEAN]
    together[:, MEAN] /= np.maximum(together[:, KNOWN], 1)
    return together


def numbers_of(arms: F64) -> Report:
    """Samples and mean goals of arms (n, 4)."""
    known = arms[:, KNOWN] > 0
    return {
        "samples": [round(float(samples)) for samples in arms[:, KNOWN]],
        "means": [_goal(mean) if k else 0.0 for mean, k in zip(arms[:, MEAN], known, strict=True)],
    }


def _one_table(first: Report, second: Report) -> Report:
    return {key: [*first[key], *second[key]] for key in first}


def _joined(texts: Iterable[str]) -> str:
    return " ".join(filter(None, texts))


def _goal(reward: float) -> float:
    return round(100 * float(reward), 2)
