"""Moves that win at once: what the rules say of the state behind each move, as gates of this one.

For a move of a role, the network's own gates are made again with the move made: those of `next`
over the move, then those of the role's best goal at the end over what `next` has become (cofactors
and composition, in the words of logic synthesis).  The answer is asked for only where the game is
not over and the move is legal, and what that says of fluents and gates is put in as constants: of
the lines that a stone might complete, those remain that go through its place, without the stone.
The other roles are taken to wait, by their only move without arguments (`noop`); so the answer
counts only where each of them has a single legal move.

What remains depends on fluents alone.  It is divided into the reasons why the game may be won, and
those that take the fewest gates are kept: a move whose literal holds does win, others may, too.
Which moves block those of others follows from that (`propnet.blocking_moves`).

Nothing is known in games for one role (exact search plays them), in games whose roles can't wait,
in games with positive cycles, and where it would take too long to find out.

Letters: F fluents, M moves of all roles, R roles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel
from propnet.blocking_moves import block_by_effect, block_namesakes, threats_of
from propnet.cofactors import UNKNOWN, assume, cone_of, fluents_in, remake
from propnet.dependencies import IntArray
from propnet.gates import EDGES, FALSE, NODES, TRUE, Gates, make_and, make_or, new_gates, rebuilt

MOST_EDGES_BEFORE = 200_000
"""Gate inputs of a network beyond which nobody asks."""
MOST_EDGES = 30_000
"""Gate inputs that winning moves may add to a network, at most."""
TIMES_EDGES = 4
"""Times as many as there were that they may be ..."""
FEW_EDGES = 2_000
"""... unless they are few."""
MOST_PER_MOVE = 400
"""Gate inputs that all reasons for one move to win may take together, if all take the same ..."""
FEW_PER_REASON = 50
"""... or those of a single one, where there are many."""
MOST_COST = 3_000_000
"""Gate inputs to look at, for all moves together, beyond which nobody goes on: some tenths
of a second."""
EDGES_PER_BLOCK = 3
"""Gate inputs that it takes to say that a move blocks another."""
ROOM = 40
"""Times as many gate inputs as there may be in the end are made on the way."""


class WinningMoves(NamedTuple):
    """Literals of moves in gates."""

    gates: Gates
    outputs: IntArray
    """what they have become there"""
    wins: IntArray
    """(M,) the move wins at once"""
    blocks: IntArray
    """(M,) it blocks a threat"""
    named_blocks: IntArray
    """(M,) it blocks one that is written like it"""
    blocked: IntArray
    """(M,) how many threats it may block"""


def most_edges(gates: Gates) -> int:
    """How many gate inputs winning moves may add."""
    return min(MOST_EDGES, max(FEW_EDGES, TIMES_EDGES * int(gates.size[EDGES])))


def with_winning_moves(
    gates: Gates,
    outputs: IntArray,
    fluents: int,
    terminal: int,
    best_goals: IntArray,
    waits: IntArray,
    names: IntArray,
) -> WinningMoves:
    """The gates with those of moves that win or block.

    `outputs` are next (F), legal (M), and others; `terminal` is the place of terminal among them,
    `best_goals` (R,) those of what each role wants most, -1 where it wants nothing.  `waits` (R,)
    are the nodes of the moves by which roles wait; `names` (M,) are numbers, the same for moves of
    different roles that are written alike.
    """
    room = ROOM * most_edges(gates)
    nodes, edges = int(gates.size[NODES]), int(gates.size[EDGES])
    new = new_gates(len(gates.group) - 1, gates.span, nodes + room // 2, edges + room)
    outputs = rebuilt(gates, new, outputs, False)
    following, first = outputs[:fluents], int(gates.span[0, 0])
    legal = outputs[fluents : fluents + int(gates.span[-1, 1]) - first]
    ends = outputs[terminal]
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    spent = np.zeros(1, np.int64)
    for role, place in enumerate(best_goals):
        if place >= 0:
            won = _won(new, ends, outputs[place])
            found.append(_reasons_of(new, following, legal, ends, won, waits, role, spent))
    if not found or spent[0] > MOST_COST:  # none rather than one role's alone
        return WinningMoves(new, outputs, *np.zeros((4, len(legal)), np.int32))
    moves, literals, costs = map(np.concatenate, zip(*found, strict=True))
    reasons = _cheapest(new, len(legal), moves, literals, costs, most_edges(gates))
    wins = _wins(new, legal, reasons, waits)
    blocked = np.zeros(len(legal), np.int32)
    named = block_namesakes(new, legal, reasons, names, blocked)
    threats = threats_of(new, legal, reasons, waits)
    blocks, most = named.copy(), most_edges(gates) // EDGES_PER_BLOCK
    if not block_by_effect(new, following, legal, threats, waits, blocks, blocked, most):
        blocks = named
    return WinningMoves(new, outputs, wins, blocks, named, blocked)


@allocating_kernel
def _reasons_of(
    gates: Gates,
    following: IntArray,
    legal: IntArray,
    terminal: int,
    won: int,
    waits: IntArray,
    role: int,
    spent: NDArray[np.int64],
) -> tuple[IntArray, IntArray, IntArray]:
    """Why a role's moves may win: moves, literals, and how many gate inputs these take."""
    low, high = gates.span[role]
    first_move, fluents, sources = gates.span[0, 0], len(following), len(gates.group)
    reasons = _disjuncts(gates, won)
    behind = cone_of(gates, reasons, sources)
    cones = [cone_of(gates, reasons[i : i + 1], sources) for i in range(len(reasons))]
    wanted = fluents_in(gates, behind, reasons, fluents)
    before = cone_of(gates, following[wanted], sources)
    nodes = gates.size[NODES]
    moves = np.empty((high - low) * len(reasons), np.int32)
    literals, costs = np.empty_like(moves), np.empty_like(moves)
    reads = [fluents_in(gates, cones[i], reasons[i : i + 1], fluents) for i in range(len(cones))]
    found, most = 0, max(FEW_PER_REASON, MOST_PER_MOVE // max(1, len(reasons)))
    not_over = np.full(nodes, UNKNOWN, np.int32)
    assume(gates, not_over, terminal ^ 1)
    now, then = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    changed, differs = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    differs[first_move : first_move + len(legal)] = True
    for move in range(low, high):
        if legal[move - first_move] == FALSE:
            continue
        known = not_over.copy()
        for other in range(len(waits)):
            made = move if other == role else waits[other]
            now[gates.span[other, 0] : gates.span[other, 1]] = FALSE
            now[made] = TRUE
            assume(gates, known, legal[made - first_move])
        for node in range(1 + fluents):
            now[node] = known[node] if known[node] != UNKNOWN else 2 * node
        cost = remake(gates, before, now, differs, known, False)
        spent[0] += cost if cost >= 0 else MOST_COST
        if spent[0] > MOST_COST:
            break
        for fluent in wanted:
            node, literal = 1 + fluent, following[fluent]
            then[node] = now[literal >> 1] ^ (literal & 1)
            changed[node] = then[node] != 2 * node and then[node] != known[node]
        for i, reason in enumerate(reasons):
            size = gates.size[EDGES]
            if not changed[1 + reads[i]].any():
                continue
            cost = remake(gates, cones[i], then, changed, known, True)
            spent[0] += cost if cost >= 0 else MOST_COST
            if spent[0] > MOST_COST:
                break
            literal, cost = then[reason >> 1] ^ (reason & 1), gates.size[EDGES] - size
            if changed[reason >> 1] and literal != FALSE and cost <= most:
                moves[found], literals[found] = move - first_move, literal
                costs[found] = cost
                found += 1
    return moves[:found], literals[:found], costs[:found]


@allocating_kernel
def _cheapest(
    gates: Gates, count: int, moves: IntArray, literals: IntArray, costs: IntArray, most: int
) -> IntArray:
    """(M,) for every move that one of its reasons to win holds, of those that take the least."""
    reasons = np.zeros(count, np.int32)
    total = 0
    for k in np.argsort(costs, kind="mergesort"):
        total += costs[k]
        if total > most:
            break
        either = np.array([reasons[moves[k]], literals[k]], np.int32)
        reasons[moves[k]] = make_or(gates, either, 2)
    return reasons


@allocating_kernel
def _wins(gates: Gates, legal: IntArray, reasons: IntArray, waits: IntArray) -> IntArray:
    """(M,) for every move that it is legal, others may wait, and there is a reason to win."""
    wins, first_move = np.zeros(len(legal), np.int32), gates.span[0, 0]
    for role in range(len(waits)):
        for move in range(gates.span[role, 0] - first_move, gates.span[role, 1] - first_move):
            conditions = np.full(len(waits) + 1, TRUE, np.int32)
            for other in range(len(waits)):
                if other != role:
                    conditions[other] = legal[waits[other] - first_move]
            conditions[role], conditions[-1] = legal[move], reasons[move]
            wins[move] = make_and(gates, conditions, len(conditions))
    return wins


@allocating_kernel
def _won(gates: Gates, terminal: int, goal: int) -> int:
    """Terminal and goal; the goal alone where it can't hold before the end."""
    nodes, sources = gates.size[NODES], len(gates.group)
    known = np.full(nodes, UNKNOWN, np.int32)
    assume(gates, known, terminal ^ 1)
    literal_of = np.where(known != UNKNOWN, known, 2 * np.arange(nodes)).astype(np.int32)
    cone = cone_of(gates, np.array([goal], np.int32), sources)
    made = remake(gates, cone, literal_of, np.zeros(nodes, np.bool_), known, False)
    if made >= 0 and literal_of[goal >> 1] ^ (goal & 1) == FALSE:
        return goal
    return make_and(gates, np.array([terminal, goal], np.int32), 2)


@allocating_kernel
def _disjuncts(gates: Gates, literal: int) -> IntArray:
    """The literals of which one has to hold for this one to hold."""
    found, stack = [literal], [literal]
    found.clear()
    while len(stack) > 0:
        one = stack.pop()
        low, high = gates.first[one >> 1], gates.first[(one >> 1) + 1]
        if one & 1 and low < high:
            for i in range(low, high):
                stack.append(gates.inputs[i] ^ 1)
        else:
            found.append(one)
    return np.array(found, np.int32)
