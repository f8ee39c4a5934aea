"""One view of both searches, so that a rule can be tested in either on a hand-made node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from gdl.state_machine import Move
from ggp_agent.parameters import Value
from ggp_agent.search.blocks import statistics
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.plain_tree import Average
from ggp_agent.search.slots import PICKS
from ggp_agent.search.tree import INVERSE_ROOT, MEAN
from tests.ggp_agent.search.positions import SEQUENTIAL, native, plain, search_on

Statistics = Sequence[tuple[int, float]]
"""(tries, sum of rewards in [0, 1]) per move."""


class Bench(Protocol):
    """A search at the initial state of a game, one simulation in flight."""

    search: NativeSearch | PlainSearch

    def set_root(self, visits: int, *roles: Statistics) -> None:
        """Write the root's statistics."""

    def set_amaf(self, role: int, statistics: Statistics) -> None:
        """Write the AMAF values of the root, for the moves that are legal there."""

    def amaf(self, role: int) -> dict[Move, tuple[float, float]]:
        """The root's AMAF statistics of a role, where there are any."""

    def set_mast(self, role: int, statistics: Statistics) -> None:
        """Write MAST's statistics (goals in [0, 100]) of the moves that are legal at the root."""

    def mast(self, role: int) -> dict[Move, tuple[float, float]]:
        """MAST's statistics of a role's moves that were played."""

    def select(self) -> tuple[int, ...]:
        """Make one simulation; the places of the moves that the roles selected at the root."""


class NativeBench:
    """`Bench` of the native search."""

    def __init__(self, game: str, **settings: Value) -> None:
        self.search = native(game, **{**SEQUENTIAL, "amaf_from": 1, **settings})
        self._span = self.search._game.layout.span

    def set_root(self, visits: int, *roles: Statistics) -> None:
        """See `Bench`."""
        if self._root["stats"] == NO_BLOCK:
            self.search.simulate(1)
        self._root["visits"] = visits
        scanned, entries, _ = statistics(self.search._tree, self.search._root)
        pairs = [pair for role in roles for pair in role]
        count = len(entries)
        assert len(pairs) == count
        tries = np.array([n for n, _ in pairs])
        totals = np.array([total for _, total in pairs])
        entries["total"], entries["visits"] = totals, tries
        mean = np.divide(totals, tries, out=np.zeros(count), where=tries > 0)
        spread = np.divide(1.0, np.sqrt(tries), out=np.zeros(count), where=tries > 0)
        scanned[MEAN], scanned[INVERSE_ROOT] = mean, spread

    def set_amaf(self, role: int, statistics: Statistics) -> None:
        """See `Bench`."""
        for number, pair in zip(self._legal(role), statistics, strict=True):
            self._table()[number] = pair

    def amaf(self, role: int) -> dict[Move, tuple[float, float]]:
        """See `Bench`."""
        return self._named(role, self._table())

    def set_mast(self, role: int, statistics: Statistics) -> None:
        """See `Bench`."""
        for number, (count, total) in zip(self._legal(role), statistics, strict=True):
            self.search._arrays.history.sums[number] = count, total
            self.search._arrays.history.mean[number] = total / count if count else 100.0

    def mast(self, role: int) -> dict[Move, tuple[float, float]]:
        """See `Bench`."""
        return self._named(role, self.search._arrays.history.sums)

    def select(self) -> tuple[int, ...]:
        """See `Bench`."""
        self.search.simulate(1)
        picks = self.search._arrays.slots.path[0, 0, PICKS : PICKS + len(self._span) - 1]
        start = int(self._root["moves"]) * UNIT
        return tuple(int(p - self._words[start + role]) for role, p in enumerate(picks))

    @property
    def _root(self) -> np.void:
        record = self.search._tree.nodes[self.search._root]
        assert isinstance(record, np.void)
        return record

    @property
    def _words(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return self.search._tree.pool.words

    def _legal(self, role: int) -> list[int]:
        start, roles = int(self._root["moves"]) * UNIT, len(self.search._tree.best)
        low, high = self._words[start + role], self._words[start + role + 1]
        return list(self._words[start + roles + 1 + low : start + roles + 1 + high])

    def _table(self) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        start, size = int(self._root["amaf"]) * UNIT, int(self._root["amaf_words"])
        assert self._root["amaf"] != NO_BLOCK
        return self._words[start : start + size].view(np.float32).reshape(-1, 2)

    def _named(
        self, role: int, table: np.ndarray[tuple[int, ...], np.dtype[np.floating]]
    ) -> dict[Move, tuple[float, float]]:
        low, high = self._span[role : role + 2]
        names = self.search._game.moves[role]
        return {
            names[n - low]: (float(table[n][0]), float(table[n][1]))
            for n in range(low, high)
            if table[n][0] > 0
        }


class PlainBench:
    """`Bench` of the plain search."""

    def __init__(self, game: str, **settings: Value) -> None:
        self.search = plain(game, **{**SEQUENTIAL, "amaf_from": 1, **settings})
        for node in self.search._root.nodes:
            node.amaf = {} if settings.get("selection") == "grave" else None

    def set_root(self, visits: int, *roles: Statistics) -> None:
        """See `Bench`."""
        for node, pairs in zip(self.search._root.nodes, roles, strict=True):
            node.visits = visits
            node.statistics = [Average(*pair) for pair in pairs]

    def set_amaf(self, role: int, statistics: Statistics) -> None:
        """See `Bench`."""
        node = self.search._root.nodes[role]
        assert node.amaf is not None
        for move, pair in zip(node.moves, statistics, strict=True):
            if pair[0]:
                node.amaf[move] = Average(*pair)
            else:
                node.amaf.pop(move, None)

    def amaf(self, role: int) -> dict[Move, tuple[float, float]]:
        """See `Bench`."""
        table = self.search._root.nodes[role].amaf or {}
        return {move: (a.count, a.total) for move, a in table.items()}

    def set_mast(self, role: int, statistics: Statistics) -> None:
        """See `Bench`."""
        for move, pair in zip(self.search._root.nodes[role].moves, statistics, strict=True):
            if pair[0]:
                self.averages[role, move] = Average(*pair)

    def mast(self, role: int) -> dict[Move, tuple[float, float]]:
        """See `Bench`."""
        return {m: (a.count, a.total) for (r, m), a in self.averages.items() if r == role}

    @property
    def averages(self) -> dict[tuple[int, Move], Average]:
        """MAST's table."""
        return self.search.history.averages

    def select(self) -> tuple[int, ...]:
        """See `Bench`."""
        before = [[int(a.count) for a in role] for role in self._statistics()]
        search_on(self.search, simulations=self.search._simulations + 1)
        after = [[int(a.count) for a in role] for role in self._statistics()]
        grown = [
            [b - a for a, b in zip(*pair, strict=True)] for pair in zip(before, after, strict=True)
        ]
        return tuple(role.index(1) for role in grown)

    def _statistics(self) -> list[list[Average]]:
        return [node.statistics for node in self.search._root.nodes]


def picks(bench: Bench, visits: int, *roles: Statistics, times: int = 60) -> Counter[int]:
    """How often role 0 selects each of its moves at a root with these statistics."""
    counts: Counter[int] = Counter()
    for _ in range(times):
        bench.set_root(visits, *roles)
        counts[bench.select()[0]] += 1
    return counts
