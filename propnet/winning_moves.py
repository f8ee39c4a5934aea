"""Moves that win at once: what the rules say of the state behind each move, as gates of this one.

For a move of a role, the network's own gates are made again with the move made: those of `next`
over the move, then those of the role's best goal at the end over what `next` has become (cofactors
and composition, in the words of logic synthesis).  The answer is asked for only where the game is
not over and the move is legal, and what that says of fluents and gates is put in as constants: of
the lines that a stone might complete, those remain that go through its place, without the stone.
The other roles are taken to wait, by their only move without arguments (`noop`), or where they have
no such move to make those that are legal for them; so the answer counts only where each of them has
a single legal move.

What remains depends on fluents alone.  It is divided into the reasons why the game may be won, and
those that take the fewest gates are kept: a move whose literal holds does win, others may, too.
A move blocks a threat, which is a move that would win were it another role's turn, if it takes away
what makes that one legal (the piece that would reach its goal), or is written like it (the place of
a line's last stone).

Nothing is known in games for one role (exact search plays them), in games with positive cycles, and
where it would take too long to find out.

Letters: F fluents, M moves of all roles, R roles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel
from propnet.dependencies import IntArray
from propnet.gates import (
    EDGES,
    FALSE,
    NODES,
    TRUE,
    Gates,
    make_and,
    make_or,
    new_gates,
    rebuilt,
)

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
MOST_STEPS = 100_000_000
"""Gates to look at, for all moves together, beyond which nobody tries."""
ROOM = 40
"""Times as many gate inputs as there may be in the end are made on the way."""
UNKNOWN = -1


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
    are the nodes of the moves by which roles wait, -1 where there is none; `names` (M,)
    are numbers, the same for moves of different roles that are written alike.
    """
    room = ROOM * most_edges(gates)
    nodes, edges = int(gates.size[NODES]), int(gates.size[EDGES])
    new = new_gates(len(gates.group) - 1, gates.span, nodes + room // 2, edges + room)
    outputs = rebuilt(gates, new, outputs, False)
    following, first = outputs[:fluents], int(gates.span[0, 0])
    legal = outputs[fluents : fluents + int(gates.span[-1, 1]) - first]
    ends = outputs[terminal]
    moves, literals, costs = [], [], []
    steps = np.zeros(1, np.int64)
    for role, place in enumerate(best_goals):
        if place >= 0:
            won = _won(new, ends, outputs[place])
            found = _reasons_of(new, following, legal, ends, won, waits, role, steps)
            for some, parts in zip((moves, literals, costs), found, strict=True):
                some.append(parts)
    if not moves:
        return WinningMoves(new, outputs, *np.zeros((4, len(legal)), np.int32))
    reasons = _cheapest(
        new,
        len(legal),
        np.concatenate(moves),
        np.concatenate(literals),
        np.concatenate(costs),
        most_edges(gates),
    )
    wins = _wins(new, legal, reasons, waits)
    blocks, blocked = np.zeros((2, len(legal)), np.int32)
    named = blocks
    if wins.any() and (waits >= 0).all():
        named = _block_namesakes(new, legal, reasons, names, blocked)
        threats = _threats(new, legal, reasons, waits)
        blocks = named.copy()
        _block_by_effect(new, following, legal, threats, waits, blocks, blocked)
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
    steps: NDArray[np.int64],
) -> tuple[IntArray, IntArray, IntArray]:
    """Why a role's moves may win: moves, literals, and how many gate inputs these take."""
    low, high = gates.span[role]
    first_move, fluents, sources = gates.span[0, 0], len(following), len(gates.group)
    reasons = _disjuncts(gates, won)
    behind = _cone(gates, reasons, sources)
    cones = [_cone(gates, reasons[i : i + 1], sources) for i in range(len(reasons))]
    wanted = _fluents_in(gates, behind, reasons, fluents)
    before = _cone(gates, following[wanted], sources)
    nodes = gates.size[NODES]
    moves = np.empty((high - low) * len(reasons), np.int32)
    literals, costs = np.empty_like(moves), np.empty_like(moves)
    found, most = 0, max(FEW_PER_REASON, MOST_PER_MOVE // max(1, len(reasons)))
    not_over = np.full(nodes, UNKNOWN, np.int32)
    _assume(gates, not_over, terminal ^ 1)
    now, then = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    changed, differs = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    differs[first_move : first_move + len(legal)] = True
    for move in range(low, high):
        steps[0] += len(before) + len(behind) + nodes
        if steps[0] > MOST_STEPS:
            break
        if legal[move - first_move] == FALSE:
            continue
        known = not_over.copy()
        _assume(gates, known, legal[move - first_move])
        for other in range(len(waits)):
            made = move if other == role else waits[other]
            first, last = gates.span[other]
            if made < 0:
                now[first:last] = legal[first - first_move : last - first_move]
            else:
                now[first:last] = FALSE
                now[made] = TRUE
                _assume(gates, known, legal[made - first_move])
        for node in range(1 + fluents):
            now[node] = known[node] if known[node] != UNKNOWN else 2 * node
        if not _map(gates, before, now, differs, known, False):
            break
        for fluent in wanted:
            node, literal = 1 + fluent, following[fluent]
            then[node] = now[literal >> 1] ^ (literal & 1)
            changed[node] = then[node] != 2 * node and then[node] != known[node]
        for i, reason in enumerate(reasons):
            size = gates.size[EDGES]
            if not _map(gates, cones[i], then, changed, known, True):
                return moves[:found], literals[:found], costs[:found]
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
                if other != role and waits[other] >= 0:
                    conditions[other] = legal[waits[other] - first_move]
            conditions[role], conditions[-1] = legal[move], reasons[move]
            wins[move] = make_and(gates, conditions, len(conditions))
    return wins


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
def _threats(gates: Gates, legal: IntArray, reasons: IntArray, waits: IntArray) -> IntArray:
    """(M,) for every move that it would win, were it its role's turn."""
    threats, first_move = np.zeros(len(legal), np.int32), gates.span[0, 0]
    for role in range(len(waits)):
        first, last = gates.span[role, 0] - first_move, gates.span[role, 1] - first_move
        turn = _turn(gates, legal, first, last, waits[role] - first_move)
        nodes = gates.size[NODES]
        known, same = np.full(nodes, UNKNOWN, np.int32), np.zeros(nodes, np.bool_)
        for literal in turn:
            _assume(gates, known, literal)
        own = np.where(known != UNKNOWN, known, 2 * np.arange(nodes)).astype(np.int32)
        for move in range(first, last):
            if len(turn) > 0 and reasons[move] != FALSE:
                cone = _cone(gates, legal[move : move + 1], len(gates.group))
                if not _map(gates, cone[cone < nodes], own, same, known, False):
                    return threats
                may = own[legal[move] >> 1] ^ (legal[move] & 1)
                threats[move] = make_and(gates, np.array([may, reasons[move]], np.int32), 2)
    return threats


@allocating_kernel
def _block_namesakes(
    gates: Gates, legal: IntArray, reasons: IntArray, names: IntArray, blocked: IntArray
) -> IntArray:
    """(M,) for every move that it is legal, and a move that is written like it has reasons to win."""
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
def _block_by_effect(
    gates: Gates,
    following: IntArray,
    legal: IntArray,
    threats: IntArray,
    waits: IntArray,
    blocks: IntArray,
    blocked: IntArray,
) -> None:
    """Add to `blocks` that a move takes away what a threat needs."""
    fluents, first_move, sources = len(following), gates.span[0, 0], len(gates.group)
    nodes = gates.size[NODES]
    which = np.flatnonzero(threats)
    needs = np.full((len(which), 1 + fluents), UNKNOWN, np.int32)
    for k in range(len(which)):
        known = np.full(nodes, UNKNOWN, np.int32)
        _assume(gates, known, threats[which[k]])
        needs[k] = known[: 1 + fluents]
    wanted = (np.flatnonzero((needs[:, 1:] != UNKNOWN).sum(axis=0))).astype(np.int32)
    before = _cone(gates, following[wanted], sources)
    now, differs = np.empty(nodes, np.int32), np.zeros(nodes, np.bool_)
    differs[first_move : first_move + len(legal)] = True
    for role in range(len(waits)):
        for move in range(gates.span[role, 0], gates.span[role, 1]):
            answer = move - first_move
            if legal[answer] == FALSE or move == waits[role]:
                continue
            known = np.full(nodes, UNKNOWN, np.int32)
            _assume(gates, known, legal[answer])
            for node in range(1 + fluents):
                now[node] = known[node] if known[node] != UNKNOWN else 2 * node
            now[first_move : first_move + len(legal)] = FALSE
            for other in range(len(waits)):
                now[move if other == role else waits[other]] = TRUE
            if not _map(gates, before, now, differs, known, False):
                return
            for k in range(len(which)):
                threat = which[k]
                if gates.span[role, 0] <= threat + first_move < gates.span[role, 1]:
                    continue
                takes_away, both_may_be = False, True
                for fluent in wanted:
                    literal = now[following[fluent] >> 1] ^ (following[fluent] & 1)
                    need = needs[k, 1 + fluent]
                    takes_away |= literal <= TRUE and literal ^ 1 == need
                    both_may_be &= need == UNKNOWN or known[1 + fluent] != need ^ 1
                if takes_away and both_may_be:
                    both = np.array([legal[answer], threats[threat]], np.int32)
                    either = np.array([blocks[answer], make_and(gates, both, 2)], np.int32)
                    blocks[answer] = make_or(gates, either, 2)
                    blocked[answer] += 1


@allocating_kernel
def _won(gates: Gates, terminal: int, goal: int) -> int:
    """Terminal and goal; the goal alone where it can't hold before the end."""
    nodes, sources = gates.size[NODES], len(gates.group)
    known = np.full(nodes, UNKNOWN, np.int32)
    _assume(gates, known, terminal ^ 1)
    literal_of = np.where(known != UNKNOWN, known, 2 * np.arange(nodes)).astype(np.int32)
    cone = _cone(gates, np.array([goal], np.int32), sources)
    if _map(gates, cone, literal_of, np.zeros(nodes, np.bool_), known, False):
        if literal_of[goal >> 1] ^ (goal & 1) == FALSE:
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


@allocating_kernel
def _assume(gates: Gates, known: IntArray, literal: int) -> None:
    """Note what follows for nodes if a literal holds: TRUE or FALSE."""
    stack = [literal]
    while len(stack) > 0:
        one = stack.pop()
        known[one >> 1] = FALSE if one & 1 else TRUE
        if not one & 1:
            for i in range(gates.first[one >> 1], gates.first[(one >> 1) + 1]):
                stack.append(gates.inputs[i])


@allocating_kernel
def _cone(gates: Gates, literals: IntArray, sources: int) -> IntArray:
    """The gates that literals depend on, inputs first."""
    needed = np.zeros(gates.size[NODES], np.bool_)
    for literal in literals:
        needed[literal >> 1] = True
    for node in range(gates.size[NODES] - 1, sources - 1, -1):
        if needed[node]:
            for i in range(gates.first[node], gates.first[node + 1]):
                needed[gates.inputs[i] >> 1] = True
    needed[:sources] = False
    return np.flatnonzero(needed).astype(np.int32)


@allocating_kernel
def _fluents_in(gates: Gates, cone: IntArray, literals: IntArray, fluents: int) -> IntArray:
    """The fluents that the gates of a cone read, or literals are."""
    found = np.zeros(1 + fluents, np.bool_)
    for literal in literals:
        if literal >> 1 <= fluents:
            found[literal >> 1] = True
    for node in cone:
        for i in range(gates.first[node], gates.first[node + 1]):
            if gates.inputs[i] >> 1 <= fluents:
                found[gates.inputs[i] >> 1] = True
    return (np.flatnonzero(found[1:])).astype(np.int32)


@allocating_kernel
def _map(
    gates: Gates,
    cone: IntArray,
    literal_of: IntArray,
    changed: NDArray[np.bool_],
    known: IntArray,
    reduces: bool,
) -> bool:
    """Make the gates of a cone again over what their inputs have become; False without room.

    What has not changed is what it is in the present state, and that may be known.  With
    `reduces`: a conjunction that is false now, and of whose inputs a single one has changed, to
    "itself or something else", holds by that something else alone.
    """
    literals = np.empty(4096, np.int32)
    for node in cone:
        low, high = gates.first[node], gates.first[node + 1]
        differing, last, same = 0, 0, True
        for i in range(low, high):
            child = gates.inputs[i] >> 1
            same &= literal_of[child] == 2 * child
            if changed[child]:
                differing += 1
                last = i
        changed[node] = differing > 0
        if differing == 0 and (same or known[node] != UNKNOWN):
            literal_of[node] = known[node] if known[node] != UNKNOWN else 2 * node
            continue
        if 2 * (high - low) > len(literals):
            literals = np.empty(4 * (high - low), np.int32)
        for i in range(low, high):
            literals[i - low] = literal_of[gates.inputs[i] >> 1] ^ (gates.inputs[i] & 1)
        # a conjunction may bring a complement of moves along, no longer than itself
        if gates.size[EDGES] + 4 * (high - low) + 4096 > len(gates.inputs):
            return False
        if reduces and differing == 1 and known[node] == FALSE:
            literals[last - low] = _without(gates, literals[last - low], gates.inputs[last])
        literal_of[node] = make_and(gates, literals, high - low)
    return True


@allocating_kernel
def _without(gates: Gates, literal: int, disjunct: int) -> int:
    """A disjunction without one of its literals, if it is one."""
    low, high = gates.first[literal >> 1], gates.first[(literal >> 1) + 1]
    if not literal & 1 or high - low > 2000:
        return literal
    others = np.empty(high - low, np.int32)
    count = 0
    for i in range(low, high):
        if gates.inputs[i] != disjunct ^ 1:
            others[count] = gates.inputs[i] ^ 1
            count += 1
    if count == high - low:
        return literal
    return make_or(gates, others, count)
