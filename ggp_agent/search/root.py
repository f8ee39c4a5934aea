"""What a tree knows of a role's moves at its root."""

from __future__ import annotations

from dataclasses import replace

from forward_model.compiled import CompiledModel
from ggp_agent.search.blocks import statistics
from ggp_agent.search.edges import follow
from ggp_agent.search.final import RootMove
from ggp_agent.search.memory import NO_BLOCK, UNIT
from ggp_agent.search.tree import NO_NODE, TERMINAL, Tree


def root_moves(
    tree: Tree, game: CompiledModel, root: int, role: int, solves: bool
) -> list[RootMove]:
    """A role's moves at the root, with what is proven of them where the search `solves`."""
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
    for entry, move in zip(statistics(tree, root)[1][low:high], moves, strict=True):
        child = int(follow(tree, int(entry["child"]))) if record["mover"] == role else NO_NODE
        if child != NO_NODE and solves:
            bounds = tree.scores[child, role].tolist()
            ends = bool(tree.nodes[child]["kind"] == TERMINAL)
            move = replace(move, low=bounds[0], high=bounds[1], ends=ends)
        known.append(replace(move, visits=int(entry["visits"]), total=float(entry["total"])))
    return known
