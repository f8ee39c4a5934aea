"""Exhaustive search to a depth of a few plies: what a role can force, whatever the others do.

A ply is a joint move.  The one who attacks chooses first, and the others may know its choice, each
and all of them against it; so what is proven holds with simultaneous moves and many players, too.
Nothing is estimated: a state of which all plies are used up counts as not forced.

The search is depth-first with cut-offs, but it asks the forward model about many states at once,
which costs the propnet no more than asking about one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from forward_model.model import AnyModel
from gdl.errors import GgpError

Wanted = Callable[[Sequence[float]], bool]
"""Whether the rewards of all roles at an end of the game are what the attacker wants."""

Replies = list[Any] | None
"""The states, not over, to which the others' replies to a move lead; None where a reply ends the
game with what the attacker doesn't want."""

CHUNKS = (2, 8, 32, 128)
"""So many replies are looked at together: few at first, for mostly one of these refutes."""


NO_DICE: Any = None
"""For the steps of a game: where there is chance in these, nothing can be proven."""


class StateLimitError(GgpError):
    """The search would look at more states than it may."""


class Proof:
    """What `attacker` can force in a game; it remembers the states that it has looked at.

    It looks at no more than `most_states` states, and raises `StateLimitError` instead.
    """

    def __init__(
        self, model: AnyModel, attacker: int, wanted: Wanted, most_states: int = 1_000_000
    ) -> None:
        self.model, self._attacker, self._wanted = model, attacker, wanted
        self._most, self.states = most_states, 0
        self._replies: dict[Any, list[Replies]] = {}
        self._proven: dict[Any, int] = {}
        self._refuted: dict[Any, int] = {}

    def forcing_moves(self, state: Any, plies: int) -> list[Any]:
        """The attacker's moves in a state that is not over that force the end within `plies`."""
        moves = self.model.legal_moves(state, self._attacker)
        replies = self._replies_in([state])[0]
        return [
            move
            for move, states in zip(moves, replies, strict=True)
            if states is not None and self._in_all(states, plies - 1)
        ]

    def is_forced(self, state: Any, plies: int) -> bool:
        """Whether the attacker forces the end within `plies` from a state, over or not."""
        if self.model.is_terminal(state):
            return self._wanted(self.model.rewards(state))
        return self._can_force(state, plies)

    def _in_all(self, states: Sequence[Any], plies: int) -> bool:
        """Whether the attacker forces it in all states, none of which is over."""
        if plies <= 0 or not states:
            return not states
        for some in _chunks(sorted(states, key=self._hope)):
            self._replies_in(some)
            if not all(self._can_force(state, plies) for state in some):
                return False
        return True

    def _hope(self, state: Any) -> int:
        """Small where the attacker has little hope: that is looked at first."""
        return self._proven.get(state, 100) - 1000 * (state in self._refuted)

    def _can_force(self, state: Any, plies: int) -> bool:
        if plies <= self._refuted.get(state, 0):
            return False
        if plies >= self._proven.get(state, plies + 1):
            return True
        replies = [states for states in self._replies_in([state])[0] if states is not None]
        replies.sort(key=len)
        found = bool(replies) and not replies[0]
        if not found and plies > 1:
            self._replies_in([states[0] for states in replies[: CHUNKS[-1]]])
            found = any(self._in_all(states, plies - 1) for states in replies)
        if found:
            self._proven[state] = plies
        else:
            self._refuted[state] = plies
        return found

    def _replies_in(self, states: Sequence[Any]) -> list[list[Replies]]:
        """For each of the states: by the attacker's move, where the others' replies lead."""
        new = [state for state in dict.fromkeys(states) if state not in self._replies]
        if new:
            self._look_at(new)
        return [self._replies[state] for state in states]

    def _look_at(self, states: list[Any]) -> None:
        model, roles = self.model, range(len(self.model.role_names))
        legal = list(zip(*(model.legal_moves_of(states, r) for r in roles), strict=True))
        origins: list[tuple[Any, int]] = []
        joint_moves: list[tuple[Any, ...]] = []
        for state, moves in zip(states, legal, strict=True):
            if not all(moves):
                raise GgpError("a role has no legal move")
            own = moves[self._attacker]
            self._replies[state] = [[] for _ in own]
            for number, move in enumerate(own):
                choices = [(move,) if r == self._attacker else moves[r] for r in roles]
                for joint_move in product(*choices):
                    origins.append((state, number))
                    joint_moves.append(joint_move)
        self.states += len(origins)
        if self.states > self._most:
            for state in states:
                del self._replies[state]
            raise StateLimitError(f"more than {self._most} states")
        following = model.next_states([state for state, _ in origins], joint_moves, NO_DICE)
        ends = dict.fromkeys(following, False)
        ends.update(zip(ends, model.are_terminal(list(ends)), strict=True))
        over = [state for state, is_over in ends.items() if is_over]
        good = dict(zip(over, map(self._wanted, model.rewards_of(over)), strict=True))
        for (state, number), after in zip(origins, following, strict=True):
            replies = self._replies[state]
            so_far = replies[number]
            if so_far is None or good.get(after, False):
                continue
            if ends[after]:
                replies[number] = None
            else:
                so_far.append(after)


def _chunks(states: Sequence[Any]) -> Iterator[Sequence[Any]]:
    first, sizes = 0, iter(CHUNKS)
    size = next(sizes)
    while first < len(states):
        yield states[first : first + size]
        first += size
        size = next(sizes, CHUNKS[-1])


def proof_of_win(model: AnyModel, role: int, most_states: int = 2_000_000) -> Proof:
    """What a role can do to get all there is, a reward of 1."""
    return Proof(model, role, lambda rewards: rewards[role] >= 1, most_states)


def proof_of_loss(model: AnyModel, role: int, most_states: int = 2_000_000) -> Proof:
    """What one of two players can do so that the other one, `role`, gets nothing."""
    return Proof(model, 1 - role, lambda rewards: rewards[role] <= 0, most_states)


def losing_moves(proof: Proof, state: Any, role: int, plies: int) -> list[Any]:
    """The moves after which a role gets nothing by force within `plies`, this move among them.

    The `proof` is that of its loss, and the other one of the two players has but one move.
    """
    model = proof.model
    moves = model.legal_moves(state, role)
    (pause,) = model.legal_moves(state, 1 - role)
    joint_moves = [(move, pause) if role == 0 else (pause, move) for move in moves]
    following = model.next_states([state] * len(moves), joint_moves, NO_DICE)
    pairs = zip(moves, following, strict=True)
    return [move for move, after in pairs if proof.is_forced(after, plies - 1)]
