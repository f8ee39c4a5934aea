"""Matches between agents in one process, one after the other: win % by the papers' scoring.

    python experiments/search_matches.py GAME... --agents ap:simulations=2000 uct:simulations=2000

One point is split among the roles with the highest goal; all assignments of the two agents to the
roles but the uniform ones are played in turn.  Agents with `seconds=S` think so long per move, all
others for their number of `simulations`; where a role has one legal move it does not think.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import time
from typing import Any

import click

from gdl.state_machine import CHANCE_ROLE
from ggp_agent.agents import Agent, find_agent
from ggp_agent.library import find_game
from ggp_agent.search.native import NativeSearch
from propnet.machine import PropnetStateMachine

LONGEST = 300


def read_agent(text: str) -> tuple[Agent, float]:
    """An agent with settings behind colons, and its seconds per move (1e9: no limit)."""
    name, *settings = text.split(":")
    seconds = [float(s.partition("=")[2]) for s in settings if s.startswith("seconds=")]
    others = [s for s in settings if not s.startswith("seconds=")]
    return find_agent(name).with_settings(others), seconds[0] if seconds else 1e9


def play(machine: PropnetStateMachine, seats: list[Any], dice: random.Random) -> list[float]:
    """One match; `seats` has a search and its seconds per role, None for chance."""
    state = machine.initial_state
    for _ in range(LONGEST):
        if machine.is_terminal(state):
            break
        joint = []
        for role, seat in enumerate(seats):
            moves = machine.legal_moves(state, role)
            if seat is None or len(moves) == 1:
                joint.append(dice.choice(moves))
                continue
            search, seconds = seat
            search.think(time.monotonic() + seconds, lambda: False)
            joint.append(search.choose())
        state = machine.next_state(state, joint)
        for seat in seats:
            if seat is not None:
                seat[0].enter(state, joint)
    goals = machine.goals(state)
    best = [r for r, s in enumerate(seats) if s is not None]
    top = max(goals[r] for r in best)
    winners = [r for r in best if goals[r] == top]
    return [1 / len(winners) if r in winners else 0.0 for r in range(len(goals))]


@click.command()
@click.argument("games", nargs=-1, required=True)
@click.option("--agents", nargs=2, required=True)
@click.option("--matches", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--memory", default=256, show_default=True, help="MiB per search")
def main(
    games: tuple[str, ...], agents: tuple[str, str], matches: int, seed: int, memory: int
) -> None:
    """Print a JSON line per game: the first agent's win % with a 95 % interval."""
    chosen = [read_agent(f"{text}:memory={memory}") for text in agents]
    totals: list[float] = []
    for name in games:
        game = find_game(name)
        machine = PropnetStateMachine.from_rules(game.rule_sheet())
        players = [r for r, role in enumerate(machine.roles) if role != CHANCE_ROLE]
        masks = [m for m in itertools.product((0, 1), repeat=len(players)) if len(set(m)) == 2]
        searches = {
            (r, a): NativeSearch(machine.network, r, chosen[a][0], seed, compiled=True)
            for r in players
            for a in (0, 1)
        }
        for search in searches.values():
            search.wait_for_code(60)
        points: list[float] = []
        for number in range(matches):
            mask = masks[number % len(masks)]
            seats: list[Any] = [None] * len(machine.roles)
            for role, a in zip(players, mask, strict=True):
                searches[role, a].enter(machine.initial_state, None)
                seats[role] = (searches[role, a], chosen[a][1])
            scores = play(machine, seats, random.Random(seed + number))
            points.append(sum(scores[r] for r, a in zip(players, mask, strict=True) if a == 0))
        totals += points
        click.echo(json.dumps(_line(game.key, points)))
    if len(games) > 1:
        click.echo(json.dumps(_line("all", totals)))


def _line(game: str, points: list[float]) -> dict[str, Any]:
    mean = sum(points) / len(points)
    variance = sum((p - mean) ** 2 for p in points) / max(1, len(points) - 1)
    half = 1.96 * math.sqrt(variance / len(points))
    return {"game": game, "matches": len(points), "win": round(100 * mean, 1),
            "ci": round(100 * half, 1)}  # fmt: skip


if __name__ == "__main__":
    main()
