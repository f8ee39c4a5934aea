"""Games and positions for the search tests, and a tree taken apart into plain Python values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from gdl.rules import RuleSheet, read_term
from gdl.state_machine import Move, State
from ggp_agent.agents import Agent
from ggp_agent.library.games import find_game
from ggp_agent.parameters import Value
from ggp_agent.search.blocks import statistics
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.tree import FRESH, TERMINAL, UNUSED, USED
from propnet.machine import PropnetStateMachine

GUARD = 600.0
"""Seconds that end a search which should have ended by itself."""

SEQUENTIAL: dict[str, int] = {"in_flight": 1, "playouts": 1, "memory": 16}
"""The sequential algorithm, in little memory."""


@cache
def machine_of(game: str) -> PropnetStateMachine:
    """The propnet of a game of the library, or of a rule sheet."""
    sheet = RuleSheet.from_text(game) if "(" in game else find_game(game).rule_sheet()
    return PropnetStateMachine.from_rules(sheet)


def agent(**settings: Value) -> Agent:
    """An agent with these settings, in little memory unless they say otherwise."""
    return Agent("test", "", {"memory": 16, **settings})


def native(game: str, role: int = 0, seed: int = 1, **settings: Value) -> NativeSearch:
    """A native search at the initial state of a game."""
    return NativeSearch(machine_of(game).compiled, role, agent(**settings), seed)


def plain(game: str, role: int = 0, seed: int = 1, **settings: Value) -> PlainSearch:
    """A plain search at the initial state of a game."""
    return PlainSearch(machine_of(game), role, agent(**settings), seed)


def search_on(
    search: NativeSearch | PlainSearch, state: State | None = None, simulations: int = 0
) -> None:
    """Let a search use up its budget of simulations, from a state if one is given."""
    if state is not None:
        search.enter(state, None)
    if simulations:
        search._agent = search._agent.with_settings([f"simulations={simulations}"])
    search.think(time.monotonic() + GUARD, lambda: False)


def position(game: str, fluents: str) -> State:
    """The state in which exactly these fluents are true, as KIF."""
    term = read_term(f"(list {fluents})")
    return machine_of(game).state_from(term[1:])


@dataclass(frozen=True)
class Node:
    """What a tree knows of a node; `entries` has (move, tries, sum of rewards) per role."""

    kind: int
    visits: int
    goals: tuple[int, ...]
    entries: tuple[tuple[tuple[Move, int, float], ...], ...]


def nodes_of(search: NativeSearch) -> dict[State, Node]:
    """All nodes of a native search by their state, read without its kernels."""
    tree = search._tree
    used = np.flatnonzero(tree.nodes["kind"][: int(tree.counters[FRESH])] != UNUSED)
    nodes = {tree.states[n].tobytes(): _node(search, int(n)) for n in used}
    assert len(nodes) == len(used) == tree.counters[USED], "two nodes have the same state"
    return nodes


def root_of(search: NativeSearch) -> Node:
    """The node of the present state."""
    return _node(search, search._root)


def _node(search: NativeSearch, number: int) -> Node:
    tree, game = search._tree, search._game
    record, words = tree.nodes[number], tree.pool.words
    kind, roles = int(record["kind"]), len(tree.best)
    entries: list[tuple[tuple[Move, int, float], ...]] = []
    if kind != TERMINAL:
        start = int(record["moves"]) * UNIT
        for role in range(roles):
            low, high = words[start + role], words[start + role + 1]
            numbers = words[start + roles + 1 + low : start + roles + 1 + high]
            moves = [game.moves[role][n - game.layout.span[role]] for n in numbers]
            tries, totals = [0] * len(moves), [0.0] * len(moves)
            if record["stats"] != NO_BLOCK:
                known = statistics(tree, number)[1][low:high]
                tries, totals = known["visits"].tolist(), known["total"].tolist()
            entries.append(tuple(zip(moves, tries, totals, strict=True)))
    goals = tuple(tree.scores[number, :, 0].tolist()) if kind == TERMINAL else ()
    return Node(kind, int(record["visits"]), goals, tuple(entries))
