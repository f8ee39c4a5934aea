"""What a tree knows of its root: of a role's moves there, and of the way to the next one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from forward_model.compiled import CompiledModel
from gdl.state_machine import JointMove
from ggp_agent.agents import Agent
from ggp_agent.errors import SearchError
from ggp_agent.search.arrays import Arrays
from ggp_agent.search.blocks import statistics
from ggp_agent.search.edges import joint_with, slot_by_joint
from ggp_agent.search.expansion import open_root
from ggp_agent.search.final import RootMove
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.nodes import make_room
from ggp_agent.search.proofs import note_proofs, proven
from ggp_agent.search.strategies.implicit_minimax import faded_weight
from ggp_agent.search.tree import NO_NODE, SEVERAL, UNKNOWN, Tree, clear
from propnet.layout import Lanes, Layout


def root_node(layout: Layout, lanes: Lanes, tree: Tree, arrays: Arrays, state: bytes) -> int:
    """The node of a packed state, made if there is none.

    Raises `SearchError` if there is no room for it even in an empty tree.
    """
    for make_it_fit in (partial(make_room, tree, NO_NODE, 1, 0), partial(clear, tree), None):
        arrays.new.states[0] = np.frombuffer(state, np.uint64)
        root = int(open_root(layout, lanes, tree, arrays))
        if root != NO_NODE:
            break
        if make_it_fit is None:
            raise SearchError("the memory of the agent is too small for this game's moves")
        make_it_fit()
    return root


def root_moves(
    tree: Tree, game: CompiledModel, root: int, role: int, agent: Agent
) -> list[RootMove]:
    """A role's moves at the root, with what is proven of them where the agent has a solver."""
    solves, minimax = agent["solver"] == "on", agent.number("minimax")
    record, words = tree.nodes[root], tree.pool.words
    if record["moves"] == NO_BLOCK:
        return []
    start, roles = int(record["moves"]) * UNIT, len(tree.best)
    low, high = words[start + role], words[start + role + 1]
    names, first = game.moves[role], game.layout.span[role]
    numbers = words[start + roles + 1 + low : start + roles + 1 + high]
    moves = [RootMove(names[number - first], high=int(tree.best[role])) for number in numbers]
    if record["stats"] == NO_BLOCK:
        return moves
    known = []
    if solves:
        note_proofs(tree, root)
    proofs = proven(tree, root)[low:high] if solves and record["mover"] in (role, SEVERAL) else None
    of_moves = statistics(tree, root)
    for place, entry in enumerate(of_moves.entries[low:high]):
        move = replace(moves[place], visits=int(entry["visits"]), total=float(entry["total"]))
        value = float(of_moves.values[low + place]) if len(of_moves.values) else UNKNOWN
        if value >= 0:
            weight = faded_weight(minimax, move.visits, agent.number("minimax_visits"))
            move = replace(move, value=value, weight=weight)
        if proofs is not None:
            least, most, ends = proofs[place, role].tolist()
            move = replace(move, low=least, high=most, ends=bool(ends))
        known.append(move)
    return known


def bounds_after(
    tree: Tree, game: CompiledModel, root: int, joint_move: JointMove
) -> NDArray[np.uint8] | None:
    """What every role gets at least and at most (R, 2) after a joint move; None if not known."""
    record, words, roles = tree.nodes[root], tree.pool.words, len(tree.best)
    if record["stats"] == NO_BLOCK:
        return None
    start, joint, picks = int(record["moves"]) * UNIT, np.uint64(0), []
    for role, move in enumerate(joint_move):
        number = game.layout.span[role] + game.moves[role].index(move)
        low, high = words[start + role : start + role + 2].tolist()
        numbers = words[start + roles + 1 + low : start + roles + 1 + high].tolist()
        if number not in numbers:
            return None
        picks.append(low + numbers.index(number))
        with np.errstate(over="ignore"):
            joint = joint_with(joint, picks[-1])
    if record["mover"] == SEVERAL:
        slot = int(slot_by_joint(tree, root, joint))
        return None if slot == NO_NODE else tree.edge_scores[slot].copy()
    note_proofs(tree, root)
    return proven(tree, root)[picks[record["mover"]], :, :2].astype(np.uint8)
