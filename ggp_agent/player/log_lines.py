"""The report of a search (`Thinker.report`) in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def one_line(report: Mapping[str, Any]) -> str:
    """The report of a search in a line for the log."""
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
