"""The sources of a network: one node per fluent, per move, and per cut through a positive cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.errors import GroundingError
from gdl.grounding import ALWAYS, GroundProgram
from gdl.rules import Term
from gdl.state_machine import goal_value, order
from propnet.dependencies import IntArray, dependency_order, depends_on_own_negation, strata
from propnet.gates import TRUE


@dataclass(frozen=True, slots=True)
class Sources:
    """The source nodes and the atoms they stand for, and the order in which atoms are computed."""

    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    goal_values: tuple[tuple[int, ...], ...]
    """per role, ascending: the values of its goal outputs"""
    goal_atoms: tuple[int, ...]
    """the atoms of the goal outputs, role by role"""
    order: IntArray
    """(atoms that are no sources,) each behind what it depends on"""
    cut: IntArray
    """(feedback,) atoms at which positive cycles are cut, lower strata first"""
    cut_stratum: IntArray
    """(feedback,) ascending"""
    rule_first: IntArray
    """(atoms + 1,) atom a heads the rules `rules[rule_first[a]:rule_first[a + 1]]`"""
    rules: IntArray
    """(rules,) numbers of rules, by the atoms that they have as heads"""

    @classmethod
    def of(cls, program: GroundProgram) -> Sources:
        """Those of a game.  Raises `GroundingError` for rules that negation makes circular."""
        atoms = program.atom_count
        rules = np.argsort(program.heads, kind="stable").astype(np.int32)
        rule_first = np.searchsorted(program.heads[rules], np.arange(atoms + 1)).astype(np.int32)
        fluents = tuple(program.fluents)
        moves = tuple(tuple(sorted(table, key=order)) for table in program.moves)
        goal_values, goal_atoms = _goal_outputs(program)
        is_source = np.zeros(atoms, np.bool_)
        is_source[list(program.fluents.values())] = True
        for table in program.moves:
            is_source[list(table.values())] = True
        arrays = rule_first, rules, program.offsets, program.bodies
        ordered, cut, component = dependency_order(*arrays, is_source)
        if depends_on_own_negation(component, *arrays):
            raise GroundingError(
                "the rules are not stratified: something depends on its own negation"
            )
        stratum = strata(component, *arrays)
        cut_atoms = np.flatnonzero(cut).astype(np.int32)
        cut_atoms = cut_atoms[np.argsort(stratum[cut_atoms], kind="stable")]
        return cls(
            fluents,
            moves,
            goal_values,
            goal_atoms,
            ordered,
            cut_atoms,
            stratum[cut_atoms],
            rule_first,
            rules,
        )

    @property
    def move_count(self) -> int:
        """Number of moves of all roles."""
        return sum(map(len, self.moves))

    @property
    def count(self) -> int:
        """Number of source nodes."""
        return len(self.fluents) + self.move_count + len(self.cut)

    @property
    def span(self) -> IntArray:
        """(roles, 2) the nodes of each role's moves: the first one, and the one behind the last."""
        bounds = 1 + len(self.fluents) + np.cumsum([0, *map(len, self.moves)])
        return np.stack((bounds[:-1], bounds[1:]), axis=1).astype(np.int32)

    @property
    def waits(self) -> IntArray:
        """(roles,) the node of each role's only move without arguments, -1 where there is none."""
        nodes = []
        for (first, _), moves in zip(self.span, self.moves, strict=True):
            names = [i for i, move in enumerate(moves) if isinstance(move, str)]
            nodes.append(first + names[0] if len(names) == 1 else -1)
        return np.array(nodes, np.int32)

    @property
    def names(self) -> IntArray:
        """(moves,) a number for each, the same for moves that are written alike."""
        numbers: dict[Term, int] = {}
        moves = [move for moves in self.moves for move in moves]
        return np.array([numbers.setdefault(move, len(numbers)) for move in moves], np.int32)

    def literals(self, program: GroundProgram) -> IntArray:
        """(atoms,) the literals of what is a source, -1 for other atoms."""
        literal_of = np.full(program.atom_count, -1, np.int32)
        literal_of[ALWAYS] = TRUE
        atoms = [program.fluents[fluent] for fluent in self.fluents]
        for moves, table in zip(self.moves, program.moves, strict=True):
            atoms += [table[move] for move in moves]
        atoms += self.cut.tolist()
        literal_of[atoms] = 2 * np.arange(1, len(atoms) + 1)
        return literal_of


def _goal_outputs(program: GroundProgram) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Goal values per role, ascending (see `goal_value` for what counts), and their atoms."""
    values, atoms = [], []
    for table in program.goals:
        usable = sorted(
            (goal_value((value,)), atom)
            for value, atom in table.items()
            if goal_value((value,)) > 0 or value == "0"
        )
        values.append(tuple(value for value, _ in usable))
        atoms += [atom for _, atom in usable]
    return tuple(values), tuple(atoms)
