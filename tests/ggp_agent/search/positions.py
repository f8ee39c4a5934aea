"""Games and positions for the search tests, and a tree taken apart into plain Python values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

from gdl.rules import RuleSheet, read_term
from gdl.state_machine import State
from ggp_agent.library import find_game
from ggp_agent.agents import Agent
from ggp_agent.parameters import Value
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.tree import NO_NODE, NODES, OPEN, TERMINAL, Tree
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
    return NativeSearch(machine_of(game).network, role, agent(**settings), seed)


def plain(game: str, role: int = 0, seed: int = 1, **settings: Value) -> PlainSearch:
    """A plain search at the initial state of a game."""
    return PlainSearch(machine_of(game), role, agent(**settings), seed)


def search_on(search: NativeSearch | PlainSearch, state: State | None = None) -> None:
    """Let a search use up its budget of simulations, from a state if one is given."""
    if state is not None:
        search.enter(state, None)
    search.think(time.monotonic() + GUARD, lambda: False)


def position(game: str, fluents: str) -> State:
    """The state in which exactly these fluents are true, as KIF."""
    term = read_term(f"(list {fluents})")
    return machine_of(game).state_from(term[1:])


@dataclass(frozen=True)
class Node:
    """What a tree knows of a node; `entries` has (move, tries, reward) per role."""

    state: bytes
    kind: int
    visits: int
    goals: tuple[int, ...]
    entries: tuple[tuple[tuple[int, int, float], ...], ...]


Path = tuple[int, ...]
"""The hashes of the joint moves that lead from the root to a node."""


def nodes_of(tree: Tree) -> dict[Path, Node]:
    """All nodes of a tree by their path; walks up the parents, doesn't use the hash table."""
    count = int(tree.size[NODES])
    paths = [_path(tree, node) for node in range(count)]
    assert len(set(paths)) == count, "two nodes have the same path"
    return {paths[node]: _node(tree, node) for node in range(count)}


def _path(tree: Tree, node: int) -> Path:
    path: list[int] = []
    while tree.parent[node] != NO_NODE:
        assert tree.parent[node] < node, "a parent must come before its children"
        path.insert(0, int(tree.joint[node]))
        node = int(tree.parent[node])
    assert node == 0, "a node hangs in the air"
    return tuple(path)


def _node(tree: Tree, node: int) -> Node:
    kind = int(tree.kind[node])
    roles = tree.goals.shape[1]
    entries: list[tuple[tuple[int, int, float], ...]] = []
    for role in range(roles if kind == OPEN else 0):
        low, high = tree.first[node, role : role + 2].tolist()
        statistics = (tree.move[low:high], tree.tries[low:high], tree.reward[low:high])
        entries.append(tuple(zip(*(values.tolist() for values in statistics), strict=True)))
    goals = tuple(tree.goals[node].tolist()) if kind == TERMINAL else ()
    return Node(tree.state[node].tobytes(), kind, int(tree.visits[node]), goals, tuple(entries))
