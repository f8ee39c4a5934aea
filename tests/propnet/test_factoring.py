"""From ground rules to gates: the order of atoms, cycles, and sums of products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from propnet.dependencies import dependency_order, depends_on_own_negation, strata
from propnet.factoring import build
from propnet.gates import FALSE, NODES, TRUE, new_gates
from tests.naive import truth

Bodies = Sequence[Sequence[int]]
Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


def _arrays(rules: Mapping[int, Bodies], atoms: int) -> Arrays:
    """rule_first, rules, offsets and bodies of a ground program, the rules last atom first."""
    heads = [atom for atom in sorted(rules, reverse=True) for _ in rules[atom]]
    bodies = [list(body) for atom in sorted(rules, reverse=True) for body in rules[atom]]
    order = np.argsort(heads, kind="stable").astype(np.int32)
    sorted_heads = np.array(heads, np.int32)[order]
    rule_first = np.searchsorted(sorted_heads, np.arange(atoms + 1)).astype(np.int32)
    offsets = np.cumsum([0, *map(len, bodies)]).astype(np.int32)
    flat = np.array([part for body in bodies for part in body], np.int32)
    return rule_first, order, offsets, flat


# ------------------------------------------------------------------------- order and components


def _analysed(
    rules: Mapping[int, Bodies], atoms: int, sources: Sequence[int] = ()
) -> tuple[list[int], set[int], list[int], bool, list[int]]:
    """Order, cut atoms, components, whether an atom depends on its own negation, strata."""
    arrays = _arrays(rules, atoms)
    is_source = np.zeros(atoms, np.bool_)
    is_source[list(sources)] = True
    order, cut, component = dependency_order(*arrays, is_source)
    negative = depends_on_own_negation(component, *arrays)
    levels = strata(component, *arrays)
    cut_atoms = set(np.flatnonzero(cut).tolist())
    return order.tolist(), cut_atoms, component.tolist(), bool(negative), levels.tolist()


def test_an_atom_comes_after_those_it_depends_on() -> None:
    order, cut, component, negative, _ = _analysed({1: [[2, 3]], 2: [[3], [-4]], 3: [[5]]}, 6, [5])
    assert sorted(order) == [1, 2, 3, 4]
    assert order.index(1) > order.index(2) > order.index(3)
    assert order.index(2) > order.index(4)
    assert component[1] > component[2] > component[3] and component[5] == -1
    assert not cut and not negative


def test_a_positive_cycle_is_cut_once() -> None:
    _, cut, component, negative, _ = _analysed({1: [[2]], 2: [[3]], 3: [[1], [4]]}, 5, [4])
    assert len(cut) == 1 and cut <= {1, 2, 3}
    assert component[1] == component[2] == component[3]
    assert not negative


def test_an_atom_may_depend_on_itself() -> None:
    _, cut, _, negative, _ = _analysed({1: [[1], [2]]}, 3, [2])
    assert cut == {1} and not negative


def test_negation_in_a_cycle_is_found_wherever_it_stands() -> None:
    """Whether the search comes back over the negation or goes out over it."""
    for signs in ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, 1), (-1, -1, -1)):
        a, b, c = signs
        assert _analysed({1: [[2 * a]], 2: [[3 * b]], 3: [[1 * c]]}, 4)[3], signs
    assert _analysed({1: [[-1]]}, 2)[3]
    assert not _analysed({1: [[-2]], 2: [[-3]], 3: [[-4]]}, 5)[3]
    assert not _analysed({1: [[2]], 2: [[1], [-3]], 3: [[-4]]}, 5)[3]


def test_a_fluent_or_move_does_not_carry_dependency() -> None:
    """What is true now may be derived again for the next state."""
    assert not _analysed({1: [[-2]], 2: [[1]]}, 3, [2])[3]


def test_strata_count_cycles_below_a_negation() -> None:
    rules = {
        1: [[1], [9]],  # a cycle
        2: [[1]],
        3: [[-2, 3], [9]],  # a cycle over the negation of it
        4: [[-3], [4]],  # and one more
        5: [[5], [-9]],  # a cycle over the negation of a source
        6: [[-7], [6]],  # over the negation of what no cycle is in
        7: [[9]],
    }
    levels = _analysed(rules, 10, [9])[4]
    assert [levels[atom] for atom in range(1, 8)] == [0, 0, 1, 2, 0, 0, 0]


graphs = st.integers(1, 7).flatmap(
    lambda atoms: st.dictionaries(
        st.integers(1, atoms),
        st.lists(
            st.lists(st.integers(1, atoms).flatmap(lambda a: st.sampled_from([a, -a])), max_size=3),
            max_size=3,
        ),
    ).map(lambda rules: (rules, atoms + 1))
)


@given(graphs)
def test_the_analysis_agrees_with_reachability(graph: tuple[dict[int, Bodies], int]) -> None:
    rules, atoms = graph
    edges = {a: {abs(p) for body in rules.get(a, ()) for p in body} for a in range(1, atoms)}
    reach = {a: _reachable(edges, a) for a in edges}
    order, cut, component, negative, levels = _analysed(rules, atoms)
    assert sorted(order) == list(range(1, atoms))
    for a, b in product(edges, repeat=2):
        together = a == b or (b in reach[a] and a in reach[b])
        assert (component[a] == component[b]) == together
        if b in reach[a] and not together:
            assert component[a] > component[b]
    position = {atom: i for i, atom in enumerate(order)}
    for a in edges:
        for b in edges[a]:
            assert b in cut or position[b] < position[a]
    assert cut <= {a for a in edges if a in reach[a]}
    assert negative == any(
        part < 0 and (a == -part or a in reach[-part])
        for a, bodies in rules.items()
        for body in bodies
        for part in body
    )
    cyclic = {a for a in edges if reach[a] & {b for b in edges if b in reach[b]} or a in reach[a]}
    if not negative:
        for a, bodies in rules.items():
            for part in (part for body in bodies for part in body):
                needed = levels[abs(part)] + (part < 0 and abs(part) in cyclic)
                assert levels[a] >= needed


def _reachable(edges: Mapping[int, set[int]], start: int) -> set[int]:
    seen, waiting = set[int](), [start]
    while waiting:
        for following in edges[waiting.pop()] - seen:
            seen.add(following)
            waiting.append(following)
    return seen


# --------------------------------------------------------------------------- sums of products


def _factored(
    rules: Mapping[int, Bodies], sources: int
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Atom → literal, and the gates; atoms 1 to `sources` are sources of the same number."""
    atoms = 1 + max([sources, *rules])
    arrays = _arrays(rules, atoms)
    is_source = np.zeros(atoms, np.bool_)
    is_source[1 : sources + 1] = True
    order = dependency_order(*arrays, is_source)[0]
    gates = new_gates(sources, np.zeros((0, 2), np.int32), 1000, 5000)
    literal_of = np.full(atoms, -1, np.int32)
    literal_of[0] = TRUE
    literal_of[1 : sources + 1] = 2 * np.arange(1, sources + 1)
    driver = build(gates, literal_of, order, *arrays)
    made = {
        node: gates.inputs[gates.first[node] : gates.first[node + 1]].tolist()
        for node in range(sources + 1, int(gates.size[NODES]))
    }
    return {atom: int(driver[atom]) for atom in rules}, made


def test_the_most_frequent_literal_is_taken_out() -> None:
    """a·b + a·c + d = a·(b + c) + d: three gates, not a product each."""
    literals, gates = _factored({5: [[1, 2], [1, 3], [4]]}, 4)
    assert len(gates) == 3
    edges = sum(map(len, gates.values()))
    assert edges == 6
    assert literals[5] & 1


def test_what_all_products_share_is_written_once() -> None:
    """A piece stays whichever of twenty others is moved: 22 inputs, not 40 and an OR of 20."""
    _, gates = _factored({22: [[21, other] for other in range(1, 21)]}, 21)
    assert sorted(map(len, gates.values())) == [2, 20]


def test_constants_are_no_gates() -> None:
    literals, gates = _factored({4: [[]], 5: [[1], []], 6: [[7]], 8: [[4, 1]], 9: [[6], [2]]}, 3)
    assert literals == {4: TRUE, 5: TRUE, 6: FALSE, 8: 2, 9: 4}
    assert gates == {}


def test_absorption_and_contradiction() -> None:
    literals, _ = _factored({4: [[1], [1, 2]], 5: [[1, -1]], 6: [[1], [-1]], 7: [[1, 1, 1]]}, 3)
    assert literals == {4: 2, 5: FALSE, 6: TRUE, 7: 2}


def test_equal_sums_are_one_gate() -> None:
    literals, _ = _factored({4: [[1, 2], [3]], 5: [[3], [2, 1]]}, 3)
    assert literals[4] == literals[5]


SOURCES = 5
products = st.lists(st.integers(1, SOURCES).flatmap(lambda a: st.sampled_from([a, -a])), max_size=5)


@given(st.lists(st.lists(products, min_size=1, max_size=9), min_size=1, max_size=3))
def test_sums_of_products_keep_their_truth_table(sums: list[list[list[int]]]) -> None:
    """Each sum also uses the one before it, inverted and not."""
    rules: dict[int, Bodies] = {}
    for number, bodies in enumerate(sums, SOURCES + 1):
        chained = [[*body, (number - 1) * (-1) ** i] for i, body in enumerate(bodies)]
        rules[number] = bodies if number == SOURCES + 1 else chained + bodies[:1]
    literals, gates = _factored(rules, SOURCES)
    for values in product((False, True), repeat=SOURCES):
        sources = dict(enumerate(values, 1))
        known = dict(sources)
        for atom, own in rules.items():
            known[atom] = any(all(known[abs(p)] == (p > 0) for p in body) for body in own)
            assert truth(literals[atom], gates, sources) == known[atom]
