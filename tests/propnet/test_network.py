"""The network as a whole: its order of evaluation, its outputs, and what can't become one."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from gdl.errors import GroundingError
from gdl.grounding import ground
from gdl.rules import RuleSheet
from gdl.state_machine import order
from propnet.layout import layout_of, unpack
from propnet.network import Network, compile_network, describe
from propnet.phases import GOALS, POSITION, STEP
from tests.conformance import shared_sheet
from tests.small_sheets import SHEETS, small_sheet, tic_tac_toe

FRAME = """(role r) (init a) (init b) (legal r x) (legal r y) (goal r 50)
(<= (next a) (does r x)) (<= (next b) (does r y)) """


def _network(rules: str) -> Network:
    return compile_network(ground(RuleSheet.from_text(FRAME + rules), seconds=60))


@cache
def _networks() -> list[Network]:
    sheets = [*map(small_sheet, SHEETS), tic_tac_toe()]
    return [compile_network(ground(sheet, seconds=60)) for sheet in sheets]


def _inputs(network: Network, node: int) -> list[int]:
    low, high = network.first[node : node + 2]
    return [int(literal) >> 1 for literal in network.inputs[low:high]]


def _phase(network: Network, node: int) -> int:
    """-1 for sources."""
    return -1 if node <= network.sources else int(np.searchsorted(network.phase_end, node, "right"))


# ---------------------------------------------------------------------------------------- order


def test_sources_come_first_and_gates_after_their_inputs() -> None:
    for network in _networks():
        assert network.phase_end[-1] == len(network.first) - 1
        for node in range(len(network.first) - 1):
            if node <= network.sources:
                assert _inputs(network, node) == []
            else:
                assert all(child < node for child in _inputs(network, node))
                assert len(_inputs(network, node)) > 1
                assert 0 not in _inputs(network, node)


def test_gates_are_sorted_by_phase_and_then_by_level() -> None:
    for network in _networks():
        level = [0] * (len(network.first) - 1)
        for node in range(1 + network.sources, len(level)):
            level[node] = 1 + max(level[child] for child in _inputs(network, node))
        keys = [(_phase(network, n), level[n]) for n in range(1 + network.sources, len(level))]
        assert keys == sorted(keys)


def test_only_the_last_phase_depends_on_moves() -> None:
    for network in _networks():
        moves = range(network.first_move, network.first_move + len(network.legal))
        fed_late = {
            network.first_move + len(network.legal) + k
            for k, phase in enumerate(network.feedback_phase.tolist())
            if phase == STEP
        }
        for node in range(1 + network.sources, len(network.first) - 1):
            children = _inputs(network, node)
            late = any(c in moves or c in fed_late or _phase(network, c) == STEP for c in children)
            assert (_phase(network, node) == STEP) == late
        early = [*network.legal.tolist(), network.terminal, *network.goals.tolist()]
        if "x" not in network.moves[0]:  # one sheet's goals break the rule on purpose
            assert all(_phase(network, literal >> 1) != STEP for literal in early)


def test_gates_for_goals_alone_have_a_phase_of_their_own() -> None:
    for network in _networks():
        first_goal_gate, behind = network.phase_end[POSITION], network.phase_end[GOALS]
        users = {
            child: node
            for node in range(int(behind), len(network.first) - 1)
            for child in _inputs(network, node)
        }
        assert not any(first_goal_gate <= child < behind for child in users)
        for literal in (*network.legal, network.terminal, *network.next, *network.feedback):
            assert not first_goal_gate <= literal >> 1 < behind
    network = compile_network(ground(tic_tac_toe()))
    assert network.phase_end[GOALS] > network.phase_end[POSITION]


def test_every_gate_is_needed() -> None:
    for network in _networks():
        used = {int(literal) >> 1 for literal in network.inputs}
        for outputs in (
            network.next,
            network.legal,
            network.goals,
            network.wins,
            network.blocks,
            network.feedback,
        ):
            used |= {int(literal) >> 1 for literal in outputs}
        used.add(network.terminal >> 1)
        assert used >= set(range(1 + network.sources, len(network.first) - 1))


def test_moves_of_a_role_are_consecutive_and_in_order() -> None:
    for network in _networks():
        span = network.move_span
        assert [int(high - low) for low, high in pairwise(span)] == [
            len(moves) for moves in network.moves
        ]
        for moves in network.moves:
            assert list(moves) == sorted(moves, key=order)
        for values in network.goal_values:
            assert list(values) == sorted(values)


def test_the_layout_has_the_initial_state() -> None:
    for network in _networks():
        layout = layout_of(network)
        bits = unpack(layout.initial[np.newaxis], len(network.fluents))
        assert (bits[0] == network.initial).all()


def test_a_frame_axiom_over_most_moves_is_written_by_the_others() -> None:
    """A fluent that stays unless one of nine moves is made needs no gate per move."""
    moves = " ".join(f"(legal r (m {i}))" for i in range(30))
    keeps = " ".join(f"(<= (next k) (true k) (does r (m {i})))" for i in range(29))
    network = _network(f"{moves} {keeps} (init k) (<= terminal (not (true k)))")
    fluent = network.fluents.index("k")
    gate = int(network.next[fluent]) >> 1
    assert len(_inputs(network, gate)) <= 4


# ------------------------------------------------------------------------------------- cycles


@pytest.mark.parametrize(
    "rules",
    [
        "(<= p (true a) (not p)) (<= terminal p)",
        "(<= p (true a) (not q)) (<= q p (true b)) (<= terminal q)",
        "(<= q p (true b)) (<= p (true a) (not q)) (<= terminal p)",
        "(<= p (true a) (not q)) (<= q (true b) (not p)) (<= terminal p)",
        "(<= p (does r x) (not q)) (<= q (does r y) (not u)) (<= u p (true a)) (<= u (true b))"
        "(<= (next c) q) (<= terminal (true c))",
    ],
)
def test_negation_in_a_cycle_is_refused(rules: str) -> None:
    with pytest.raises(GroundingError, match="not stratified"):
        _network(rules)


def test_a_cycle_that_grounding_dissolves_is_no_cycle() -> None:
    network = _network(
        """(s 1 2) (s 2 3) (<= (win ?x) (s ?x ?y) (not (win ?y)) (true a))
        (<= terminal (win 1) (win 2))"""
    )
    assert len(network.feedback) == 0


def test_positive_cycles_have_feedback_in_the_phase_they_belong_to() -> None:
    network = _network(
        """(<= p (true a)) (<= p q (true b)) (<= q p (not (true a))) (<= terminal q)
        (<= u (does r x)) (<= u v (true b)) (<= v u (true a)) (<= (next c) v)"""
    )
    assert sorted(network.feedback_phase.tolist()) == [POSITION, STEP]
    assert network.feedback_stratum.tolist() == [0, 0]


def test_a_cycle_over_the_negation_of_another_is_iterated_after_it() -> None:
    network = compile_network(
        ground(small_sheet("mutual recursion, and a cycle below a negated one"))
    )
    strata = network.feedback_stratum.tolist()
    assert strata == sorted(strata)
    assert max(strata) > 0


def test_public_sheets_with_positive_cycles_keep_them() -> None:
    network = compile_network(ground(shared_sheet("cubicup_3player"), seconds=120))
    assert len(network.feedback) > 0


# ------------------------------------------------------------------------------- in the open


def test_a_network_can_be_read() -> None:
    network = compile_network(
        ground(
            RuleSheet.from_text(
                """(role r) (init a) (legal r x) (<= (legal r y) (true a) (true b))
                (<= (next b) (does r x)) (<= (next a) (true a) (true b) (does r y))
                (<= terminal (not (true a))) (<= (goal r 100) (true b)) (goal r 0)"""
            )
        )
    )
    lines = set(describe(network))
    assert {
        "g5 = (true a) & (true b)",
        "g6 = (true a) & (true b) & (does r y)",
        "legal (r x) = not false",
        "legal (r y) = g5",
        "next b = (does r x)",
        "next a = g6",
        "terminal = not (true a)",
        "goal 0 = not false",
        "goal 100 = (true b)",
    } <= lines | {
        line.replace("g5 & (does r y)", "(true a) & (true b) & (does r y)") for line in lines
    }
