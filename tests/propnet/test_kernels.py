"""The kernels: states in and out, exact random choice of moves, playouts, goals."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.grounding import ground
from gdl.rules import RuleSheet
from propnet import kernels
from propnet.compiling import compile_in_background
from propnet.layout import Lanes, Layout, layout_of, new_lanes, pack, state_words, unpack
from propnet.network import Network, compile_network
from propnet.vectors import LANES, WORDS
from tests.naive import mean_and_deviation, random_tic_tac_toe
from tests.small_sheets import small_sheet, tic_tac_toe

U64 = NDArray[np.uint64]
Bits = NDArray[np.bool_]
ALL_LANES = np.full((1, WORDS), kernels.ALL)


@cache
def _network(name: str) -> Network:
    sheet = tic_tac_toe() if name == "tic-tac-toe" else small_sheet(name)
    return compile_network(ground(sheet))


@cache
def _choice(*counts: int) -> Network:
    """A game without end whose role number r may make move i where the fluent (f r i) is true."""
    rules = ["(<= (next (f ?r ?i)) (true (f ?r ?i))) (<= terminal (true nothing))"]
    rules += ["(<= (legal ?r (m ?i)) (true (f ?r ?i))) (<= (goal ?r 0) (role ?r))"]
    for role, count in enumerate(counts):
        rules.append(f"(role r{role})")
        rules += [f"(init (f r{role} {i}))" for i in range(count)]
    return compile_network(ground(RuleSheet.from_text(" ".join(rules))))


def _ready(network: Network, seed: int = 1) -> tuple[Layout, Lanes]:
    """All lanes in the initial state."""
    layout = layout_of(network)
    lanes = new_lanes(layout, seed)
    kernels.reset(layout, lanes, ALL_LANES)
    lanes.active[:] = kernels.ALL
    return layout, lanes


def _lanes_of(rows: U64) -> Bits:
    """(n, WORDS) rows as (n, LANES) truth values."""
    bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")
    return bits.astype(np.bool_)


def _read(lanes: Lanes, literals: NDArray[np.int32]) -> Bits:
    inverted = (literals & 1).astype(bool)
    read: Bits = _lanes_of(lanes.values[literals >> 1]) ^ inverted[:, np.newaxis]
    return read


def _moves_made(layout: Layout, lanes: Lanes) -> Bits:
    """(moves, LANES)"""
    return _lanes_of(lanes.values[layout.first_move : layout.first_move + len(layout.legal)])


def _load(layout: Layout, lanes: Lanes, bits: Bits) -> None:
    """Put (n, fluents) states into the first lanes."""
    kernels.load_states(layout, lanes, pack(bits), len(bits))


def _random_bits(*shape: int, seed: int = 0) -> Bits:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 2, shape).astype(bool)


# --------------------------------------------------------------------------------------- states


@pytest.mark.parametrize("fluents", [0, 1, 63, 64, 65, 200])
def test_packing_is_undone_by_unpacking(fluents: int) -> None:
    bits = _random_bits(7, fluents)
    packed = pack(bits)
    assert packed.shape == (7, state_words(fluents))
    assert (unpack(packed, fluents) == bits).all()


def test_a_fluent_is_the_bit_of_its_number() -> None:
    bits = np.zeros((1, 130), np.bool_)
    bits[0, [0, 65, 129]] = True
    assert pack(bits)[0].tolist() == [1, 2, 2]


def test_transposing_swaps_rows_and_bits() -> None:
    block = _random_rows(64, seed=3)
    before = _bits_of_matrices(block)
    kernels.transpose(block)
    assert (_bits_of_matrices(block) == before.transpose(0, 2, 1)).all()


def _bits_of_matrices(block: U64) -> Bits:
    """(64, WORDS) as (WORDS, 64 rows, 64 bits)."""
    return _lanes_of(block).reshape(64, WORDS, 64).transpose(1, 0, 2)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 100, 511, 512])
@pytest.mark.parametrize("fluents", [1, 64, 70])
def test_states_come_out_as_they_went_in(fluents: int, count: int) -> None:
    layout, lanes = _ready(_choice(fluents))
    bits = _random_bits(count, fluents)
    _load(layout, lanes, bits)
    assert (_lanes_of(lanes.values[1 : 1 + fluents])[:, :count] == bits.T).all()
    assert not _lanes_of(lanes.values[1 : 1 + fluents])[:, count:].any()
    saved = np.zeros((count, state_words(fluents)), np.uint64)
    kernels.save_states(layout, lanes, saved, count)
    assert (saved == pack(bits)).all()


def test_loading_writes_nothing_but_fluents() -> None:
    layout, lanes = _ready(_choice(70))
    lanes.values[71:] = np.uint64(0x123456789ABCDEF0)
    lanes.values[0] = 0
    _load(layout, lanes, _random_bits(512, 70))
    assert (lanes.values[71:] == np.uint64(0x123456789ABCDEF0)).all()
    assert not lanes.values[0].any()


def test_reset_touches_only_the_chosen_lanes() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    lanes.values[1 : 1 + layout.fluents] = 0
    which = np.zeros((1, WORDS), np.uint64)
    which[0, 2] = np.uint64(0xF0)
    kernels.reset(layout, lanes, which)
    states = _lanes_of(lanes.values[1 : 1 + layout.fluents]).T
    chosen = _lanes_of(which)[0]
    assert (states[chosen] == network.initial).all()
    assert not states[~chosen].any()
    assert chosen.sum() == 4


# ------------------------------------------------------------------------------- choosing moves


@pytest.mark.parametrize("counts", [(1,), (2,), (3, 1), (7, 8, 9), (40, 3), (130,)])
def test_every_role_makes_exactly_one_legal_move_in_every_lane(counts: tuple[int, ...]) -> None:
    network = _choice(*counts)
    layout, lanes = _ready(network)
    for seed in range(20):
        bits = _random_bits(LANES, layout.fluents, seed=seed)
        if seed % 2:  # sparse
            bits &= _random_bits(LANES, layout.fluents, seed=seed + 100)
        _load(layout, lanes, bits)
        kernels.see_position(layout, lanes)
        kernels.choose_moves(layout, lanes)
        legal, made = _read(lanes, layout.legal), _moves_made(layout, lanes)
        assert not (made & ~legal).any()
        for low, high in zip(layout.span[:-1], layout.span[1:], strict=True):
            some = legal[low:high].any(axis=0)
            assert (made[low:high].sum(axis=0) == some).all()


def test_a_role_without_legal_move_makes_none() -> None:
    layout, lanes = _ready(_choice(5, 2))
    _load(layout, lanes, np.zeros((LANES, layout.fluents), np.bool_))
    kernels.see_position(layout, lanes)
    kernels.choose_moves(layout, lanes)
    assert not _moves_made(layout, lanes).any()


def _critical(freedom: int) -> float:
    """Chi-square that a fair chooser exceeds once in 10,000 samples (Wilson and Hilferty, 1931)."""
    share = 2 / (9 * freedom)
    return float(freedom * (1 - share + 3.719 * share**0.5) ** 3)


def _chi_square(counts: NDArray[np.int64]) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2).sum() / expected)


def _drawn(layout: Layout, lanes: Lanes, calls: int) -> NDArray[np.int64]:
    """(calls, LANES) the move made; all lanes in the same state with one role."""
    kernels.see_position(layout, lanes)
    result = np.empty((calls, LANES), np.int64)
    for call in range(calls):
        kernels.choose_moves(layout, lanes)
        result[call] = _moves_made(layout, lanes).argmax(axis=0)
    return result


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9, 100, 127, 128, 129])
def test_all_legal_moves_are_equally_likely(count: int) -> None:
    layout, lanes = _ready(_choice(count))
    calls = 40 if count < 10 else 120
    drawn = _drawn(layout, lanes, calls)
    counts = np.bincount(drawn.ravel(), minlength=count)
    assert counts.sum() == calls * LANES
    assert _chi_square(counts) < _critical(count - 1)


@pytest.mark.parametrize("count", [3, 5, 6, 7, 9, 100])
def test_the_test_rejects_what_is_slightly_biased(count: int) -> None:
    """Such as a random number of enough bits, the remainder of which is taken."""
    generator = np.random.Generator(np.random.PCG64(5))
    samples = (40 if count < 10 else 120) * LANES
    remainders = generator.integers(0, 1 << (count - 1).bit_length(), samples) % count
    assert _chi_square(np.bincount(remainders, minlength=count)) > _critical(count - 1)
    fair = generator.integers(0, count, samples)
    assert _chi_square(np.bincount(fair, minlength=count)) < _critical(count - 1)


@pytest.mark.parametrize("legal", [(0, 8), (1, 4, 6), (0, 1, 2, 5, 8), (3,)])
def test_a_few_of_many_moves_are_equally_likely(legal: tuple[int, ...]) -> None:
    layout, lanes = _ready(_choice(9))
    state = np.zeros(9, np.bool_)
    state[_fluent_numbers(9)[list(legal)]] = True
    _load(layout, lanes, np.tile(state, (LANES, 1)))
    counts = np.bincount(_drawn(layout, lanes, 40).ravel(), minlength=9)
    assert set(np.flatnonzero(counts)) == set(legal)
    if len(legal) > 1:
        assert _chi_square(counts[list(legal)]) < _critical(len(legal) - 1)


def _fluent_numbers(count: int) -> NDArray[np.int64]:
    """Move number → the fluent that allows it."""
    network = _choice(count)
    names = [f[2] for f in network.fluents if isinstance(f, tuple)]
    return np.array([names.index(m[1]) for m in network.moves[0] if isinstance(m, tuple)])


def test_lanes_with_different_counts_do_not_disturb_each_other() -> None:
    """Lane by lane another number of legal moves, 1 to 9; each is uniform on its own."""
    layout, lanes = _ready(_choice(9))
    order = _fluent_numbers(9)
    states = np.zeros((LANES, 9), np.bool_)
    sizes = np.arange(LANES) % 9 + 1
    for lane in range(LANES):
        states[lane, order[: sizes[lane]]] = True
    _load(layout, lanes, states)
    drawn = _drawn(layout, lanes, 200)
    for size in range(2, 10):
        counts = np.bincount(drawn[:, sizes == size].ravel(), minlength=9)
        assert not counts[size:].any()
        assert _chi_square(counts[:size]) < _critical(size - 1)


def test_choices_do_not_depend_on_each_other() -> None:
    """Not one after the other, not in neighbouring lanes or words, not those of two roles."""
    layout, lanes = _ready(_choice(3))
    drawn = _drawn(layout, lanes, 80)
    for one, two in (
        (drawn[:-1], drawn[1:]),
        (drawn[:, :-1], drawn[:, 1:]),
        (drawn[:, :-64], drawn[:, 64:]),
    ):
        counts = np.bincount((3 * one + two).ravel(), minlength=9)
        assert _chi_square(counts) < _critical(8)
    layout, lanes = _ready(_choice(3, 3))
    kernels.see_position(layout, lanes)
    counts = np.zeros(9, np.int64)
    for _ in range(80):
        kernels.choose_moves(layout, lanes)
        made = _moves_made(layout, lanes)
        pair = 3 * made[:3].argmax(axis=0) + made[3:].argmax(axis=0)
        counts += np.bincount(pair, minlength=9)
    assert _chi_square(counts) < _critical(8)


def test_the_seed_decides_the_choices() -> None:
    runs = [_drawn(*_ready(_choice(7), seed), 5) for seed in (4, 4, 5)]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()


def _order(layout: Layout, seed: int) -> NDArray[np.int32]:
    """(moves,) every role's moves in some order."""
    generator = np.random.Generator(np.random.PCG64(seed))
    spans = zip(layout.span[:-1], layout.span[1:], strict=True)
    return np.concatenate([generator.permutation(np.arange(*span)) for span in spans]).astype(
        np.int32
    )


def _random_rows(count: int, seed: int) -> U64:
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.integers(0, 2**64, size=(count, WORDS), dtype=np.uint64)


@pytest.mark.parametrize("counts", [(1,), (3, 1), (7, 8, 9), (70, 3)])
def test_greedy_lanes_take_the_first_legal_move_of_the_order(counts: tuple[int, ...]) -> None:
    layout, lanes = _ready(_choice(*counts))
    for seed in range(6):
        bits = _random_bits(LANES, layout.fluents, seed=seed)
        if seed % 2:
            bits &= _random_bits(LANES, layout.fluents, seed=seed + 100)
        _load(layout, lanes, bits)
        kernels.see_position(layout, lanes)
        order, greedy = _order(layout, seed), _random_rows(len(counts), seed)
        kernels.choose_moves_greedily(layout, lanes, order, greedy)
        legal, made = _read(lanes, layout.legal), _moves_made(layout, lanes)
        assert not (made & ~legal).any()
        for role, (low, high) in enumerate(zip(layout.span[:-1], layout.span[1:], strict=True)):
            some = legal[low:high].any(axis=0)
            assert (made[low:high].sum(axis=0) == some).all()
            first = order[low + legal[order[low:high]].argmax(axis=0)]
            chosen = _lanes_of(greedy)[role] & some
            assert made[first[chosen], np.flatnonzero(chosen)].all()


def test_lanes_that_are_not_greedy_choose_uniformly() -> None:
    layout, lanes = _ready(_choice(7, 5))
    kernels.see_position(layout, lanes)
    greedy, counts = _random_rows(2, 1), np.zeros(12, np.int64)
    for seed in range(60):
        kernels.choose_moves_greedily(layout, lanes, _order(layout, seed), greedy)
        made, random = _moves_made(layout, lanes), ~_lanes_of(greedy)
        counts[:7] += made[:7, random[0]].sum(axis=1)
        counts[7:] += made[7:, random[1]].sum(axis=1)
    assert _chi_square(counts[:7]) < _critical(6)
    assert _chi_square(counts[7:]) < _critical(4)


def test_without_greedy_lanes_it_is_the_random_choice() -> None:
    layout, lanes = _ready(_choice(9, 4))
    kernels.see_position(layout, lanes)
    kernels.choose_moves(layout, lanes)
    expected = _moves_made(layout, lanes)
    layout, lanes = _ready(_choice(9, 4))
    kernels.see_position(layout, lanes)
    none = np.zeros((2, WORDS), np.uint64)
    kernels.choose_moves_greedily(layout, lanes, _order(layout, 3), none)
    assert (_moves_made(layout, lanes) == expected).all()


def test_lanes_are_drawn_with_their_own_probabilities() -> None:
    _, lanes = _ready(_choice(1))
    probability = np.array([0, 1, 0x4000, 0x8000, 0xC000, 0xFFFF])[np.arange(LANES) % 6]
    chance = np.zeros((16, WORDS), np.uint64)
    for lane, value in enumerate(probability.tolist()):
        for plane in range(16):
            chance[plane, lane // 64] |= np.uint64((value >> plane & 1) << lane % 64)
    drawn = np.zeros((3, WORDS), np.uint64)
    counts = np.zeros((3, LANES), np.int64)
    for _ in range(400):
        kernels.draw_lanes(lanes, chance, drawn)
        counts += _lanes_of(drawn)
    for value in set(probability.tolist()):
        share, tries = value / 2**16, 400 * (probability == value).sum()
        for row in range(3):
            seen = counts[row, probability == value].sum()
            assert abs(seen - tries * share) <= 4 * (tries * share * (1 - share)) ** 0.5 + 8 * (
                0 < share < 0.001 or share > 0.999
            )


@pytest.mark.parametrize("code", [False, True])
def test_lanes_that_are_not_active_make_no_move_and_draw_nothing(code: bool) -> None:
    network = _choice(9)
    layout, lanes = _ready(network)
    if code:
        compilation = compile_in_background(network, layout)
        assert compilation is not None and compilation.wait(60)
    lanes.active[:] = 0
    lanes.active[0, 3] = np.uint64(0b1011)
    before = lanes.random.copy()
    _load(layout, lanes, np.ones((LANES, 9), np.bool_))
    kernels.see_position(layout, lanes)
    for greedy in (0, kernels.ALL):
        kernels.choose_moves(layout, lanes)
        if greedy:
            order, rows = np.arange(9, dtype=np.int32), np.full((1, WORDS), greedy)
            kernels.choose_moves_greedily(layout, lanes, order, rows)
        made = np.bitwise_or.reduce(lanes.values[layout.first_move :][:9])
        assert (made == lanes.active[0]).all()
    assert (before != lanes.random).any(axis=0).tolist() == [w == 3 for w in range(WORDS)]


def test_what_a_word_draws_does_not_depend_on_the_other_words() -> None:
    """The same lanes in words 2 and 5 choose the same, whatever is in the other words."""
    layout, lanes = _ready(_choice(9))
    bits = _random_bits(LANES, 9, seed=1)
    kept = [2, 5]
    runs = []
    for other in (2, 3):
        state = _random_bits(LANES, 9, seed=other) & _random_bits(LANES, 9, seed=other + 10)
        for word in kept:
            state[64 * word : 64 * word + 64] = bits[64 * word : 64 * word + 64]
        lanes = new_lanes(layout, seed=4)
        lanes.active[:] = kernels.ALL
        made = []
        for _ in range(5):
            _load(layout, lanes, state)
            kernels.see_position(layout, lanes)
            kernels.choose_moves(layout, lanes)
            made.append(lanes.values[layout.first_move :][:9].copy())
        runs.append(np.array(made))
    assert (runs[0][:, :, kept] == runs[1][:, :, kept]).all()
    assert (runs[0] != runs[1]).any()


# ------------------------------------------------------------------------- playing and goals


def _marks(network: Network, lanes: Lanes) -> NDArray[np.int64]:
    """(LANES,) marks on the board of tic-tac-toe."""
    rows = [
        1 + i
        for i, fluent in enumerate(network.fluents)
        if isinstance(fluent, tuple) and fluent[0] == "cell" and fluent[3] != "b"
    ]
    count: NDArray[np.int64] = _lanes_of(lanes.values[rows]).sum(axis=0)
    return count


def _play(layout: Layout, lanes: Lanes, limit: int = 500) -> tuple[int, NDArray[np.int32]]:
    """Transitions, and lengths per lane."""
    lengths = np.full(LANES, 77, np.int32)
    limits = np.full(LANES, limit, np.int32)
    return kernels.playout(layout, lanes, limits, lengths), lengths


def test_a_playout_ends_every_game_and_freezes_it_there() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    transitions, lengths = _play(layout, lanes)
    assert not lanes.active.any()
    assert (lengths == _marks(network, lanes)).all()
    assert transitions == lengths.sum()
    assert set(lengths) == {5, 6, 7, 8, 9}  # frozen when the first of them ended
    assert _read(lanes, np.array([layout.terminal], np.int32)).all()


def test_a_playout_is_cut_off_at_its_limit() -> None:
    network = _network("tic-tac-toe")
    for limit in (0, 1, 3, 7, 9):
        layout, lanes = _ready(network)
        transitions, lengths = _play(layout, lanes, limit)
        assert not lanes.active.any()
        assert (lengths == _marks(network, lanes)).all()
        assert transitions == lengths.sum() and lengths.max() == limit
        if limit < 5:
            assert lengths.min() == limit


def test_every_lane_has_a_limit_of_its_own() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    limits = (np.arange(LANES) % 11).astype(np.int32)
    lengths = np.zeros(LANES, np.int32)
    transitions = kernels.playout(layout, lanes, limits, lengths)
    assert (lengths == _marks(network, lanes)).all()
    assert (lengths <= limits).all() and (lengths[limits < 5] == limits[limits < 5]).all()
    assert transitions == lengths.sum()


def test_a_playout_leaves_inactive_lanes_alone() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    lanes.active[:] = 0
    lanes.active[0, 3] = np.uint64(0b101)
    _, lengths = _play(layout, lanes)
    played = np.flatnonzero(lengths)
    assert played.tolist() == [192, 194]
    assert np.flatnonzero(_marks(network, lanes)).tolist() == [192, 194]


def test_lanes_that_restart_get_the_initial_state() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    _play(layout, lanes, 3)
    lanes.restart[0, 2] = np.uint64(0xF0)
    lanes.active[:] = ~lanes.restart
    lanes.active[0, 7] = 0
    kernels.see_position(layout, lanes)
    kernels.choose_moves(layout, lanes)
    kernels.advance(layout, lanes)
    marks, restarted = _marks(network, lanes), _lanes_of(lanes.restart)[0]
    assert (marks[restarted] == 0).all() and restarted.sum() == 4
    assert (marks[448:] == 3).all() and (marks[:448][~restarted[:448]] == 4).all()


def test_playouts_are_random_play() -> None:
    """Lengths and goals of 20 batches within 4 standard errors of the exact ones."""
    network, outcomes = _network("tic-tac-toe"), random_tic_tac_toe()
    layout, lanes = _ready(network)
    goals = np.zeros((2, LANES), np.uint8)
    seen = []
    for _ in range(20):
        kernels.reset(layout, lanes, ALL_LANES)
        lanes.active[:] = kernels.ALL
        _play(layout, lanes)
        kernels.read_goals(layout, lanes, goals)
        seen.append(np.stack((_marks(network, lanes), goals[0], goals[1])))
    played = np.concatenate(seen, axis=1).astype(int)
    for row, value in enumerate((None, 0, 1)):
        mean, deviation = mean_and_deviation(outcomes, value)
        assert abs(played[row].mean() - mean) < 4 * deviation / played.shape[1] ** 0.5
    kinds, counts = np.unique(played, axis=1, return_counts=True)
    assert {(n, (x, o)) for n, x, o in kinds.T.tolist()} == set(outcomes)
    expected = np.array([outcomes[(n, (x, o))] for n, x, o in kinds.T.tolist()]) * counts.sum()
    assert ((counts - expected) ** 2 / expected).sum() < _critical(len(counts) - 1)


def test_the_highest_goal_that_holds_counts() -> None:
    network = _network("goals: several, none, not integers")
    layout, lanes = _ready(network)
    goals = np.full((4, LANES), 77, np.uint8)
    kernels.see_position(layout, lanes)
    kernels.read_goals(layout, lanes, goals)
    assert [set(row) for row in goals.tolist()] == [{50}, {0}, {30}, {0}]
    b = np.array([fluent == "b" for fluent in network.fluents])
    _load(layout, lanes, np.where(np.arange(LANES)[:, np.newaxis] % 3 == 0, b, False))
    kernels.see_position(layout, lanes)
    kernels.read_goals(layout, lanes, goals)
    assert goals[0].tolist() == [90 if lane % 3 == 0 else 50 for lane in range(LANES)]


def test_moves_from_outside_are_made_in_their_lanes() -> None:
    network = _network("simultaneous moves")
    layout, lanes = _ready(network)
    kernels.see_position(layout, lanes)
    moves = np.array([(i % 3, i // 3 % 3) for i in range(100)], np.int32)
    kernels.set_moves(layout, lanes, moves, len(moves))
    made = _moves_made(layout, lanes)
    assert (made[:3, :100].argmax(axis=0) == moves[:, 0]).all()
    assert (made[3:, :100].argmax(axis=0) == moves[:, 1]).all()
    assert made[:, :100].sum() == 200 and not made[:, 100:].any()


def test_legal_rows_are_the_legal_moves() -> None:
    layout, lanes = _ready(_choice(9))
    bits = _random_bits(LANES, 9)
    _load(layout, lanes, bits)
    kernels.see_position(layout, lanes)
    legal = np.zeros((9, WORDS), np.uint64)
    kernels.legal_rows(layout, lanes, legal)
    assert (_lanes_of(legal) == bits.T[_fluent_numbers(9)]).all()


def test_lanes_that_are_not_active_stay() -> None:
    network = _network("tic-tac-toe")
    layout, lanes = _ready(network)
    lanes.active[:] = 0
    lanes.active[0, 0] = np.uint64(0xFF)
    kernels.see_position(layout, lanes)
    kernels.choose_moves(layout, lanes)
    kernels.advance(layout, lanes)
    assert (_marks(network, lanes) == (np.arange(LANES) < 8)).all()


# ------------------------------------------------------------------------------ positive cycles


def test_cycles_are_least_fixpoints_in_every_lane_and_again_for_every_position() -> None:
    """Reachability: what was reachable in the position before must not support itself."""
    network = _network("recursion over fluents")
    layout, lanes = _ready(network)
    names = [f if isinstance(f, tuple) else (f,) for f in network.fluents]
    edges = [i for i, f in enumerate(names) if f[0] == "edge"]
    for seed in range(6):
        bits = np.zeros((LANES, len(names)), np.bool_)
        density = _random_bits(LANES, len(edges), seed=seed)
        if seed % 2:
            density &= _random_bits(LANES, len(edges), seed=seed + 50)
        bits[:, edges] = density
        _load(layout, lanes, bits)
        kernels.see_position(layout, lanes)
        terminal = _read(lanes, np.array([layout.terminal], np.int32))[0]
        goals = np.zeros((1, LANES), np.uint8)
        kernels.read_goals(layout, lanes, goals)
        for lane in range(0, LANES, 7):
            reach = _closure({(names[i][1], names[i][2]) for i in edges if bits[lane, i]})
            assert terminal[lane] == any(a == b for a, b in reach)
            goal = 0 if ("a", "d") not in reach else 10 if ("b", "a") in reach else 100
            assert goals[0, lane] == goal


def _closure(pairs: set[tuple[object, object]]) -> set[tuple[object, object]]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more
