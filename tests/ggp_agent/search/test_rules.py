"""The rules of the papers' search, one by one, in the native search and in its reference.

The numbers are those of docs/decisions.md.  Nodes are made by
hand; a selection is drawn often enough to see all that may happen.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.parameters import Value
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.plain_tree import Average
from ggp_agent.search.settings import FixedSettings
from ggp_agent.search.slots import PICKS
from ggp_agent.search.strategies import dispatch
from tests.ggp_agent.search.benches import Bench, NativeBench, PlainBench, picks
from tests.ggp_agent.search.positions import (
    SEQUENTIAL,
    agent,
    machine_of,
    native,
    nodes_of,
    plain,
    root_of,
    search_on,
)

CHI_SQUARE = {1: 10.83, 2: 13.82, 3: 16.27}
"""Critical values at p = 0.001 by degrees of freedom; the seeds are fixed."""

Make = Callable[..., Bench]
both = pytest.mark.parametrize("make", [NativeBench, PlainBench], ids=["native", "plain"])

CHOICE = """
; Two roles choose at once, `a` among four moves; nobody wins or loses by it.
(role a) (role b) (init start)
(legal a w) (legal a x) (legal a y) (legal a z) (legal b l) (legal b r)
(<= (next over) (does a ?m))
(<= terminal (true over)) (<= (goal ?r 50) (role ?r))
"""

UP_AND_ON = f"""
; `counter` goes up or on for 12 steps, `other` always says no; the goal is the number of ups.
(role counter) (role other) (init (at 0)) (init (ups 0))
{" ".join(f"(succ {n} {n + 1})" for n in range(12))}
(legal counter up) (legal counter on) (legal other no)
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= (next (ups ?y)) (true (ups ?x)) (succ ?x ?y) (does counter up))
(<= (next (ups ?x)) (true (ups ?x)) (does counter on))
(<= terminal (true (at 12)))
(<= (goal counter ?x) (true (ups ?x)))
(goal other 7)
"""

FOUR = [(40, 16.0), (10, 5.0), (5, 1.0), (45, 22.0)]
NO_CHOICE = [(50, 25.0), (50, 25.0)]


def uniform(counts: Counter[int], outcomes: Iterable[int]) -> bool:
    outcomes = list(outcomes)
    if set(counts) != set(outcomes):
        return False
    expected = counts.total() / len(outcomes)
    statistic = sum((counts[outcome] - expected) ** 2 / expected for outcome in outcomes)
    return statistic < CHI_SQUARE[len(outcomes) - 1]


def uct(tries: int, total: float, visits: int, c: float) -> float:
    return total / tries + c * math.sqrt(math.log(visits) / tries)


# Decision 1
@both
def test_rule_1_value_is_mean_and_exploration_on_rewards_from_0_to_1(make: Make) -> None:
    rng = random.Random(1)
    bench = make(CHOICE, VO=0.0)
    for _ in range(25):
        c = rng.choice([0.0, 0.2, 0.7, 1.4])
        row = [(n, rng.randint(0, 4 * n) / 4) for n in (rng.randint(1, 60) for _ in range(4))]
        visits = 1 + sum(n for n, _ in row)
        values = [uct(n, total, visits, c) for n, total in row]
        if sorted(values)[-1] - sorted(values)[-2] < 1e-4:
            continue
        bench.search.tuner = FixedSettings(agent(C=c, VO=0.0))
        assert set(picks(bench, visits, row, NO_CHOICE, times=5)) == {int(np.argmax(values))}


# Decision 2
@both
def test_rule_2_every_role_selects_from_statistics_of_its_own(make: Make) -> None:
    bench = make(CHOICE, C=0.0, VO=0.0)
    for best_a in range(4):
        for best_b in range(2):
            a = [(25, 20.0 if i == best_a else 10.0) for i in range(4)]
            b = [(50, 40.0 if i == best_b else 10.0) for i in range(2)]
            bench.set_root(100, a, b)
            assert bench.select() == (best_a, best_b)


# Decision 2
@pytest.mark.parametrize("search", [native, plain])
def test_rule_2_also_where_a_role_has_one_legal_move(search: Callable[..., object]) -> None:
    made = search(UP_AND_ON, 1, simulations=50, **SEQUENTIAL)
    search_on(made)  # type: ignore[arg-type]
    moves, counts, rewards = made.root_statistics()  # type: ignore[attr-defined]
    assert (list(moves), list(counts)) == (["no"], [50])
    assert rewards[0] == pytest.approx(50 * 0.07)


# Decision 3
def test_rule_3_one_node_is_added_per_simulation() -> None:
    for made in (native, plain):
        search = made(UP_AND_ON, **SEQUENTIAL)
        for simulations in range(1, 12):
            search_on(search, simulations=simulations)
            assert search.trace().tree_nodes == 1 + simulations


# Decision 3
@both
def test_rule_3_unvisited_moves_count_as_the_first_play_urgency(make: Make) -> None:
    row = [(9, 9.0), (0, 0.0), (9, 4.0), (0, 0.0)]  # 1 + C·sqrt(ln 19 / 9) > 1
    assert set(picks(make(CHOICE, C=0.2, VO=0.0), 19, row, NO_CHOICE)) == {0}
    assert uniform(picks(make(CHOICE, C=0.0, VO=0.0), 19, row, NO_CHOICE, times=300), [0, 1, 3])
    row[0] = (9, 8.0)
    assert set(picks(make(CHOICE, C=0.0, VO=0.0), 19, row, NO_CHOICE)) == {1, 3}
    assert set(picks(make(CHOICE, C=0.0, VO=0.0, FPU=0.85), 19, row, NO_CHOICE)) == {0}


# Decision 3
@both
def test_rule_3_unvisited_moves_with_amaf_have_its_mean_in_addition(make: Make) -> None:
    bench = make(CHOICE, selection="grave", C=0.0, VO=0.0, Ref=0.0)
    row = [(9, 9.0), (0, 0.0), (0, 0.0), (0, 0.0)]

    def chosen(*amaf: tuple[int, float]) -> set[int]:
        counts: set[int] = set()
        for _ in range(40):
            bench.set_root(10, row, NO_CHOICE)
            bench.set_amaf(0, amaf)
            counts.add(bench.select()[0])
        return counts

    bench.set_root(10, row, NO_CHOICE)
    bench.select()
    assert chosen((9, 9.0), (5, 1.0), (5, 2.0), (0, 0.0)) == {2}  # 1.2, 1.4, and 1 without AMAF
    assert chosen((9, 9.0), (0, 0.0), (0, 0.0), (4, 0.0)) == {0, 1, 2, 3}  # all are worth 1


def blend(own: float, amaf: float, visits: int, k: float) -> float:
    weight = 1.0 if math.isinf(k) else math.sqrt(k / (3 * visits + k))
    return (1 - weight) * own + weight * amaf


# Decision 4
@both
@pytest.mark.parametrize("k", [0.0, 10.0, 250.0, math.inf])
def test_rule_4_beta_blends_mean_and_amaf(make: Make, k: float) -> None:
    bench = make(CHOICE, selection="grave", C=0.0, VO=0.0, K=k, Ref=0.0)
    bench.set_root(101, FOUR, NO_CHOICE)
    bench.select()
    rng = random.Random(2)
    for _ in range(15):
        amaf = [(50, rng.randint(0, 100) / 2) for _ in range(4)]
        pairs = zip(FOUR, amaf, strict=True)
        values = [blend(t / n, at / an, 101, k) for (n, t), (an, at) in pairs]
        if sorted(values)[-1] - sorted(values)[-2] < 1e-4:
            continue
        bench.set_root(101, FOUR, NO_CHOICE)
        bench.set_amaf(0, amaf)
        assert bench.select()[0] == int(np.argmax(values))


# Decision 4
@both
@pytest.mark.parametrize(
    ("ref", "expected"),
    [(0.0, "own"), (20.0, "own"), (21.0, "root"), (1e4, "root"), (math.inf, "root")],
)
def test_rule_4_the_reference_is_the_closest_node_with_enough_visits(
    make: Make, ref: float, expected: str
) -> None:
    """The root's AMAF is all for `up`, the child's all for `on`; the child has 20 visits."""
    bench = make(
        UP_AND_ON, selection="grave", playout="uniform", C=0.0, VO=0.0, K=math.inf, Ref=ref
    )
    search = bench.search
    search_on(search, simulations=400)
    machine = machine_of(UP_AND_ON)
    child = machine.next_state(machine.initial_state, ("up", "no"))
    bench.set_root(30, [(15, 0.9), (15, 0.3)], [(30, 15.0)])  # moves in order: on, up
    bench.set_amaf(0, [(10, 0.0), (10, 10.0)])
    root_table = bench.amaf(0)
    assert root_table["up"][1] > root_table["on"][1]
    chosen = second_choice(bench, child, visits=20)
    assert chosen == ("on" if expected == "own" else "up")


def second_choice(bench: Bench, child: object, visits: int) -> str:
    """The move selected in the child, whose own AMAF speaks for `on`."""
    if isinstance(bench, PlainBench):
        node = bench.search._tree.nodes[0][child]  # type: ignore[index]
        node.visits = visits
        node.amaf = {move: Average(10, total) for move, total in (("on", 10.0), ("up", 0.0))}
        before = [a.count for a in node.statistics]
        bench.select()
        grown = [b.count - a for a, b in zip(before, node.statistics, strict=True)]
        return str(node.moves[grown.index(1)])
    assert isinstance(bench, NativeBench)
    search = bench.search
    tree, root = search._tree, search._root
    states = [tree.states[n].tobytes() for n in range(int(tree.counters[1]))]
    search._root = states.index(child)  # type: ignore[arg-type]
    tree.nodes["visits"][search._root] = visits
    bench.set_amaf(0, [(10, 10.0), (10, 0.0)])
    search._root = root
    search.simulate(1)
    start = int(tree.nodes["moves"][states.index(child)]) * 16  # type: ignore[arg-type]
    place = search._arrays.slots.path[0, 1, PICKS]
    return str(search._game.moves[0][tree.pool.words[start + 3 + place]])


# Decision 4
@both
def test_rule_4_amaf_counts_every_occurrence_for_its_own_role(make: Make) -> None:
    bench = make(UP_AND_ON, selection="grave", playout="uniform")
    for simulations in (1, 2, 3, 40):
        search_on(bench.search, simulations=simulations)
        counter, other = bench.amaf(0), bench.amaf(1)
        assert sum(count for count, _ in counter.values()) == 12 * simulations
        assert other["no"][0] == 12 * simulations
        assert other["no"][1] == pytest.approx(12 * simulations * 0.07, rel=1e-4)
    # every up brings one point: E[total of up] = Σ ups² / 100, which is what the sums say
    assert counter["up"][1] > counter["up"][0] * 0.04


# Decision 5
@both
def test_rule_5_moves_within_vo_of_the_best_are_drawn_uniformly(make: Make) -> None:
    row = [(100, 50.0), (100, 48.0), (100, 39.0), (100, 40.0)]  # window 0.105
    bench = make(CHOICE, C=0.0, VO=0.105)
    assert uniform(picks(bench, 401, row, NO_CHOICE, times=600), [0, 1, 3])
    assert set(picks(make(CHOICE, C=0.0, VO=0.0), 401, row, NO_CHOICE)) == {0}


# Decision 6
@both
def test_rule_6_below_t_visits_the_playouts_policy_picks(make: Make) -> None:
    row = [(10, 9.0), (10, 1.0), (10, 1.0), (10, 1.0)]
    mast = [(10, 100.0), (10, 900.0), (10, 200.0), (10, 300.0)]
    for t, expected in ((41.0, {1}), (40.0, {0}), (math.inf, {1})):
        bench = make(CHOICE, playout="mast", epsilon=0.0, C=0.0, VO=0.0, T=t)
        chosen = set()
        for _ in range(20):
            bench.set_root(40, row, NO_CHOICE)
            bench.set_mast(0, mast)
            chosen.add(bench.select()[0])
        assert chosen == expected
    bench = make(CHOICE, playout="uniform", C=0.0, T=100.0)
    assert uniform(picks(bench, 40, row, NO_CHOICE, times=400), range(4))


# Decision 7
@both
def test_rule_7_mast_counts_tree_and_playout_and_no_ops(make: Make) -> None:
    bench = make(UP_AND_ON, playout="mast")
    search_on(bench.search, simulations=30)
    counter, other = bench.mast(0), bench.mast(1)
    assert sum(count for count, _ in counter.values()) == other["no"][0] == 12 * 30
    assert other["no"][1] == pytest.approx(12 * 30 * 7)


# Decision 7
@both
def test_rule_7_an_unseen_move_counts_as_100_and_ties_are_drawn(make: Make) -> None:
    """T = ∞, so that the policy shows at the root; ε = 0, so that it is greedy."""
    bench = make(CHOICE, playout="mast", epsilon=0.0, T=math.inf)
    counts: Counter[int] = Counter()
    for _ in range(300):
        bench.set_root(9, [(2, 1.0)] * 4, NO_CHOICE)
        if isinstance(bench, PlainBench):
            bench.averages.clear()
        bench.set_mast(0, [(10, 999.0), (0, 0.0), (10, 1000.0), (10, 500.0)])
        counts[bench.select()[0]] += 1
    assert uniform(counts, [1, 2])


# Decision 7
@both
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_rule_7_a_random_move_with_probability_epsilon(make: Make, epsilon: float) -> None:
    """In playouts: the best move's share of 24,000 draws is 1 - ε + ε/2."""
    bench = make(UP_AND_ON, playout="mast", epsilon=epsilon, decay=1.0)
    bench.set_mast(0, [(10**9, 0.0), (10**9, 50e9)])
    before = {move: count for move, (count, _) in bench.mast(0).items()}
    simulations = 400
    for _ in range(simulations):
        bench.search.enter(machine_of(UP_AND_ON).initial_state, ("up", "no"))
        search_on(bench.search, simulations=1)
    after = bench.mast(0)
    played = {move: after[move][0] - before[move] for move in after}
    # the first move of each simulation is selected in the tree
    ups = (played["up"] - simulations / 2) / (11 * simulations)
    deviation = 4 * math.sqrt(0.25 / (11 * simulations)) + 0.5 / 11 * 0.2
    assert ups == pytest.approx(1 - epsilon / 2, abs=deviation + 0.06)


# Decision 7
def test_rule_7_the_policies_are_the_paper_s() -> None:
    for name in ("sp", "ap"):
        agent = find_agent(name)
        assert (agent["playout"], agent["epsilon"], agent["decay"]) == ("mast", 0.4, 0.2)


# Decision 7
@both
def test_rule_7_after_a_real_move_counts_decay_and_means_stay(make: Make) -> None:
    bench = make(CHOICE, playout="mast")
    bench.set_mast(0, [(1, 80.0), (2, 120.0), (3, 90.0), (1000, 25000.0)])
    if isinstance(bench, NativeBench):
        dispatch.forget_after_move(bench.search._layout, bench.search._arrays)
    else:
        assert isinstance(bench, PlainBench)
        bench.search.history.forget_after_move(bench.search._settings.of_move)
    # 0.2 and 0.4 are rounded to 0 and dropped, 0.6 to 1
    assert bench.mast(0) == {"y": (1, pytest.approx(30.0)), "z": (200, pytest.approx(5000.0))}


# Decision 7
@both
def test_rule_7_mast_is_cleared_with_the_game(make: Make) -> None:
    bench = make(UP_AND_ON, playout="mast")
    search_on(bench.search, simulations=10)
    bench.search.enter(machine_of(UP_AND_ON).initial_state, None)
    assert bench.mast(0) == {}


# Decision 8
def test_rule_8_the_highest_mean_is_played_not_the_most_visits() -> None:
    moves = [RootMove("many", 100, 50.0), RootMove("best", 10, 6.0), RootMove("none", 0, 0.0)]
    assert choose_move(moves, "mean", random.Random(1)) == "best"
    assert choose_move(moves, "visits", random.Random(1)) == "many"


# Decision 8
def test_rule_8_ties_are_drawn_uniformly() -> None:
    moves = [RootMove(str(i), 10, 5.0 if i != 1 else 4.0) for i in range(3)]
    dice = random.Random(1)
    counts = Counter(int(str(choose_move(moves, "mean", dice))) for _ in range(2000))
    assert uniform(counts, [0, 2])


# Decision 9
@pytest.mark.parametrize("made", [native, plain])
def test_rule_9_a_state_has_one_node_however_it_is_reached(made: Callable[..., object]) -> None:
    """12 steps of up or on: after n steps there are n + 1 states, 91 in all; not all are found."""
    search = made(UP_AND_ON, simulations=3000, C=2.0, **SEQUENTIAL)
    search_on(search)  # type: ignore[arg-type]
    assert 80 <= search.trace().tree_nodes <= 91  # type: ignore[attr-defined]


# Decision 9
@pytest.mark.parametrize("made", [native, plain])
def test_rule_9_the_tree_is_kept_between_moves(made: Callable[..., object]) -> None:
    search = made(UP_AND_ON, simulations=500, **SEQUENTIAL)
    search_on(search)  # type: ignore[arg-type]
    machine = machine_of(UP_AND_ON)
    state = machine.next_state(machine.initial_state, ("up", "no"))
    search.enter(state, ("up", "no"))  # type: ignore[attr-defined]
    trace = search.trace()  # type: ignore[attr-defined]
    assert trace.root_visits > 100 and trace.simulations == 0


# Decision 9
@pytest.mark.parametrize("made", [native, plain])
def test_rule_9_nodes_not_touched_for_two_steps_are_dropped(made: Callable[..., object]) -> None:
    """The first state is looked for again, one, two and three steps after its last visit."""
    machine = machine_of(UP_AND_ON)
    first, other = machine.initial_state, machine.next_state(machine.initial_state, ("up", "no"))
    for steps, kept in ((1, True), (2, True), (3, False)):
        search = made(UP_AND_ON, simulations=20, **SEQUENTIAL)
        search_on(search)  # type: ignore[arg-type]
        for _ in range(steps - 1):
            search.enter(other, ("up", "no"))  # type: ignore[attr-defined]
        search.enter(first, ("up", "no"))  # type: ignore[attr-defined]
        assert (search.trace().root_visits == 20) == kept  # type: ignore[attr-defined]


# Decision 10
@pytest.mark.parametrize("made", [native, plain])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_rule_10_at_the_depth_limit_the_goals_of_that_state_count(
    made: Callable[..., object], depth: int
) -> None:
    """No simulation makes more than `depth` ups."""
    search = made(UP_AND_ON, simulations=200, C=0.0, **{**SEQUENTIAL, "depth": depth})
    search_on(search)  # type: ignore[arg-type]
    trace = search.trace()  # type: ignore[attr-defined]
    assert trace.visited_nodes == 200 * depth
    assert trace.deepest <= depth
    up = next(m for m in trace.moves if m.move == "up")
    assert 0.0099 <= up.mean <= depth / 100 + 1e-6


# Decision 11
@pytest.mark.parametrize("made", [native, plain])
def test_rule_11_thinking_before_the_first_move_goes_into_the_same_tree(
    made: Callable[..., object],
) -> None:
    search = made(UP_AND_ON, **SEQUENTIAL)
    search_on(search, simulations=40)  # type: ignore[arg-type]
    search_on(search, simulations=100)  # type: ignore[arg-type]
    assert search.trace().root_visits == 100  # type: ignore[attr-defined]


# Decision 18
@pytest.mark.parametrize("made", [native, plain])
def test_rule_18_visited_nodes_are_tree_edges_and_moves_of_playouts(
    made: Callable[..., object],
) -> None:
    """Every simulation of this game has 12 of them, wherever the tree ends."""
    for settings in ({}, {"in_flight": 64, "ramp": 0}):
        if settings and made is plain:
            continue
        search = made(UP_AND_ON, simulations=320, **{**SEQUENTIAL, **settings})
        search_on(search)  # type: ignore[arg-type]
        assert search.trace().visited_nodes == 320 * 12  # type: ignore[attr-defined]


class TestChance:
    # Decision 19
    def test_chance_draws_uniformly_whatever_was_found(self) -> None:
        game = CHOICE.replace("role a", "role random").replace(" a ", " random ")
        row = [(97, 97.0), (1, 0.0), (1, 0.0), (1, 0.0)]
        for make in (NativeBench, PlainBench):
            assert uniform(picks(make(game), 101, row, NO_CHOICE, times=400), range(4))


def test_counts_of_a_sequential_tree_add_up() -> None:
    for game in ("ticTacToe", "connectFour", "rockPaperScissors", "eightPuzzle", "nim"):
        for name in ("uct", "sp", "ap"):
            settings: dict[str, Value] = {**find_agent(name).settings, **SEQUENTIAL}
            search = native(game, simulations=400, **settings)
            search_on(search)
            root = root_of(search)
            assert root.visits == 400
            for node in nodes_of(search).values():
                for role in node.entries:
                    total = sum(tries for _, tries, _ in role)
                    assert total in (node.visits, node.visits - 1)
                    assert all(0 <= reward <= tries for _, tries, reward in role)
