"""From an agent and a forward model to what thinks: which search an agent's parameters ask for."""

from __future__ import annotations

import random
import weakref
from typing import TypeVar

from forward_model.compiled import CompiledModel
from forward_model.model import AnyModel
from ggp_agent.agents import Agent
from ggp_agent.mind.prepared import PreparedSearch
from ggp_agent.mind.thinker import LegalThinker, Thinker
from ggp_agent.protocol.worker_commands import AgentProfile
from ggp_agent.search.exact.puzzle import PuzzleSearch
from ggp_agent.search.native import NativeSearch
from ggp_agent.search.parallel import ParallelSearch, seed_of_thread, threads_of
from ggp_agent.search.plain import PlainSearch
from ggp_agent.search.search_thread import SearchThread
from ggp_agent.tuning.evaluation import Weights
from ggp_agent.tuning.self_adaptive import SelfAdaptive, adaptive
from propnet.vectors import LANES

LARGEST_SHARE = 0.75
"""Of the memory; the tree must have some."""

Search = TypeVar("Search", NativeSearch, SearchThread, PlainSearch)


def make_thinker(model: AnyModel, role: int, agent: Agent, seed: int) -> Thinker:
    """The thinker that an agent's strategy names, over the model that there is."""
    strategy = agent["strategy"]
    if strategy == "legal":
        return LegalThinker(model, role, None)
    if strategy == "random":
        return LegalThinker(model, role, random.Random(seed))
    if model.compiled is not None:
        model.compile()
        return _search_of(model.compiled, role, agent, seed)
    tuner = adaptive(agent, len(model.role_names), LANES, seed)
    return _watched(PlainSearch(model, role, agent, seed, tuner), tuner)


def _search_of(game: CompiledModel, role: int, agent: Agent, seed: int) -> Thinker:
    """Exact search for puzzles; else the native search, prepared by self-play if that is wanted."""
    if is_puzzle(game) and agent["solver"] == "on" and agent.number("exact"):
        return puzzle_search(game, agent, seed)
    players = len(game.moves) - (game.chance_role is not None)
    if not agent.number("self_play") or players < 2 or agent["playout"] != "mast":
        return native_search(game, role, agent, seed)

    def make(chosen: Agent, evaluation: Weights | None) -> Thinker:
        search = native_search(game, role, chosen, seed)
        if evaluation is not None:
            search.evaluate_by(*evaluation)
        return search

    return PreparedSearch(game, agent, seed, make)


def is_puzzle(game: CompiledModel) -> bool:
    """Whether a game has one player, and nothing is left to chance."""
    return len(game.moves) == 1 and game.chance_role is None


def puzzle_search(game: CompiledModel, agent: Agent, seed: int) -> PuzzleSearch:
    """Exact search beside the native search, with a share of its memory."""
    memory = int(agent.number("memory"))
    own = int(memory * min(LARGEST_SHARE, agent.number("exact")))
    rest = Agent(agent.name, agent.summary, {**agent.settings, "memory": memory - own})
    return PuzzleSearch(game, agent, own * 2**20, native_search(game, 0, rest, seed), seed)


def native_search(
    game: CompiledModel, role: int, agent: Agent, seed: int
) -> NativeSearch | ParallelSearch:
    """The native search, with as many threads as the agent uses."""
    tuner = adaptive(agent, len(game.moves), LANES, seed)
    first = _watched(NativeSearch(game, role, agent, seed, tuner), tuner)
    others = []
    for number in range(1, threads_of(agent)):
        own = seed_of_thread(seed, number)
        tuner = adaptive(agent, len(game.moves), LANES, own)
        others.append(_watched(SearchThread(game, role, agent, own, tuner, first), tuner))
    return ParallelSearch(first, others) if others else first


def profile_of(agent: Agent) -> AgentProfile:
    """What the server has to know of an agent."""
    thinks = agent["strategy"] == "mcts"
    return AgentProfile(
        name=agent.name,
        threads=threads_of(agent),
        margin=agent.number("margin"),
        uses_clock=thinks and not agent["simulations"],
    )


def _watched(search: Search, tuner: SelfAdaptive | None) -> Search:
    """The search; its tuner learns from it how long games are, but must not keep it alive."""
    if tuner is not None:
        known = weakref.proxy(search)
        tuner.watch(lambda: known.counts())
    return search
