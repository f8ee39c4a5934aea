"""How much room a search's tree gets, and how it is divided between nodes and their blocks."""

from __future__ import annotations

import numpy as np

from forward_model.compiled import CompiledModel
from ggp_agent.agents import Agent
from ggp_agent.search.memory import ORDERS, UNIT
from ggp_agent.search.nodes import make_room
from ggp_agent.search.proofs import note_proofs
from ggp_agent.search.scoring import GROUP
from ggp_agent.search.tree import (
    ENTRY,
    FRESH,
    MAX_NODES,
    MOST_SPARE,
    SHORT,
    SPARE,
    USED,
    Tree,
    bytes_per_node,
    new_tree,
)
from propnet.vectors import LANES

OPENED = 0.6
"""Share of nodes with statistics of their moves that the division of memory reckons with."""
WITH_AMAF = 0.06
"""Share of nodes with an AMAF table, likewise."""


def new_tree_for(game: CompiledModel, agent: Agent) -> Tree:
    """A tree that fits the agent's memory; the share of nodes and blocks is an estimate."""
    roles, words = len(game.moves), len(game.layout.initial)
    moves = len(game.layout.legal)
    usual = min(30 * roles, moves)
    block = 4 * (roles + GROUP + usual) + 4 * (ENTRY + 2) * usual * OPENED
    if agent["selection"] == "grave":
        block += 8 * moves * WITH_AMAF
    memory = int(agent.number("memory")) * 2**20
    evaluated = agent.number("minimax") > 0
    if evaluated:
        block += 4 * usual * OPENED
    fixed = bytes_per_node(words, roles, evaluated)
    per_node = fixed + (block + 4 * UNIT) * (1 + 1 / (4 * UNIT))
    most = min(MAX_NODES, int(agent.number("nodes")))
    nodes = max(2 * LANES, min(most, int(memory / per_node)))
    units = max(1024, (memory - nodes * fixed) // (4 * UNIT + 1))
    wanted = int(nodes * 4 * (block + 4 * UNIT) / (4 * UNIT))
    best = np.array([round(100 * reward) for reward in game.best_rewards], np.uint8)
    return new_tree(nodes, min(units, wanted + 4096), words, best, evaluated)


def bytes_in_use(tree: Tree) -> int:
    """The memory that nodes and blocks have taken so far."""
    units = len(tree.pool.order) - int(tree.pool.free[ORDERS])
    fixed = bytes_per_node(tree.states.shape[1], len(tree.best), len(tree.values) > 0)
    return int(tree.counters[FRESH]) * fixed + units * UNIT * 4


MUCH = 16
"""So many batches are to find room at once, where several threads have to stop for it."""


def is_short(tree: Tree, nodes: int) -> bool:
    """Whether there is less room than there has to be, as `lacks_room` says, but for Python."""
    counters, pool = tree.counters, tree.pool
    free = len(tree.nodes) - int(counters[USED])
    units = len(pool.order) >> (5 - int(counters[SPARE]))
    return free < nodes or pool.free[ORDERS] < units or counters[SHORT] > 0


def make_much_room(tree: Tree, root: int, nodes: int) -> None:
    """Recycle nodes for several batches of so many simulations; nobody may be at work."""
    counters = tree.counters
    if counters[SHORT] > 0:
        counters[SHORT] = 0
        counters[SPARE] = min(int(counters[SPARE]) + 1, MOST_SPARE)
    note_proofs(tree, root)  # nobody need have come by since something was proven of them
    make_room(tree, root, max(nodes, min(MUCH * nodes, len(tree.nodes) // 4)), 1)
