"""Graphs: what leads to what, as a mapping from nodes to the nodes that they lead to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)


def components(graph: Mapping[_Key, Iterable[_Key]]) -> dict[_Key, int]:
    """Strongly connected components: node → number, those that a node leads to having lower ones.

    R. Tarjan, "Depth-first search and linear graph algorithms" (1972), without recursion.
    """
    index: dict[_Key, int] = {}
    low: dict[_Key, int] = {}
    component: dict[_Key, int] = {}
    unassigned: list[_Key] = []
    count = 0
    path: list[tuple[_Key, Iterator[_Key]]] = []

    def enter(node: _Key) -> None:
        index[node] = low[node] = len(index)
        unassigned.append(node)
        path.append((node, iter(graph.get(node, ()))))

    for root in graph:
        if root not in index:
            enter(root)
        while path:
            node, successors = path[-1]
            successor = next(successors, None)
            if successor is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    while node not in component:
                        component[unassigned.pop()] = count
                    count += 1
            elif successor not in index:
                enter(successor)
            elif successor not in component:
                low[node] = min(low[node], index[successor])
    return component
