"""Puzzles for tests: small rule sheets, and what is reached in them by trying everything."""

from __future__ import annotations

import random

from gdl.state_machine import State
from propnet.machine import PropnetStateMachine
from tests.ggp_agent.search.positions import machine_of

BUTTONS = """
(role robot) (init (off a)) (init (off b)) (init (off c)) (init (step 1))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(legal robot (press a)) (legal robot (press b)) (legal robot (press c))
(<= (next (on ?x)) (does robot (press ?x)) (true (off ?x)))
(<= (next (off ?x)) (does robot (press ?x)) (true (on ?x)))
(<= (next (on ?x)) (true (on ?x)) (not (does robot (press ?x))))
(<= (next (off ?x)) (true (off ?x)) (not (does robot (press ?x))))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (goal robot 100) done) (<= (goal robot 40) (not done))
(<= done (true (on a)) (true (on b)) (true (on c)))
(<= terminal done) (<= terminal (true (step 6)))
"""
"""Three lights are to be switched on, within five moves."""

LATE = """
(role robot) (init (at a)) (init (step 1))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(way a b) (way b a) (way a c) (way c b)
(<= (legal robot (go ?y)) (true (at ?x)) (way ?x ?y))
(<= (next (at ?y)) (does robot (go ?y)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (goal robot 100) (true (at d)))
(<= (goal robot 70) (true (at b)) (true (step 5)))
(<= (goal robot 20) (not good))
(<= good (true (at b)) (true (step 5)))
(<= terminal (true (step 5)))
"""
"""Where one is counts after four moves alone, and who is early must not stay; d is out of reach."""

QUEENS = """
(role robot) (index 1) (index 2) (index 3) (index 4) (index 5) (index 6)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(<= (line ?c ?r ?c ?s) (index ?c) (index ?r) (index ?s))
(<= (line ?c ?r ?d ?r) (index ?c) (index ?d) (index ?r))
(<= (up ?c ?r ?d ?s) (succ ?c ?d) (succ ?r ?s))
(<= (up ?c ?r ?e ?t) (up ?c ?r ?d ?s) (succ ?d ?e) (succ ?s ?t))
(<= (down ?c ?r ?d ?s) (succ ?c ?d) (succ ?s ?r))
(<= (down ?c ?r ?e ?t) (down ?c ?r ?d ?s) (succ ?d ?e) (succ ?t ?s))
(<= (line ?c ?r ?d ?s) (up ?c ?r ?d ?s)) (<= (line ?d ?s ?c ?r) (up ?c ?r ?d ?s))
(<= (line ?c ?r ?d ?s) (down ?c ?r ?d ?s)) (<= (line ?d ?s ?c ?r) (down ?c ?r ?d ?s))
(<= (attacked ?c ?r) (true (queen ?d ?s)) (line ?d ?s ?c ?r))
(<= (legal robot (put ?c ?r)) (index ?c) (index ?r) (not (attacked ?c ?r)))
(<= (next (queen ?c ?r)) (does robot (put ?c ?r)))
(<= (next (queen ?c ?r)) (true (queen ?c ?r)))
(<= (has ?c) (true (queen ?c ?r)))
(<= all (has 1) (has 2) (has 3) (has 4) (has 5) (has 6))
(<= (goal robot 100) all) (<= (goal robot 0) (not all))
(<= free (index ?c) (index ?r) (not (attacked ?c ?r)))
(<= terminal (not free))
"""
"""Six queens that don't attack each other."""


def random_puzzle(seed: int, places: int = 12, steps: int = 6) -> str:
    """A walk on a random graph for so many steps; some places end it, every place has a goal."""
    dice = random.Random(seed)
    lines = ["(role robot) (init (at p0)) (init (step 0)) (move l) (move r)"]
    lines += [f"(succ {n} {n + 1})" for n in range(steps)]
    for place in range(places):
        for move in "lr":
            lines.append(f"(way p{place} {move} p{dice.randrange(places)})")
        goal = dice.choice((0, 10, 20, 50, 80)) if place < places - 1 else 100
        lines.append(f"(<= (goal robot {goal}) (true (at p{place})))")
    lines.append(f"(<= terminal (true (at p{dice.randrange(1, places)})))")
    lines.append(f"(<= terminal (true (step {steps})))")
    lines.append("(<= (legal robot ?m) (move ?m))")
    lines.append("(<= (next (at ?q)) (true (at ?p)) (does robot ?m) (way ?p ?m ?q))")
    lines.append("(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))")
    return "\n".join(lines)


def best_of_all(game: str) -> int:
    """The highest goal that can be reached, by breadth-first search over all states."""
    machine: PropnetStateMachine = machine_of(game)
    seen: set[State] = {machine.initial_state}
    waiting, best = [machine.initial_state], 0
    while waiting:
        state = waiting.pop()
        if machine.is_terminal(state):
            best = max(best, machine.goals(state)[0])
            continue
        for move in machine.legal_moves(state, 0):
            following = machine.next_state(state, [move])
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return best
