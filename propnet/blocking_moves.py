"""Moves that block: that take away what a move of another role needs to win.

A *threat* is a move that would win at once were it its role's turn.  A move blocks it if behind the
move something that the threat needs is gone: the piece that would reach its goal was captured, the
place was taken.  A move blocks by its name alone if another role's move is written like it, and has
reasons to win: who drops a stone on a column takes the place of the other's.

Whether other threats remain is not asked, so this is advice for playouts, and proves nothing.

Letters as in `propnet.winning_moves`.
"""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import allocating_kernel
from propnet.cofactors import UNKNOWN, assume, cone_of, remake
from propnet.dependencies import IntArray
from propnet.gates import FALSE, NODES, TRUE, Gates, make_and, make_or


@allocating_kernel
def _turn(gates: Gates, legal: IntArray, first: int, last: int, wait: int) -> IntArray:
    """What all of a role's legal moves but waiting have in common: that it is its turn."""
    common, asked = np.zeros(2 * gates.size[NODES], np.int32), 0
    for move in range(first, last):
        literal = legal[move]
        if move != wait and literal != FALSE:
            asked += 1
            common[literal] += 1
            if not literal & 1:
                for i in range(gates.first[literal >> 1], gates.first[(literal >> 1) + 1]):
                    common[gates.inputs[i]] += 1
    return np.flatnonzero((common == asked) & (asked > 1)).astype(np.int32)


@allocating_kernel
def threats_of(gates: Gates, legal: IntArray, reasons: IntArray, waits: IntArray) -> IntArray:
    """(M,) for every move that it would win, were it its role's turn."""
    threats, first_move = np.zeros(len(legal), np.int32), gates.span[0, 0]
    for role in range(len(waits)):
        first, last = gates.span[role, 0] - first_move, gates.span[role, 1] - first_move
        turn = _turn(gates, legal, first, last, waits[role] - first_move)
        nodes = gates.size[NODES]
        known, same = np.full(nodes, UNKNOWN, np.int32), np.zeros(nodes, np.bool_)
        for literal in turn:
            assume(gates, known, literal)
        own = np.where(known != UNKNOWN, known, 2 * np.arange(nodes)).astype(np.int32)
        for move in range(first, last):
            if len(turn) > 0 and reasons[move] != FALSE:
                cone = cone_of(gates, legal[move : move + 1], len(gates.group))
                if remake(gates, cone[cone < nodes], own, same, known, False) < 0:
                    return threats
                may = own[legal[move] >> 1] ^ (legal[move] & 1)
                threats[move] = make_and(gates, np.array([may, reasons[move]], np.int32), 2)
    return threats


@allocating_kernel
def block_namesakes(
    gates: Gates, legal: IntArray, reasons: IntArray, names: IntArray, blocked: IntArray
) -> IntArray:
    """(M,) for every move that it is legal, and one that is written like it has reasons to win."""
    blocks = np.zeros(len(legal), np.int32)
    for move in range(len(legal)):
        for other in np.flatnonzero(names == names[move]):
            if other != move and reasons[other] != FALSE:
                both = np.array([legal[move], reasons[other]], np.int32)
                either = np.array([blocks[move], make_and(gates, both, 2)], np.int32)
                blocks[move] = make_or(gates, either, 2)
                blocked[move] += 1
    return blocks


@allocating_kernel
def block_by_effect(
    gates: Gates,
    following: IntArray,
    legal: IntArray,
    threats: IntArray,
    waits: IntArray,
    blocks: IntArray,
    blocked: IntArray,
    most: int,
) -> bool:
    """Add to `blocks` that a move takes away what a threat needs; False for more than `most`."""
    fluents, first_move, sources = len(following), gates.span[0, 0], len(gates.group)
    nodes, pairs = gates.size[NODES], 0
    which = np.flatnonzero(threats)
    needs = np.full((len(which), 1 + fluents), UNKNOWN, np.int32)
    for k in range(len(which)):
        known = np.full(nodes, UNKNOWN, np.int32)
        assume(gates, known, threats[which[k]])
        needs[k] = known[: 1 + fluents]
    wanted = (np.flatnonzero((needs[:, 1:] != UNKNOWN).sum(axis=0))).astype(np.int32)
    before = cone_of(gates, following[wanted], sources)
    effects, facts = np.empty((len(wanted), 2), np.int32), np.empty(len(wanted), np.int32)
    now, differs = np.empty(nodes, np.int32), np.zeros(nodes, np.bool_)
    differs[first_move : first_move + len(legal)] = True
    for role in range(len(waits)):
        for move in range(gates.span[role, 0], gates.span[role, 1]):
            answer = move - first_move
            if legal[answer] == FALSE or move == waits[role]:
                continue
            known = np.full(nodes, UNKNOWN, np.int32)
            assume(gates, known, legal[answer])
            for node in range(1 + fluents):
                now[node] = known[node] if known[node] != UNKNOWN else 2 * node
            now[first_move : first_move + len(legal)] = FALSE
            for other in range(len(waits)):
                now[move if other == role else waits[other]] = TRUE
            if remake(gates, before, now, differs, known, False) < 0:
                return False
            gone, held = 0, 0  # what the move changes, and what is known where it is legal
            for fluent in wanted:
                literal = now[following[fluent] >> 1] ^ (following[fluent] & 1)
                if literal <= TRUE and literal != known[1 + fluent]:
                    effects[gone, 0], effects[gone, 1] = 1 + fluent, literal
                    gone += 1
                if known[1 + fluent] != UNKNOWN:
                    facts[held] = 1 + fluent
                    held += 1
            for k in range(len(which)):
                threat = which[k]
                if gates.span[role, 0] <= threat + first_move < gates.span[role, 1]:
                    continue
                takes_away, both_may_be = False, True
                for i in range(gone):
                    takes_away |= needs[k, effects[i, 0]] == effects[i, 1] ^ 1
                for i in range(held):
                    need = needs[k, facts[i]]
                    both_may_be &= need == UNKNOWN or known[facts[i]] == need
                if takes_away and both_may_be:
                    both = np.array([legal[answer], threats[threat]], np.int32)
                    either = np.array([blocks[answer], make_and(gates, both, 2)], np.int32)
                    blocks[answer] = make_or(gates, either, 2)
                    blocked[answer] += 1
                    pairs += 1
                    if pairs > most:
                        return False
    return True
