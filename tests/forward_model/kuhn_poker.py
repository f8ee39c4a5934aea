"""Kuhn poker: three cards, one for each of two players, who bet one chip or do not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations
from random import Random
from typing import NamedTuple

from forward_model.model import ForwardModel

JACK, QUEEN, KING = range(3)
DEALER = 2
WAIT = "wait"
DEALS = tuple(permutations((JACK, QUEEN, KING), 2))

Move = str | tuple[int, ...]


class Hand(NamedTuple):
    """`cards` () before the deal; `bets` is what was done: `pass` and `bet`, by turns."""

    cards: tuple[int, ...] = ()
    bets: tuple[str, ...] = ()


class KuhnPoker(ForwardModel[Hand, Move]):
    """H. W. Kuhn, "A Simplified Two-Person Poker" (1950); the third role, chance, deals."""

    role_names = ("first", "second", "dealer")
    chance_role = DEALER
    initial_state = Hand()
    reward_bounds = (-2.0, 2.0)

    def legal_moves(self, state: Hand, role: int) -> tuple[Move, ...]:
        if not state.cards:
            return DEALS if role == DEALER else (WAIT,)
        return ("pass", "bet") if role == len(state.bets) % 2 else (WAIT,)

    def next_state(self, state: Hand, joint_move: Sequence[Move], random: Random) -> Hand:
        if not state.cards:
            deal = joint_move[DEALER]
            assert isinstance(deal, tuple)
            return Hand(deal)
        return state._replace(bets=(*state.bets, str(joint_move[len(state.bets) % 2])))

    def is_terminal(self, state: Hand) -> bool:
        return state.bets[-2:] in (("pass", "pass"), ("bet", "bet"), ("bet", "pass"))

    def rewards(self, state: Hand) -> tuple[float, ...]:
        if state.bets[-2:] == ("bet", "pass"):
            gain = 1.0 if len(state.bets) == 2 else -1.0  # who passed has lost the ante
        elif self.is_terminal(state):
            stake = 2.0 if state.bets[-1] == "bet" else 1.0
            gain = stake if state.cards[0] > state.cards[1] else -stake
        else:
            gain = 0.0
        return gain, -gain, 0.0

    def observation(self, state: Hand, role: int) -> Hashable:
        if role == DEALER or not state.cards:
            return state
        return state.cards[role], state.bets

    def determinize(self, state: Hand, role: int, random: Random) -> Hand:
        if role == DEALER or not state.cards:
            return state
        return state._replace(
            cards=random.choice([deal for deal in DEALS if deal[role] == state.cards[role]])
        )

    def write_move(self, move: Move) -> str:
        return move if isinstance(move, str) else " ".join(map(str, move))

    def read_move(self, text: str) -> Move:
        return tuple(map(int, text.split())) if text[0].isdigit() else text


class OpenKuhnPoker(KuhnPoker):
    """The same with the cards face up."""

    def observation(self, state: Hand, role: int) -> Hashable:
        return state

    def determinize(self, state: Hand, role: int, random: Random) -> Hand:
        return state
