"""The list of strategies, and the only place that branches between them.

Which playout policy and which selection an agent has is known when its search is made; kernels
branch once per batch, playout step, or node, on numbers that never change.  A kernel for each
combination would be nine to compile and to keep instead of one.

To add a strategy: its module, its name and number here, and a branch in the hooks that it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ggp_agent.agents import Agent
from ggp_agent.parameters import Parameter, declare
from ggp_agent.search.candidates import Candidates
from ggp_agent.search.kernel import part
from ggp_agent.search.played_moves import sort_by_lane
from ggp_agent.search.strategies import (
    decisive,
    gibbs,
    grave,
    mast,
    move_history,
    progressive_history,
    uct,
    uniform,
)
from ggp_agent.search.strategies.plain import PlainPlayout, PlainSelection
from ggp_agent.search.tree import Tree
from propnet.layout import I32, Lanes, Layout

if TYPE_CHECKING:
    from ggp_agent.search.arrays import Arrays

PLAYOUTS: Mapping[str, type[PlainPlayout]] = {
    "uniform": uniform.PlainUniform,
    "mast": mast.PlainMast,
    "gibbs": gibbs.PlainGibbs,
}
"""The playout policies, with their counterparts for the plain search."""
UNIFORM, MAST, GIBBS = range(len(PLAYOUTS))

SELECTIONS: Mapping[str, type[PlainSelection]] = {
    "uct": uct.PlainUct,
    "grave": grave.PlainGrave,
    "progressive_history": progressive_history.PlainProgressiveHistory,
}
"""The selections, likewise."""
UCT, GRAVE, PROGRESSIVE_HISTORY = range(len(SELECTIONS))

declare(
    Parameter(
        "selection",
        "uct",
        "which value selection goes by in the tree",
        choices=tuple(SELECTIONS),
        source="the strategies' modules in ggp_agent.search.strategies",
    ),
    Parameter(
        "playout",
        "uniform",
        "moves of playouts: uniform, MAST with epsilon-greedy choice, or MAST with Gibbs measure",
        choices=tuple(PLAYOUTS),
        source="the strategies' modules in ggp_agent.search.strategies",
    ),
)


class Options(NamedTuple):
    """What an agent has chosen, as kernels want it."""

    selection: int
    """UCT, GRAVE or PROGRESSIVE_HISTORY"""
    playout: int
    """UNIFORM, MAST or GIBBS"""
    history: bool
    """whether the history of moves is kept"""
    decisive: int
    """OFF, WINS or BLOCKS: which moves are made in playouts whatever their policy says"""
    solver: bool
    """whether proven scores are backed up"""
    chance: int
    """number of the role that stands for chance and draws its moves uniformly; -1: none"""


def options_of(agent: Agent, chance: int) -> Options:
    """The options of an agent in a game with this role of chance."""
    selection = list(SELECTIONS).index(str(agent["selection"]))
    playout = list(PLAYOUTS).index(str(agent["playout"]))
    return Options(
        selection=selection,
        playout=playout,
        history=playout in (MAST, GIBBS) or selection == PROGRESSIVE_HISTORY,
        decisive=decisive.CHOICES.index(str(agent["decisive"])),
        solver=agent["solver"] == "on",
        chance=chance,
    )


# Hooks of selections


@part
def begin_simulation(arrays: Arrays, slot: int, root: int) -> None:
    """A simulation starts at the root."""
    if arrays.options.selection == GRAVE:
        grave.begin(arrays, slot, root)


@part
def arrive(tree: Tree, arrays: Arrays, slot: int, node: int) -> None:
    """A simulation has come to a node, and counts as one of its visits."""
    if arrays.options.selection == GRAVE:
        grave.arrive(tree, arrays, slot, node)


@part
def fetch(tree: Tree, arrays: Arrays, slot: int, most: int) -> None:
    """Have what `value_moves` will read under way, where it is no more than `most` words."""
    if arrays.options.selection == GRAVE:
        grave.fetch_tables(tree, arrays, slot, most)


@part
def value_moves(tree: Tree, arrays: Arrays, slot: int, role: int, moves: Candidates) -> float:
    """Write the values of a role's moves in a node to `scratch.values`; returns the highest."""
    if arrays.options.selection == GRAVE:
        return grave.value_moves(tree, arrays, slot, role, moves)
    if arrays.options.selection == PROGRESSIVE_HISTORY:
        return progressive_history.value_moves(arrays, slot, role, moves)
    return uct.value_moves(arrays, slot, role, moves)


# Hooks of playout policies


@part
def prepare_batch(layout: Layout, arrays: Arrays, simulations: int, playouts: int) -> None:
    """Before the playouts of a batch, `playouts` of each of the first slots."""
    if arrays.options.playout != UNIFORM:
        move_history.sort_moves(layout, arrays.history)
    if arrays.options.playout == MAST:
        mast.prepare_batch(arrays, simulations, playouts)


@part
def choose_moves(layout: Layout, lanes: Lanes, arrays: Arrays) -> None:
    """Choose a joint move in every active lane."""
    if arrays.options.playout == UNIFORM:
        uniform.choose_moves(layout, lanes)
    elif arrays.options.playout == MAST:
        mast.choose_moves(layout, lanes, arrays)
    else:
        gibbs.choose_moves(layout, lanes, arrays)


@part
def pick_move(arrays: Arrays, slot: int, role: int, moves: Candidates) -> int:
    """Which of a role's moves in a node of the tree the playout's policy picks."""
    if arrays.options.playout == UNIFORM:
        return uniform.pick_move(arrays, moves.size)
    if arrays.options.playout == MAST:
        return mast.pick_move(arrays, slot, role, moves)
    return gibbs.pick_move(arrays, role, moves)


# Hooks of both


@part
def counts_moves(arrays: Arrays) -> bool:
    """Whether anybody learns from the moves of playouts."""
    return arrays.options.history or arrays.options.selection == GRAVE


@part
def learn_from_path(tree: Tree, arrays: Arrays, slot: int) -> None:
    """Learn from the moves that a simulation made in the tree, which `scratch` lists by level."""
    if arrays.options.history:
        moves = arrays.slots.depth[slot] * len(tree.best)
        move_history.learn_from_path(arrays, moves)
    if arrays.options.selection == GRAVE:
        grave.learn_from_path(tree, arrays, slot)


@part
def learn_from_lanes(
    layout: Layout, lanes: Lanes, arrays: Arrays, locks: I32, simulations: int, playouts: int
) -> None:
    """Learn from the moves of all playouts that are over; sort them by lane for who wants it."""
    if arrays.options.history:
        move_history.learn_from_playouts(layout, lanes, arrays, locks)
    if arrays.options.selection == GRAVE:
        sort_by_lane(layout, lanes, arrays.played, simulations * playouts)


@part
def learn_from_playouts(
    layout: Layout, tree: Tree, arrays: Arrays, simulations: int, playouts: int
) -> None:
    """Learn from the moves of each playout that is over, sorted by lane."""
    if arrays.options.selection == GRAVE:
        grave.learn_from_playouts(layout, tree, arrays, simulations, playouts)


def forget_after_move(layout: Layout, arrays: Arrays) -> None:
    """Forget a part after a real move."""
    move_history.forget_after_move(layout, arrays)


def forget_all(arrays: Arrays) -> None:
    """A new game begins."""
    move_history.forget_all(arrays)
