"""The propositional network of a game: what a state's fluents and the roles' moves lead to.

`compile_network` makes one from ground rules: factoring (`propnet.factoring`), then the passes of
`propnet.gates.rebuilt` (constants, duplicates, merging, what feeds nothing), then an order of the
gates in which a simulator can evaluate them in one sweep (`propnet.gate_order`).

Nodes: 0 is false; then one source per fluent, per move (role by role) and per feedback; then the
gates, sorted by *phase* and level:

- POSITION: depends on fluents only; terminal, legal and what next needs of it,
- GOALS: depends on fluents only and is needed for goals alone,
- WINS: depends on fluents only and is needed for moves that win at once alone
  (`propnet.winning_moves`),
- STEP: depends on the moves made; next.

The network relies on every role making exactly one of its moves whenever `next` is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.grounding import GroundProgram
from gdl.rules import Term, write_term
from propnet.dependencies import IntArray
from propnet.factoring import build
from propnet.gate_order import phases_and_levels, sorted_gates
from propnet.gates import EDGES, FALSE, Gates, new_gates, rebuilt, room_for
from propnet.phases import PHASES
from propnet.sources import Sources
from propnet.winning_moves import MOST_EDGES_BEFORE, most_edges, with_winning_moves


@dataclass(frozen=True, slots=True)
class Network:
    """Gates of one game (see the module's text); arrays of literals `2 * node + inverted`."""

    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    """per role, in `gdl.state_machine.order`; a role's moves are consecutive nodes"""
    goal_values: tuple[tuple[int, ...], ...]
    """per role: the value that each of its goal outputs stands for"""
    initial: NDArray[np.bool_]
    """(fluents,) the initial state"""
    first: IntArray
    """(nodes + 1,) gate n has the inputs `inputs[first[n]:first[n + 1]]`; empty for sources"""
    inputs: IntArray
    """(edges,) literals"""
    phase_end: IntArray
    """(PHASES,) the node behind the last gate of each phase; POSITION starts behind the sources"""
    next: IntArray
    """(fluents,) literal per fluent"""
    legal: IntArray
    """(moves,) literal per move, role by role"""
    terminal: int
    goals: IntArray
    """(goals,) literal per goal value, role by role"""
    wins: IntArray
    """(moves,) literal per move: legal, and its role has its best goal at the end that comes of it,
    where no other role has a choice; false where nothing is known"""
    blocks: IntArray
    """(moves,) literal per move: legal, and blocks a move of another role that would win"""
    blocked: IntArray
    """(moves,) how many moves of other roles it may block"""
    feedback: IntArray
    """(feedback,) literal that drives each feedback source"""
    feedback_phase: IntArray
    """(feedback,) POSITION or STEP, the phase in which it is iterated"""
    feedback_stratum: IntArray
    """(feedback,) ascending; what has the same number is iterated together, the lower first"""

    @property
    def sources(self) -> int:
        """Number of source nodes; they are 1 to `sources`."""
        return len(self.fluents) + len(self.legal) + len(self.feedback)

    @property
    def first_move(self) -> int:
        """Node of the first move of the first role."""
        return 1 + len(self.fluents)

    @property
    def move_span(self) -> NDArray[np.int32]:
        """(roles + 1,) bounds of each role's moves within `legal`."""
        return np.concatenate(([0], np.cumsum([len(m) for m in self.moves]))).astype(np.int32)

    @property
    def gate_count(self) -> int:
        """Number of AND gates."""
        return len(self.first) - 1 - 1 - self.sources

    @property
    def edge_count(self) -> int:
        """Number of gate inputs."""
        return len(self.inputs)


def compile_network(program: GroundProgram) -> Network:
    """The network of a game.  Raises `GroundingError` for rules that negation makes circular."""
    sources = Sources.of(program)
    gates, outputs = _factored(program, sources)
    for inline in (True, False):
        gates, outputs = _pass(gates, outputs, inline)
    gates, outputs, blocked = _with_wins(sources, gates, outputs)
    return _arranged(program, sources, gates, outputs, blocked)


def _factored(program: GroundProgram, sources: Sources) -> tuple[Gates, IntArray]:
    literals, rules = len(program.bodies), len(program.heads)
    gates = new_gates(
        sources.count,
        sources.span,
        nodes=rules + 2 * literals + 2 * program.atom_count,
        edges=4 * (literals + rules) + 2 * program.atom_count + sources.move_count,
    )
    literal_of = sources.literals(program)
    driver = build(
        gates,
        literal_of,
        sources.order,
        sources.rule_first,
        sources.rules,
        program.offsets,
        program.bodies,
    )
    # an atom that neither is a source nor heads a rule is false
    literal_of[literal_of < 0] = FALSE
    outputs = [
        literal_of[program.next[fluent]] if fluent in program.next else FALSE
        for fluent in sources.fluents
    ]
    for moves, table in zip(sources.moves, program.legal, strict=True):
        outputs += [literal_of[table[move]] for move in moves]
    outputs.append(FALSE if program.terminal is None else literal_of[program.terminal])
    outputs += [literal_of[atom] for atom in sources.goal_atoms]
    outputs += [driver[atom] for atom in sources.cut]
    return gates, np.array(outputs, np.int32)


def _pass(gates: Gates, outputs: IntArray, inline: bool) -> tuple[Gates, IntArray]:
    new = room_for(gates)
    return new, rebuilt(gates, new, outputs, inline)


def _with_wins(
    sources: Sources, gates: Gates, outputs: IntArray
) -> tuple[Gates, IntArray, IntArray]:
    """Moves that win at once, and that block, as further outputs, before those of feedback.

    Also (moves,) how many each may block.
    """
    moves = sources.move_count
    terminal, feedback = len(sources.fluents) + moves, len(sources.cut)
    nothing = np.zeros(moves, np.int32)
    plain = np.insert(outputs, len(outputs) - feedback, np.full(2 * moves, FALSE, np.int32))
    cannot = len(sources.moves) == 1 or feedback or (sources.waits < 0).any()
    if cannot or gates.size[EDGES] > MOST_EDGES_BEFORE:
        return gates, plain, nothing
    ends = terminal + np.cumsum([len(values) for values in sources.goal_values])
    best = np.array(
        [end if any(v) else -1 for end, v in zip(ends, sources.goal_values, strict=True)], np.int32
    )
    fluents = len(sources.fluents)
    found = with_winning_moves(
        gates, outputs, fluents, terminal, best, sources.waits, sources.names
    )
    if not found.wins.any():
        return gates, plain, nothing
    for blocks in (found.blocks, found.named_blocks, np.zeros_like(found.blocks)):
        made, outputs = found.gates, np.concatenate((found.outputs, found.wins, blocks))
        for inline in (True, False):
            made, outputs = _pass(made, outputs, inline)
        if made.size[EDGES] <= gates.size[EDGES] + most_edges(gates):
            return made, outputs, found.blocked
    return gates, plain, nothing


def _arranged(
    program: GroundProgram, sources: Sources, gates: Gates, outputs: IntArray, blocked: IntArray
) -> Network:
    fluents, moves = len(sources.fluents), sources.move_count
    goals = len(sources.goal_atoms)
    bounds = np.cumsum([0, fluents, moves, 1, goals, moves, moves, len(sources.cut)])
    phase, level = phases_and_levels(gates, outputs, bounds, 1 + fluents + moves)
    first, inputs, new_number = sorted_gates(gates, phase, level)
    outputs = 2 * new_number[outputs >> 1] + (outputs & 1)
    next_, legal, terminal, goal, wins, blocks, feedback = (
        outputs[low:high] for low, high in pairwise(bounds)
    )
    counts = np.bincount(phase[sources.count + 1 :], minlength=PHASES)
    return Network(
        roles=program.roles,
        fluents=sources.fluents,
        moves=sources.moves,
        goal_values=sources.goal_values,
        initial=np.array([fluent in program.initial for fluent in sources.fluents], np.bool_),
        first=first,
        inputs=inputs,
        phase_end=(1 + sources.count + np.cumsum(counts)).astype(np.int32),
        next=next_,
        legal=legal,
        terminal=int(terminal[0]),
        goals=goal,
        wins=wins,
        blocks=blocks,
        blocked=blocked,
        feedback=feedback,
        feedback_phase=phase[1 + fluents + moves : 1 + sources.count].astype(np.int32),
        feedback_stratum=sources.cut_stratum,
    )


def describe(network: Network) -> Iterator[str]:
    """The network as readable lines, one per gate and output, for looking at small games."""
    names = ["false", *(write_term(("true", fluent)) for fluent in network.fluents)]
    for role, moves in zip(network.roles, network.moves, strict=True):
        names += [write_term(("does", role, move)) for move in moves]
    names += [f"feedback{i}" for i in range(len(network.feedback))]
    names += [f"g{n}" for n in range(len(names), len(network.first) - 1)]

    def text(literal: int) -> str:
        return ("not " if literal & 1 else "") + names[literal >> 1]

    for node in range(1 + network.sources, len(network.first) - 1):
        low, high = network.first[node], network.first[node + 1]
        yield f"{names[node]} = {' & '.join(map(text, network.inputs[low:high]))}"
    for fluent, literal in zip(network.fluents, network.next, strict=True):
        yield f"next {write_term(fluent)} = {text(literal)}"
    for number, low in enumerate(network.move_span[:-1]):
        for i, move in enumerate(network.moves[number]):
            name = write_term((network.roles[number], move))
            yield f"legal {name} = {text(network.legal[low + i])}"
            yield f"wins {name} = {text(network.wins[low + i])}"
            yield f"blocks {name} = {text(network.blocks[low + i])}"
    yield f"terminal = {text(network.terminal)}"
    values = [v for role in network.goal_values for v in role]
    for value, literal in zip(values, network.goals, strict=True):
        yield f"goal {value} = {text(literal)}"
