"""What depends on what among a game's atoms: an order for computing them, cycles, negation.

Atoms are computed in an order in which each comes after those it depends on.  Where atoms depend on
each other, one of them is cut: a *feedback* source stands for it, which the simulator iterates from
false to the least fixpoint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.kernel_cache import allocating_kernel

IntArray = NDArray[np.int32]

UNSEEN, OPEN, CLOSED = 0, 1, 2


@allocating_kernel
def dependency_order(
    rule_first: IntArray,
    rules: IntArray,
    offsets: IntArray,
    bodies: IntArray,
    is_source: NDArray[np.bool_],
) -> tuple[IntArray, NDArray[np.bool_], IntArray]:
    """Atoms with rules in dependency order, which of them must be cut, and their components.

    `rules[rule_first[a]:rule_first[a + 1]]` are the rules of atom a.  Atoms that depend on each
    other share a component (atoms,), -1 for sources; a component's number is above those of the
    components it depends on (R. Tarjan, "Depth-first search and linear graph algorithms", 1972).
    """
    atoms = len(rule_first) - 1
    order = np.empty(atoms, np.int32)
    cut = np.zeros(atoms, np.bool_)
    component = np.full(atoms, -1, np.int32)
    state = np.zeros(atoms, np.int8)
    seen_at, reach = np.zeros(atoms, np.int32), np.zeros(atoms, np.int32)
    pending = np.empty(atoms, np.int32)  # seen, component still open
    stack = np.empty(atoms, np.int32)
    at_rule = np.empty(atoms, np.int32)
    at_literal = np.empty(atoms, np.int32)
    ordered, waiting, seen, components = 0, 0, 0, 0
    for root in range(1, atoms):
        if state[root] != UNSEEN or is_source[root]:
            continue
        depth, needed = -1, root
        while True:
            if needed >= 0:  # go down to it
                depth += 1
                stack[depth], at_rule[depth], at_literal[depth] = needed, rule_first[needed], 0
                state[needed] = OPEN
                seen_at[needed] = reach[needed] = seen
                pending[waiting] = needed
                seen += 1
                waiting += 1
                needed = -1
            atom = stack[depth]
            if at_rule[depth] == rule_first[atom + 1]:
                state[atom] = CLOSED
                order[ordered] = atom
                ordered += 1
                if reach[atom] == seen_at[atom]:
                    while component[atom] < 0:
                        waiting -= 1
                        component[pending[waiting]] = components
                    components += 1
                depth -= 1
                if depth < 0:
                    break
                reach[stack[depth]] = min(reach[stack[depth]], reach[atom])
                continue
            rule = rules[at_rule[depth]]
            position = offsets[rule] + at_literal[depth]
            if position == offsets[rule + 1]:
                at_rule[depth] += 1
                at_literal[depth] = 0
                continue
            at_literal[depth] += 1
            other = abs(bodies[position])
            if is_source[other]:
                continue
            if state[other] == UNSEEN:
                needed = other
            elif component[other] < 0:
                reach[atom] = min(reach[atom], seen_at[other])
                if state[other] == OPEN:
                    cut[other] = True
    return order[:ordered], cut, component


@allocating_kernel
def depends_on_own_negation(
    component: IntArray, rule_first: IntArray, rules: IntArray, offsets: IntArray, bodies: IntArray
) -> bool:
    """Whether a rule negates an atom of its head's own component (see `dependency_order`)."""
    for atom in range(len(component)):
        for k in range(rule_first[atom], rule_first[atom + 1]):
            for i in range(offsets[rules[k]], offsets[rules[k] + 1]):
                needed = -bodies[i]
                if needed > 0 and component[atom] >= 0 and component[needed] == component[atom]:
                    return True
    return False


def strata(
    component: IntArray, rule_first: IntArray, rules: IntArray, offsets: IntArray, bodies: IntArray
) -> IntArray:
    """(atoms,) a number above those of all cycles on whose negation the atom depends, from 0.

    Cycles of one stratum can be iterated together; those of lower ones must have been settled.
    """
    by_component = np.argsort(component)
    stratum = _strata(by_component, component, rule_first, rules, offsets, bodies)
    return stratum[np.maximum(component, 0)]


@allocating_kernel
def _strata(
    by_component: NDArray[np.int64],
    component: IntArray,
    rule_first: IntArray,
    rules: IntArray,
    offsets: IntArray,
    bodies: IntArray,
) -> IntArray:
    """(atoms,) the strata by component, from the atoms in the order of their components."""
    stratum = np.zeros(len(component), np.int32)
    cyclic = np.zeros(len(component), np.bool_)  # depends on a cycle, or is one
    for atom in by_component:
        own = component[atom]
        if own < 0:
            continue
        for k in range(rule_first[atom], rule_first[atom + 1]):
            for i in range(offsets[rules[k]], offsets[rules[k] + 1]):
                needed = component[abs(bodies[i])]
                if needed == own:
                    cyclic[own] = True
                elif needed >= 0 and cyclic[needed]:
                    cyclic[own] = True
                    above = stratum[needed] + (1 if bodies[i] < 0 else 0)
                    stratum[own] = max(stratum[own], above)
    return stratum
