"""The report of a search (`Thinker.report`): a line for people, traces for machines."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ggp_agent.errors import MessageError

traces = logging.getLogger("ggp_agent.trace")
"""One JSON object per move: what the search found (see `ggp_agent.search.trace`)."""
traces.propagate = False
traces.addHandler(logging.NullHandler())


def write_traces(path: Path) -> None:
    """Append the traces of all matches of this process to a file.  Raises `MessageError`."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise MessageError(f"cannot write traces: {error}") from error
    traces.addHandler(handler)
    traces.setLevel(logging.INFO)


def write_trace(found: Mapping[str, Any]) -> None:
    """Append what was found for a move, where traces are wanted."""
    traces.info(json.dumps(found))


def one_line(report: Mapping[str, Any]) -> str:
    """The report of a search in a line for the log."""
    puzzle = report.get("puzzle")
    return _of_simulations(report) + (f"; {_of_exact_search(puzzle)}" if puzzle else "")


def _of_exact_search(puzzle: Mapping[str, Any]) -> str:
    if puzzle["goal"] is None:
        line = "no line known"
    else:
        proven = ", proven" if puzzle["proven"] else ""
        line = f"line to {puzzle['goal']} in {puzzle['moves']} moves{proven}"
    return f"exact search: {line}, {puzzle['states']:,} states, {puzzle['dead']:,} dead ends"


def _of_simulations(report: Mapping[str, Any]) -> str:
    if not report.get("simulations"):
        return "no simulations"
    seconds = float(report["seconds"]) or 1e-9
    best = report["moves"][0]
    return (
        f"{report['simulations']:,} simulations in {seconds:.2f} s, "
        f"{report['visited_nodes'] / seconds / 1e6:.2f} M nodes/s, {report['tree_nodes']:,} nodes, "
        f"{report['memory_mb']:.0f} MB, depth {report['mean_depth']:.1f}/{report['deepest']}, "
        f"most tried {best['move']} ({best['visits']:,} visits, mean {best['mean']}), "
        f"proven {report['proven'][0]}..{report['proven'][1]}"
    )
