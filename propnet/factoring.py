"""From ground rules to gates, with common literals factored out.

An atom holds where one of its rules' bodies does: a sum of products.  Taken literally that is one
gate a rule; but the rules of a game repeat themselves ("the cell keeps its piece if white moves
elsewhere", once per white move).  So the literal that occurs in most products is taken out,
a·b + a·c + d = a·(b + c) + d, and the two parts are treated alike (algebraic "quick" factoring:
R. Brayton, C. McMullen, "The decomposition and factorization of Boolean expressions", 1982).

Atoms are treated in an order in which each comes after those it depends on, but for cut cycles
(`propnet.dependencies`).
"""

from __future__ import annotations

import numpy as np

from gdl.kernel_cache import allocating_kernel
from propnet.dependencies import IntArray
from propnet.gates import FALSE, TRUE, Gates, make_and, make_or


@allocating_kernel
def _count(
    low: IntArray, high: IntArray, pool: IntArray, first: int, last: int, count: IntArray,
    seen: IntArray, free: int,
) -> int:  # fmt: skip
    """Count in how many of the products first..last-1 each literal is; put the literals on `seen`.

    Returns the new end of the stack `seen`.
    """
    for product in range(first, last):
        for i in range(low[product], high[product]):
            if count[pool[i]] == 0:
                seen[free] = pool[i]
                free += 1
            count[pool[i]] += 1
    return free


@allocating_kernel
def _most_frequent(count: IntArray, seen: IntArray, first: int, last: int) -> int:
    """The literal of `seen[first:last]` in most products, or -1 where none is in two."""
    best, most = -1, 1
    for i in range(first, last):
        if count[seen[i]] > most:
            best, most = seen[i], count[seen[i]]
    return best


@allocating_kernel
def _divide(
    low: IntArray, high: IntArray, pool: IntArray, first: int, last: int, factor: int,
    count: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Split products first..last-1 by a factor: new ends of the rest and of the quotient.

    The products without the factor are moved to the front, first..rest-1; copies of the others,
    less the factor, are put on the stack, last..quotient-1, and are no longer counted.
    """
    free = 0
    for product in range(first, last):
        free = max(free, high[product])
    rest, quotient = first, last
    for product in range(first, last):
        start, holds = free, False
        for i in range(low[product], high[product]):
            if pool[i] == factor:
                holds = True
            else:
                pool[free] = pool[i]
                free += 1
        if holds:
            for i in range(low[product], high[product]):
                count[pool[i]] -= 1
            low[quotient], high[quotient] = start, free
            quotient += 1
        else:
            free = start
            low[rest], high[rest] = low[product], high[product]
            rest += 1
    return rest, quotient


@allocating_kernel
def _sum_of_products(
    gates: Gates, low: IntArray, high: IntArray, pool: IntArray, products: int, count: IntArray
) -> int:
    """The literal of the sum of the first products; the arrays' rest is used as a stack.

    Each frame of the stack is a sum that is being factored: its products, the literals in them and
    their counts, the factor that was last taken out of it, and the terms that it already has.
    `count` (frames, literals) is all zeros before and after.
    """
    frames = len(low) // max(products, 1) + 1
    first, last = np.zeros(frames, np.int32), np.zeros(frames, np.int32)
    factors, own_terms = np.zeros(frames, np.int32), np.zeros(frames, np.int32)
    own_seen, seen = np.zeros(frames + 1, np.int32), np.empty(len(pool), np.int32)
    terms = np.empty(len(low), np.int32)
    pair = np.empty(2, np.int32)
    depth, term_count = 0, 0
    last[0] = products
    own_seen[1] = _count(low, high, pool, 0, products, count[0], seen, 0)
    while True:
        factor = _most_frequent(count[depth], seen, own_seen[depth], own_seen[depth + 1])
        if factor >= 0:
            rest, quotient = _divide(
                low, high, pool, first[depth], last[depth], factor, count[depth]
            )
            factors[depth] = factor
            first[depth + 1], last[depth + 1] = last[depth], quotient
            last[depth] = rest
            own_terms[depth + 1] = term_count
            depth += 1
            own_seen[depth + 1] = _count(
                low, high, pool, first[depth], last[depth], count[depth], seen, own_seen[depth]
            )
            continue
        for product in range(first[depth], last[depth]):
            literals = pool[low[product] : high[product]].copy()
            terms[term_count] = make_and(gates, literals, len(literals))
            term_count += 1
        for i in range(own_seen[depth], own_seen[depth + 1]):
            count[depth, seen[i]] = 0
        start = own_terms[depth]
        result = make_or(gates, terms[start:term_count], term_count - start)
        if depth == 0:
            return result
        depth -= 1
        pair[0], pair[1] = factors[depth], result
        terms[start] = make_and(gates, pair, 2)
        term_count = start + 1


@allocating_kernel
def build(
    gates: Gates,
    literal_of: IntArray,
    order: IntArray,
    rule_first: IntArray,
    rules: IntArray,
    offsets: IntArray,
    bodies: IntArray,
) -> IntArray:
    """Make the gates of all atoms of `order`; `driver[a]` is what atom a's rules give.

    `literal_of` (atoms,) has the literals of sources (and of cut atoms, their feedback source);
    those of the other atoms are filled in.
    """
    driver = literal_of.copy()
    most = 0
    for rule in range(len(offsets) - 1):
        most = max(most, offsets[rule + 1] - offsets[rule])
    frames = most + 2
    count = np.zeros((frames, 2 * len(gates.first)), np.int32)
    for atom in order:
        products = rule_first[atom + 1] - rule_first[atom]
        literals, longest = 0, 0
        for k in range(rule_first[atom], rule_first[atom + 1]):
            length = offsets[rules[k] + 1] - offsets[rules[k]]
            literals += length
            longest = max(longest, length)
        low = np.empty(products * (longest + 2), np.int32)
        high = np.empty(products * (longest + 2), np.int32)
        pool = np.empty(literals * (longest + 2) + 1, np.int32)
        used, free, always = 0, 0, False
        for k in range(rule_first[atom], rule_first[atom + 1]):
            rule = rules[k]
            start, possible = free, True
            for i in range(offsets[rule], offsets[rule + 1]):
                literal = literal_of[abs(bodies[i])] ^ (1 if bodies[i] < 0 else 0)
                if literal == FALSE:
                    possible = False
                elif literal != TRUE:
                    pool[free] = literal
                    free += 1
            if not possible:
                free = start
            elif free == start:
                always = True
            else:
                low[used], high[used] = start, free
                used += 1
        if always:
            driver[atom] = TRUE
        elif used == 0:
            driver[atom] = FALSE
        else:
            driver[atom] = _sum_of_products(gates, low, high, pool, used, count)
        if literal_of[atom] < 0:
            literal_of[atom] = driver[atom]
    return driver
