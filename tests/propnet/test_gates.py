"""Making gates: each simplification, and that rebuilding a network keeps what it computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    room_for,
)
from tests.naive import truth

FLUENTS = 3
ROLES = (5, 2)
"""moves of each role; their nodes follow those of the fluents"""
A, B, C = 2, 4, 6
MOVES = tuple(2 * node for node in range(4, 9))
"""literals of the first role's moves"""
OTHERS = tuple(2 * node for node in range(9, 11))


def _gates(nodes: int = 100, roles: Sequence[int] = ROLES, edges: int = 2000) -> Gates:
    bounds = 1 + FLUENTS + np.cumsum([0, *roles])
    span = np.stack((bounds[:-1], bounds[1:]), axis=1).astype(np.int32)
    return new_gates(FLUENTS + sum(roles), span, nodes, edges)


def _and(gates: Gates, *literals: int) -> int:
    return int(make_and(gates, np.array(literals, np.int32), len(literals)))


def _or(gates: Gates, *literals: int) -> int:
    return int(make_or(gates, np.array(literals, np.int32), len(literals)))


def _inputs(gates: Gates, literal: int) -> list[int]:
    node = literal >> 1
    return gates.inputs[gates.first[node] : gates.first[node + 1]].tolist()  # type: ignore[no-any-return]


def _count(gates: Gates) -> int:
    return int(gates.size[NODES]) - len(gates.group)


# -------------------------------------------------------------------------------- simplification


@pytest.mark.parametrize(
    ("literals", "result"),
    [
        ((), TRUE),
        ((TRUE,), TRUE),
        ((FALSE,), FALSE),
        ((A,), A),
        ((A ^ 1,), A ^ 1),
        ((A, TRUE), A),
        ((A, A, TRUE, A), A),
        ((A, FALSE), FALSE),
        ((A, B, A ^ 1), FALSE),
        ((MOVES[0], MOVES[1]), FALSE),
        ((MOVES[0], MOVES[1] ^ 1), MOVES[0]),
        ((MOVES[2], *(m ^ 1 for m in MOVES if m != MOVES[2])), MOVES[2]),
        (tuple(m ^ 1 for m in MOVES), FALSE),
        (tuple(m ^ 1 for m in MOVES[1:]), MOVES[0]),
        ((OTHERS[0] ^ 1,), OTHERS[0] ^ 1),
        ((OTHERS[0] ^ 1, OTHERS[1] ^ 1), FALSE),
    ],
)
def test_conjunctions_that_need_no_gate(literals: tuple[int, ...], result: int) -> None:
    gates = _gates()
    assert _and(gates, *literals) == result
    assert _count(gates) == 0


def test_disjunctions_are_negated_conjunctions() -> None:
    gates = _gates()
    assert _or(gates) == FALSE
    assert _or(gates, A, TRUE) == TRUE
    assert _or(gates, A, A ^ 1) == TRUE
    assert _or(gates, *MOVES) == TRUE
    assert _or(gates, A, B) == _and(gates, A ^ 1, B ^ 1) ^ 1


def test_a_gate_is_made_once_whatever_the_order() -> None:
    gates = _gates()
    literal = _and(gates, A, B ^ 1, C)
    assert _and(gates, C, A, B ^ 1, TRUE, A) == literal
    assert _count(gates) == 1
    assert _inputs(gates, literal) == [A, B ^ 1, C]
    assert _and(gates, A, B ^ 1) != literal
    assert _count(gates) == 2


def test_a_move_makes_the_negations_of_others_redundant() -> None:
    gates = _gates()
    assert _inputs(gates, _and(gates, A, MOVES[3], MOVES[0] ^ 1, MOVES[4] ^ 1)) == [A, MOVES[3]]


def test_none_of_many_moves_becomes_one_of_the_few_others() -> None:
    gates = _gates()
    literal = _and(gates, A, *(m ^ 1 for m in MOVES[:3]))
    complement = _or(gates, MOVES[3], MOVES[4])
    assert _inputs(gates, literal) == [A, complement]
    assert _inputs(gates, complement) == [MOVES[3] ^ 1, MOVES[4] ^ 1]


def test_none_of_few_moves_stays() -> None:
    gates = _gates()
    literals = [A, MOVES[0] ^ 1, MOVES[1] ^ 1]
    assert _inputs(gates, _and(gates, *literals)) == literals


def test_roles_are_looked_at_apart() -> None:
    gates = _gates()
    literal = _and(gates, MOVES[0], OTHERS[0])
    assert _inputs(gates, literal) == [MOVES[0], OTHERS[0]]
    assert _and(gates, MOVES[0], OTHERS[0] ^ 1, OTHERS[1] ^ 1) == FALSE


def test_many_gates_share_a_table_without_mixing_up() -> None:
    gates = _gates(nodes=5000, edges=20000)
    pairs = [(2 * i, 2 * j + 1) for i in range(1, 8) for j in range(1, 8) if i != j]
    triples = [(*pair, 2 * k) for pair in pairs for k in (1, 2, 3) if 2 * k ^ 1 not in pair]
    made = {literals: _and(gates, *literals) for literals in (*pairs, *triples)}
    for literals, literal in made.items():
        assert _and(gates, *literals) == literal
        for values in _assignments():
            alone = all(truth(part, {}, values) for part in literals)
            assert _value(gates, literal, values) == alone


# ------------------------------------------------------------------------------ whole networks


def _assignments(roles: Sequence[int] = ROLES) -> Iterator[dict[int, bool]]:
    """All values of the sources in which every role makes exactly one move."""
    for fluents in product((False, True), repeat=FLUENTS):
        for moves in product(*map(range, roles)):
            values = dict(enumerate(fluents, 1))
            node = 1 + FLUENTS
            for size, chosen in zip(roles, moves, strict=True):
                values |= {node + i: i == chosen for i in range(size)}
                node += size
            yield values


def _value(gates: Gates, literal: int, sources: dict[int, bool]) -> bool:
    own = range(len(gates.group), int(gates.size[NODES]))
    return truth(literal, {node: _inputs(gates, 2 * node) for node in own}, sources)


def _append(gates: Gates, literals: Sequence[int]) -> None:
    """A gate as it is, unsimplified."""
    node, low = (int(n) for n in gates.size)
    gates.inputs[low : low + len(literals)] = literals
    gates.first[node], gates.first[node + 1] = low, low + len(literals)
    gates.size[NODES] += 1
    gates.size[EDGES] += len(literals)


SOURCES = FLUENTS + sum(ROLES)


@st.composite
def netlists(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Gates as lists of literals of earlier nodes, and outputs; constants and repetitions too."""
    gates: list[list[int]] = []
    for number in range(draw(st.integers(0, 10))):
        highest = 2 * (SOURCES + number) + 1
        # mostly what came just before, so that gates are merged
        recent = st.integers(max(0, highest - 5), highest)
        gates.append(draw(st.lists(recent | st.integers(0, highest), max_size=6)))
    literals = st.integers(0, 2 * (SOURCES + len(gates)) + 1)
    return gates, draw(st.lists(literals, min_size=1, max_size=4))


@pytest.mark.parametrize("inline", [False, True])
@given(network=netlists())
def test_rebuilding_keeps_every_output(
    inline: bool, network: tuple[list[list[int]], list[int]]
) -> None:
    netlist, outputs = network
    old = _gates()
    for literals in netlist:
        _append(old, literals)
    new = room_for(old)
    result = rebuilt(old, new, np.array(outputs, np.int32), inline)
    assert int(new.size[NODES]) < len(new.first) and int(new.size[EDGES]) <= len(new.inputs)
    for sources in _assignments():
        for before, after in zip(outputs, result.tolist(), strict=True):
            assert _value(new, after, sources) == _value(old, before, sources)


@given(network=netlists())
def test_rebuilding_twice_makes_no_new_gates(network: tuple[list[list[int]], list[int]]) -> None:
    netlist, outputs = network
    gates = _gates()
    for literals in netlist:
        _append(gates, literals)
    result = np.array(outputs, np.int32)
    counts = []
    for inline in (True, False, False):
        new = room_for(gates)
        result = rebuilt(gates, new, result, inline)
        gates = new
        counts.append(_count(gates))
    assert counts[1] == counts[2] <= counts[0]


def test_what_no_output_needs_is_left_out() -> None:
    old = _gates()
    needless, needed = _and(old, A, B), _and(old, B, C)
    _and(old, needless, needed)
    new = room_for(old)
    (result,) = rebuilt(old, new, np.array([needed ^ 1], np.int32), False).tolist()
    assert _count(new) == 1
    assert result & 1 and _inputs(new, result) == [B, C]


def _rebuilt(old: Gates, *outputs: int) -> tuple[Gates, list[int]]:
    new = room_for(old)
    return new, rebuilt(old, new, np.array(outputs, np.int32), True).tolist()


def test_a_gate_that_one_other_uses_is_merged_into_it() -> None:
    old = _gates()
    new, (result,) = _rebuilt(old, _and(old, _and(old, A, B), C))
    assert _inputs(new, result) == [A, B, C]
    assert _count(new) == 1


def test_a_gate_that_two_use_stays() -> None:
    old = _gates()
    shared = _and(old, A, B)
    new, results = _rebuilt(old, _and(old, shared, C), _and(old, shared, C ^ 1))
    assert _count(new) == 3
    assert [len(_inputs(new, result)) for result in results] == [2, 2]


def test_a_gate_that_is_an_output_stays() -> None:
    old = _gates()
    inner = _and(old, A, B)
    new, _ = _rebuilt(old, inner, _and(old, inner, C))
    assert _count(new) == 2


def test_a_gate_used_inverted_stays() -> None:
    old = _gates()
    new, (result,) = _rebuilt(old, _and(old, _and(old, A, B) ^ 1, C))
    assert _count(new) == 2
    assert len(_inputs(new, result)) == 2


def test_a_long_chain_is_merged_into_one_gate() -> None:
    """Each gate of the chain holds all before it; they must not be written out one by one."""
    length = 300
    old = new_gates(length, np.zeros((0, 2), np.int32), length, 2 * length)
    literal = 2
    for source in range(2, length + 1):
        literal = _and(old, literal, 2 * source)
    new, (result,) = _rebuilt(old, literal)
    assert _inputs(new, result) == [2 * source for source in range(1, length + 1)]
    assert _count(new) == 1


def test_there_is_room_for_a_complement_per_role_in_every_gate() -> None:
    roles = (9,) * 6
    old = _gates(nodes=100, roles=roles, edges=100 * 43)
    pairs = list(combinations(range(9), 2))
    outputs = []
    for number in range(100):
        literals = [A]
        for role in range(len(roles)):
            low, few = 1 + FLUENTS + 9 * role, pairs[(number * (role + 1) + number // 36) % 36]
            literals += [2 * (low + i) + 1 for i in range(9) if i not in few]
        _append(old, literals)
        outputs.append(2 * (int(old.size[NODES]) - 1))
    new = room_for(old)
    result = rebuilt(old, new, np.array(outputs, np.int32), True).tolist()
    assert int(new.size[NODES]) < len(new.first) and int(new.size[EDGES]) <= len(new.inputs)
    assert _count(new) > 2 * len(set(result))
    assert all(len(_inputs(new, literal)) == 7 for literal in result)
