"""The search in plain Python over any `StateMachine`: the reference that can be read in a minute.

It is what the native search does with one simulation in flight and one playout a leaf, but for
proven scores, and it plays the rule sheets that only Prolog can handle.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gdl.rules import write_term
from gdl.state_machine import CHANCE_ROLE, JointMove, Move, State, StateMachine
from ggp_agent.agents import Agent
from ggp_agent.player.clock import within
from ggp_agent.search.final import RootMove, choose_move
from ggp_agent.search.selection import VO, T
from ggp_agent.search.settings import FixedSettings, Tuner, new_settings
from ggp_agent.search.stopping import Interrupted
from ggp_agent.search.strategies.grave import REF, K
from ggp_agent.search.strategies.mast import EPSILON
from ggp_agent.search.strategies.move_history import DECAY
from ggp_agent.search.strategies.uct import FPU, C
from ggp_agent.search.trace import Trace

STEPS_KEPT = 2
UNSEEN = 100.0

ONLY_ROW, ONE = np.zeros(1, np.int32), np.ones(1, np.int32)
"""The row of settings of the only simulation in flight, and how many there are."""


@dataclass(slots=True)
class Average:
    """A count and a sum: of rewards in [0, 1], or for MAST of goals in [0, 100]."""

    count: float = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """One more value."""
        self.count += 1
        self.total += value

    @property
    def mean(self) -> float:
        """The mean; there must be one."""
        return self.total / self.count


@dataclass(slots=True)
class Node:
    """A state's statistics, per role and legal move; AMAF per role and move of any later state."""

    state: State
    moves: list[tuple[Move, ...]]
    statistics: list[list[Average]]
    goals: tuple[int, ...] | None
    """only where the state is terminal"""
    amaf: dict[tuple[int, Move], Average] | None = None
    visits: int = 0
    step: int = 0


@dataclass(slots=True)
class Simulation:
    """One way from the root to the end of the game."""

    settings: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    path: list[tuple[Node, tuple[int, ...]]] = field(default_factory=list)
    """nodes and the roles' picks in them"""
    playout: list[JointMove] = field(default_factory=list)
    reference: list[Node] = field(default_factory=list)
    """GRAVE's reference node of every role"""


class PlainSearch:
    """A `Thinker`: decoupled MCTS, one simulation after the other."""

    def __init__(
        self,
        machine: StateMachine,
        role: int,
        agent: Agent,
        seed: int,
        tuner: Tuner | None = None,
    ) -> None:
        self._machine, self._role, self._agent = machine, role, agent
        self._roles = range(len(machine.roles))
        self._random = random.Random(seed)
        self.tuner: Tuner = tuner or FixedSettings(agent)
        self._settings = new_settings(1, len(machine.roles))
        self._nodes: dict[State, Node] = {}
        self._mast: dict[tuple[int, Move], Average] = {}
        self._step = 0
        self._limit = int(agent.number("depth"))
        self.enter(machine.initial_state, None)

    def enter(self, state: State, joint_move: JointMove | None) -> None:
        """See `Thinker.enter`."""
        if joint_move is not None:
            self.tuner.new_move()
        self.tuner.ask_move(self._settings.of_move)
        self.tuner.ask_batch(self._settings.of_batch)
        if joint_move is None:
            self._nodes, self._mast, self._step = {}, {}, 0
        else:
            self._step += 1
            self._forget()
        self._root = self._find(state) or self._add(state)
        self._root.step = self._step
        self._simulations = self._edges = self._deepest = self._transitions = 0
        self._seconds = 0.0

    def think(self, deadline: float, interrupted: Interrupted) -> None:
        """See `Thinker.think`; one simulation may overrun the deadline, so half of one is kept."""
        budget, longest = int(self._agent.number("simulations")), 0.0
        deadline = within(deadline, self._agent.number("seconds"), self._seconds)
        while self._root.goals is None and not interrupted():
            started = time.monotonic()
            if started + longest >= deadline or (budget and self._simulations >= budget):
                return
            if not self._simulate(deadline):
                return
            taken = time.monotonic() - started
            self._seconds += taken
            longest = max(longest, taken)

    def choose(self) -> Move:
        """See `Thinker.choose`."""
        return choose_move(self.root_moves(), str(self._agent["final"]), self._random)

    def root_moves(self) -> list[RootMove]:
        """What is known of our role's moves at the root."""
        pairs = zip(self._root.moves[self._role], self._root.statistics[self._role], strict=True)
        return [RootMove(move, int(a.count), a.total) for move, a in pairs]

    def root_statistics(self) -> tuple[list[Move], list[int], list[float]]:
        """Our role's moves at the root, how often each was selected, and its summed rewards."""
        moves = self.root_moves()
        return [m.move for m in moves], [m.visits for m in moves], [m.total for m in moves]

    def trace(self) -> Trace:
        """What the thinking in the present state found."""
        return Trace(
            simulations=self._simulations,
            playouts=self._simulations,
            visited_nodes=self._edges + self._transitions,
            seconds=self._seconds,
            tree_nodes=len(self._nodes),
            recycled=0,
            memory=0,
            root_visits=self._root.visits,
            mean_depth=self._edges / max(1, self._simulations),
            deepest=self._deepest,
            low=0,
            high=100,
            moves=self.root_moves() if self._root.goals is None else [],
        )

    def report(self) -> Mapping[str, object]:
        """See `Thinker.report`."""
        return {**self.trace().as_json(write_term), **self.tuner.report()}

    # 1. selection, 2. expansion

    def _simulate(self, deadline: float) -> bool:
        """One simulation; False where the time ran out in it."""
        self.tuner.ask(ONLY_ROW, ONE, self._settings.values)
        simulation = Simulation(self._settings.values[0])
        simulation.reference = [self._root] * len(self._roles)
        node, new = self._root, False
        while True:
            node.step = self._step
            self._note_reference(simulation, node)
            if node.goals is not None or new or len(simulation.path) >= self._limit:
                break
            picks = tuple(self._select(simulation, node, role) for role in self._roles)
            simulation.path.append((node, picks))
            state = self._machine.next_state(node.state, _joint(node, picks))
            known = self._find(state)
            node, new = known or self._add(state), known is None
        goals = node.goals or self._play_out(simulation, node, deadline)
        if goals is None:
            return False
        self._back_up(simulation, node, goals)
        self.tuner.tell(ONLY_ROW, np.array([goals]) / 100, ONE)
        return True

    def _find(self, state: State) -> Node | None:
        node = self._nodes.get(state)
        return None if node is None or node.step < self._step - STEPS_KEPT else node

    def _add(self, state: State) -> Node:
        """A new node; a state in which a role has no move (faulty rules) counts as terminal."""
        terminal = self._machine.is_terminal(state)
        moves = [] if terminal else self._legal(state)
        goals = self._machine.goals(state) if terminal or not all(moves) else None
        statistics = [[Average() for _ in m] for m in moves]
        node = self._nodes[state] = Node(state, moves, statistics, goals)
        return node

    def _legal(self, state: State) -> list[tuple[Move, ...]]:
        return [self._machine.legal_moves(state, role) for role in self._roles]

    def _note_reference(self, simulation: Simulation, node: Node) -> None:
        """The closest node above, or this one, with at least Ref visits (and an AMAF table)."""
        for role in self._roles:
            if node.amaf is not None and node.visits >= simulation.settings[role, REF]:
                simulation.reference[role] = node

    def _select(self, simulation: Simulation, node: Node, role: int) -> int:
        settings, moves = simulation.settings[role], node.moves[role]
        if len(moves) == 1:
            return 0
        if self._machine.roles[role] == CHANCE_ROLE:
            return self._random.randrange(len(moves))
        if node.visits < settings[T]:
            return moves.index(self._pick_by_policy(role, moves, float(settings[EPSILON])))
        values = [self._value(simulation, node, role, i) for i in range(len(moves))]
        return self._draw(values, float(settings[VO]))

    def _value(self, simulation: Simulation, node: Node, role: int, place: int) -> float:
        """UCT, or GRAVE: (1 - β)·mean + β·AMAF in place of the mean."""
        settings, own = simulation.settings[role], node.statistics[role][place]
        amaf = None
        if settings[K] > 0 and self._agent["selection"] == "grave":
            table = simulation.reference[role].amaf or {}
            amaf = table.get((role, node.moves[role][place]))
        if not own.count:
            return float(settings[FPU]) + (amaf.mean if amaf else 0.0)
        mean = own.mean
        if amaf:
            mean += beta(node.visits, float(settings[K])) * (amaf.mean - mean)
        log_visits = math.log(max(1, node.visits))
        return mean + float(settings[C]) * math.sqrt(log_visits / own.count)

    def _draw(self, values: Sequence[float], offset: float) -> int:
        threshold = max(values) - offset
        return self._random.choice([i for i, v in enumerate(values) if v >= threshold])

    # 3. playout

    def _play_out(
        self, simulation: Simulation, node: Node, deadline: float
    ) -> tuple[int, ...] | None:
        state = node.state
        for _ in range(self._limit - len(simulation.path)):
            if self._machine.is_terminal(state):
                break
            if time.monotonic() >= deadline:
                return None
            moves = self._legal(state)
            if not all(moves):
                break
            epsilons = simulation.settings[:, EPSILON]
            joint = [
                self._pick_by_policy(role, moves[role], float(epsilons[role]))
                for role in self._roles
            ]
            simulation.playout.append(joint)
            state = self._machine.next_state(state, joint)
        return self._machine.goals(state)

    def _pick_by_policy(self, role: int, moves: Sequence[Move], epsilon: float) -> Move:
        """A random move; MAST's best one with probability 1 - ε; or by MAST's Gibbs measure."""
        policy, chance = self._agent["playout"], self._machine.roles[role] == CHANCE_ROLE
        if policy == "uniform" or chance:
            return self._random.choice(moves)
        known = [self._mast.get((role, move)) for move in moves]
        values = [average.mean if average else UNSEEN for average in known]
        if policy == "gibbs":
            tau = self._agent.number("tau")
            weights = [math.exp((value - max(values)) / tau) for value in values]
            return self._random.choices(moves, weights)[0]
        if self._random.random() < epsilon:
            return self._random.choice(moves)
        return moves[self._draw(values, 0.0)]

    # 4. backpropagation

    def _back_up(self, simulation: Simulation, leaf: Node, goals: tuple[int, ...]) -> None:
        path = simulation.path
        tail = [*(tuple(_joint(node, picks)) for node, picks in path), *simulation.playout]
        for level, node in enumerate([*(node for node, _ in path), leaf]):
            node.visits += 1
            if node.amaf is None and self._wants_amaf(node):
                node.amaf = {}
            if node.amaf is not None:
                _credit(node.amaf, tail[level:], [goal / 100 for goal in goals])
        for node, picks in path:
            for role, pick in enumerate(picks):
                node.statistics[role][pick].add(goals[role] / 100)
        if self._agent["playout"] != "uniform":
            _credit(self._mast, tail, goals)
        self._simulations += 1
        self._edges += len(path)
        self._deepest = max(self._deepest, len(path))
        self._transitions += len(simulation.playout)

    def _wants_amaf(self, node: Node) -> bool:
        enough = node.visits >= self._agent.number("amaf_from")
        return self._agent["selection"] == "grave" and node.goals is None and enough

    def _forget(self) -> None:
        """After a real move: nodes left behind are dropped, MAST's counts decay."""
        self._nodes = {
            state: node
            for state, node in self._nodes.items()
            if node.step >= self._step - STEPS_KEPT
        }
        for key, average in list(self._mast.items()):
            factor = self._settings.of_move[key[0], DECAY]
            kept = math.floor(average.count * factor + 0.5)
            if kept == 0:
                del self._mast[key]
            else:
                self._mast[key] = Average(kept, kept * average.mean)


def beta(visits: int, k: float) -> float:
    """The weight of AMAF: sqrt(K / (3N + K)); 1 for K = ∞, 0 for K = 0."""
    if math.isinf(k):
        return 1.0
    return math.sqrt(k / (3 * visits + k)) if k else 0.0


def _joint(node: Node, picks: tuple[int, ...]) -> list[Move]:
    return [moves[pick] for moves, pick in zip(node.moves, picks, strict=True)]


def _credit(
    table: dict[tuple[int, Move], Average], moves: Sequence[JointMove], values: Sequence[float]
) -> None:
    """Add every role's value to the moves that it made, every occurrence."""
    for joint in moves:
        for role, move in enumerate(joint):
            table.setdefault((role, move), Average()).add(values[role])
