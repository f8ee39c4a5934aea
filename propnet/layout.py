"""A network as the plain arrays that kernels read, and the arrays that they write.

Letters used in the kernels: F fluents, M moves of all roles, R roles, G goal outputs; `values`
(nodes, WORDS) has one row of lanes per node.  States that leave the kernels are *packed*: one row
of `state_words` uint64 per state, fluent f is bit f % 64 of word f // 64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.vectors import WORDS, rows

if TYPE_CHECKING:  # what makes networks is nothing that kernels depend on
    from propnet.network import Network

U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
"""A word of lanes: all of them, none of them."""

GATE_CODE, CHOICE_CODE = 0, 1
"""Places in `code`."""
ONE_WORD = 2
"""Added to the place of machine code for vectors of one word."""

HALF = 8
"""Added to the phase that machine code is called for where lanes from 256 on are not in use."""


EXTRA_ROWS = 6
"""Rows of lanes between those of the nodes and those of the roles."""


class Layout(NamedTuple):
    """A network for kernels; nothing but `code` is written after it was made."""

    first: I32
    """(nodes + 1,)"""
    inputs: I32
    """(edges,) literals"""
    bounds: I32
    """(PHASES + 1,) gates of phase p are nodes bounds[p] to bounds[p + 1] - 1"""
    fluents: int
    first_move: int
    first_feedback: int
    span: I32
    """(R + 1,) a role's moves are outputs legal[span[r]:span[r + 1]]"""
    next: I32
    """(F,) literals"""
    legal: I32
    """(M,) literals"""
    terminal: int
    goals: I32
    """(G,) literals, role by role, values ascending"""
    goal_role: I32
    """(G,)"""
    goal_value: NDArray[np.uint8]
    """(G,)"""
    wins: I32
    """(M,) literals"""
    may_win: I32
    """(W,) the moves whose literals of `wins` are not false"""
    blocks: I32
    """(M,) literals"""
    may_block: I32
    """(B,) likewise, first those that may block the most"""
    feedback: I32
    """(feedback,) literals"""
    feedback_phase: I32
    """(feedback,) POSITION or STEP"""
    feedback_stratum: I32
    """(feedback,) ascending"""
    initial: U64
    """(state_words,) packed initial state"""
    code: I64
    """(4,) addresses of machine code for the gates (see `propnet.codegen`) and for the choice of
    moves (see `propnet.choice_code`), 0 while there is none; first for 512 lanes, then for 64"""


class Lanes(NamedTuple):
    """What 512 games need while they are played; contents change with every kernel call.

    With one-word vectors, of 64 games, shapes are without WORDS (see `propnet.vectors`).
    """

    values: U64
    """(nodes + EXTRA_ROWS + R, WORDS); behind the nodes are `active`, `restart`, `random` and
    `wanted`, and of 64 lanes `legal`"""
    active: U64
    """(1, WORDS) lanes whose game goes on; a view of `values`"""
    restart: U64
    """(1, WORDS) lanes whose next state is the initial one; a view of `values`"""
    ended: U64
    """(1, WORDS) lanes that are being dealt with, one by one"""
    following: U64
    """(F, WORDS) the next state while it is being computed"""
    counter: U64
    """(3 * planes, WORDS) bit planes of the move choice: count, mask, rank"""
    groups: U64
    """(4 * groups, WORDS) bit planes of the legal moves in each group of 8 of one role; of 64 lanes
    (64 * words,) the legal moves of one role lane by lane, as bits"""
    wanted: U64
    """(R, WORDS) lanes in which a role's move is drawn at random; a view of `values`"""
    legal: U64
    """(M,) the lanes in which each move is legal, in vectors of one word; a view of `values`"""
    decided: U64
    """(R, WORDS) lanes in which a role makes a move that wins at once, see `propnet.wins`; none
    unless somebody has looked"""
    random: U64
    """(4, WORDS) state of the generators, one per word; a view of `values`"""
    behind: I64
    """(1,) numbers that all generators have not drawn yet but have to, see `propnet.few_lanes`"""
    block: U64
    """(64, WORDS) one 64 x 64 bit matrix per word"""
    code: I64
    """(2,) the machine code that is used for the present position, 0 for none"""
    half: I64
    """(1,) HALF while no lanes from 256 on are in use, else 0; what is in these may be anything"""


def layout_of(network: Network) -> Layout:
    """The arrays of a network."""
    roles = [r for r, values in enumerate(network.goal_values) for _ in values]
    values = [value for values in network.goal_values for value in values]
    sources_end = 1 + network.sources
    return Layout(
        first=network.first,
        inputs=network.inputs,
        bounds=np.concatenate(([sources_end], network.phase_end)).astype(np.int32),
        fluents=len(network.fluents),
        first_move=network.first_move,
        first_feedback=network.first_move + len(network.legal),
        span=network.move_span,
        next=network.next,
        legal=network.legal,
        terminal=network.terminal,
        goals=network.goals,
        goal_role=np.array(roles, np.int32),
        goal_value=np.array(values, np.uint8),
        wins=network.wins,
        may_win=np.flatnonzero(network.wins).astype(np.int32),
        blocks=network.blocks,
        may_block=_most_first(network.blocks, network.blocked),
        feedback=network.feedback,
        feedback_phase=network.feedback_phase,
        feedback_stratum=network.feedback_stratum,
        initial=pack(network.initial[np.newaxis])[0],
        code=np.zeros(4, np.int64),
    )


def _most_first(literals: I32, counts: I32) -> I32:
    """The moves whose literals are not false, those with the highest counts first."""
    moves = np.flatnonzero(literals)
    return moves[np.argsort(-counts[moves], kind="stable")].astype(np.int32)


def new_lanes(layout: Layout, seed: int) -> Lanes:
    """Working arrays for a layout; the random numbers follow from the seed."""
    lanes = _new_lanes(layout, WORDS)
    lanes.random[:] = np.random.Generator(np.random.PCG64(seed)).integers(
        1, 2**64, size=lanes.random.shape, dtype=np.uint64
    )
    return lanes


def new_few_lanes(layout: Layout) -> Lanes:
    """The same for 64 lanes: vectors of one word; the generator is to be set."""
    return _new_lanes(layout, 1)


def _new_lanes(layout: Layout, words: int) -> Lanes:
    most = int(np.diff(layout.span).max())
    nodes = len(layout.first) - 1
    roles_end = nodes + EXTRA_ROWS + len(layout.span) - 1
    values = rows(roles_end + (len(layout.legal) if words == 1 else 0), words)
    groups = 4 * (-(-most // 8)) if words > 1 else 64 * state_words(most)
    return Lanes(
        values=values,
        active=values[nodes : nodes + 1],
        restart=values[nodes + 1 : nodes + 2],
        ended=rows(1, words),
        following=rows(layout.fluents, words),
        counter=rows(3 * choice_planes(most), words),
        groups=rows(groups, words),
        wanted=values[nodes + EXTRA_ROWS : roles_end],
        legal=values[roles_end:],
        decided=rows(len(layout.span) - 1, words),
        random=values[nodes + 2 : nodes + 6],
        behind=np.zeros(1, np.int64),
        block=rows(64, words),
        code=np.zeros(2, np.int64),
        half=np.zeros(1, np.int64),
    )


def choice_planes(moves: int) -> int:
    """Bit planes for the number of legal moves of a role; no fewer than for a group of 8."""
    return max(4, moves.bit_length())


def state_words(fluents: int) -> int:
    """Words of a packed state."""
    return max(1, (fluents + 63) // 64)


def pack(bits: NDArray[np.bool_]) -> U64:
    """(n, F) truth values as (n, state_words) packed states."""
    count, fluents = bits.shape
    padded = np.zeros((count, 64 * state_words(fluents)), np.bool_)
    padded[:, :fluents] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpack(states: U64, fluents: int) -> NDArray[np.bool_]:
    """(n, state_words) packed states as (n, F) truth values."""
    bytes_ = np.ascontiguousarray(states).view(np.uint8)
    return np.unpackbits(bytes_, axis=1, bitorder="little")[:, :fluents].astype(np.bool_)
