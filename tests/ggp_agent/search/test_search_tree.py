"""The tree: adding and finding nodes, hash collisions, clearing, keeping a part."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from ggp_agent.search.tree import (
    ENTRIES,
    NO_NODE,
    NODES,
    OPEN,
    Tree,
    add_node,
    clear,
    extend_joint,
    find_child,
    keep_subtree,
    new_tree,
)
from tests.ggp_agent.search.positions import Node, Path, native, nodes_of, search_on

ROOT_STATE = np.array([7], np.uint64)


def small_tree(nodes: int = 8) -> Tree:
    tree = new_tree(nodes, entries=16, state_words=1, roles=2)
    clear(tree, ROOT_STATE)
    return tree


def joints_by_slot(tree: Tree) -> dict[int, list[np.uint64]]:
    """Joint moves of the root by the slot of the hash table that each takes in an empty one."""
    families: dict[int, list[np.uint64]] = defaultdict(list)
    for number in range(400):
        joint = np.uint64(number)
        clear(tree, ROOT_STATE)
        add_node(tree, 0, joint)
        (slot,) = np.flatnonzero(tree.edges != NO_NODE)
        families[int(slot)].append(joint)
    clear(tree, ROOT_STATE)
    return families


class TestNodes:
    def test_a_cleared_tree_is_a_root_without_visits(self) -> None:
        tree = small_tree()
        assert tree.size.tolist() == [1, 0]
        assert tree.state[0] == 7
        assert (tree.visits[0], tree.parent[0]) == (0, NO_NODE)
        assert (tree.edges == NO_NODE).all()

    def test_a_child_is_found_by_its_joint_move_only(self) -> None:
        tree = small_tree()
        child = add_node(tree, 0, np.uint64(5))
        grandchild = add_node(tree, child, np.uint64(5))
        assert find_child(tree, 0, np.uint64(5)) == child == 1
        assert find_child(tree, child, np.uint64(5)) == grandchild == 2
        assert find_child(tree, 0, np.uint64(6)) == NO_NODE
        assert find_child(tree, grandchild, np.uint64(5)) == NO_NODE

    def test_children_that_share_a_slot_are_told_apart(self) -> None:
        tree = small_tree()
        family = next(f for f in joints_by_slot(tree).values() if len(f) >= 8)
        *known, unknown = family[:8]
        children = [add_node(tree, 0, joint) for joint in known]
        assert [find_child(tree, 0, joint) for joint in known] == children
        assert find_child(tree, 0, unknown) == NO_NODE

    def test_collisions_go_round_the_end_of_the_table(self) -> None:
        tree = small_tree()
        last = len(tree.edges) - 1
        family = joints_by_slot(tree)[last][:4]
        children = [add_node(tree, 0, joint) for joint in family]
        assert tree.edges[last] == children[0]
        assert tree.edges[:3].tolist() == children[1:]
        assert [find_child(tree, 0, joint) for joint in family] == children

    def test_a_full_tree_finds_everything(self) -> None:
        tree = small_tree(nodes=256)
        rng = np.random.default_rng(1)
        edges = {}
        while tree.size[NODES] < 256:
            parent = int(rng.integers(tree.size[NODES]))
            joint = rng.integers(2**64, dtype=np.uint64)
            edges[parent, int(joint)] = add_node(tree, parent, joint)
        for (parent, key), child in edges.items():
            assert find_child(tree, parent, np.uint64(key)) == child

    def test_clear_forgets_everything(self) -> None:
        tree = small_tree()
        add_node(tree, 0, np.uint64(5))
        clear(tree, np.array([9], np.uint64))
        assert tree.size.tolist() == [1, 0]
        assert tree.state[0] == 9
        assert find_child(tree, 0, np.uint64(5)) == NO_NODE


def joint_of(moves: tuple[int, ...]) -> int:
    """The hash of a joint move."""
    joint = 0
    for move in moves:
        joint = int(extend_joint(np.uint64(joint), move))
    return joint


class TestJointMoves:
    @pytest.mark.parametrize(("moves", "roles"), [(150, 2), (10, 4), (5000, 1)])
    def test_hashes_differ_for_all_joint_moves(self, moves: int, roles: int) -> None:
        hashes = {joint_of(joint_move) for joint_move in product(range(moves), repeat=roles)}
        assert len(hashes) == moves**roles


def below(nodes: dict[Path, Node], joint: int) -> dict[Path, Node]:
    """The nodes of a subtree by their path from its root."""
    return {path[1:]: node for path, node in nodes.items() if path[:1] == (joint,)}


GROWN = ["ticTacToe", "connectFour", "ticTacToe3Player", "rockPaperScissors", "eightPuzzle"]


class TestKeepSubtree:
    @pytest.mark.parametrize("game", GROWN)
    @pytest.mark.parametrize("in_flight", [1, 64])
    def test_keeps_exactly_what_is_reachable(self, game: str, in_flight: int) -> None:
        """For the most and the least visited child of trees that the search has grown."""
        search = native(game, simulations=2000, in_flight=in_flight, playouts=1)
        search_on(search)
        tree = search._tree
        for pick in (max, min):
            before = nodes_of(tree)
            children = [path for path in before if len(path) == 1]
            (joint,) = pick(children, key=lambda path: before[path].visits)
            keep_subtree(tree, int(find_child(tree, 0, np.uint64(joint))))
            assert nodes_of(tree) == below(before, joint)
            self.check_arrays(tree)

    def check_arrays(self, tree: Tree) -> None:
        """The hash table and the entries hold the nodes that there are, and nothing else."""
        nodes, roles = int(tree.size[NODES]), tree.goals.shape[1]
        in_table = tree.edges[tree.edges != NO_NODE]
        assert sorted(in_table.tolist()) == list(range(1, nodes))
        for node in range(1, nodes):
            assert find_child(tree, tree.parent[node], tree.joint[node]) == node
        open_nodes = [node for node in range(nodes) if tree.kind[node] == OPEN]
        spans = sorted((int(tree.first[n, 0]), int(tree.first[n, roles])) for n in open_nodes)
        end = 0
        for low, high in spans:
            assert low == end, "entries overlap or leave a gap"
            end = high
        assert tree.size[ENTRIES] == end

    def test_keeping_the_root_changes_nothing(self) -> None:
        search = native("ticTacToe", simulations=500)
        search_on(search)
        before = nodes_of(search._tree)
        keep_subtree(search._tree, 0)
        assert nodes_of(search._tree) == before
        self.check_arrays(search._tree)

    def test_keeping_a_leaf_leaves_one_node(self) -> None:
        search = native("ticTacToe", simulations=500, in_flight=1)
        search_on(search)
        tree = search._tree
        leaf = int(tree.size[NODES]) - 1
        visits = tree.visits[leaf]
        keep_subtree(tree, leaf)
        assert tree.size[NODES] == 1
        assert (tree.visits[0], tree.parent[0]) == (visits, NO_NODE)
        assert (tree.edges == NO_NODE).all()
