"""Players inside the test's own process: well-behaved, late, broken, cheating."""

from __future__ import annotations

import asyncio

from gdl.rules import RuleSheet
from gdl.state_machine import State, StateMachine
from ggp_agent.errors import PlayerError
from ggp_agent.manager.scramble import PlainNames
from ggp_agent.protocol.messages import Abort, Message, Play, Start, Stop, parse_message


class FakePlayer:
    """Plays the first legal move of the machine it was given and notes all that it is told.

    It follows the match by the joint moves in PLAY alone, as a player over HTTP must.
    """

    totals: None = None
    tuning: None = None

    def __init__(self, machine: StateMachine, sheet: RuleSheet, name: str = "fake") -> None:
        self.name = name
        self.machine = machine
        self.names = PlainNames(sheet)
        self.heard: list[Message] = []
        self.role = -1
        self.state: State = None
        self.closed = False

    async def greet(self) -> None:
        """It is here."""

    async def start(self, start: Start) -> None:
        self.hear(start)
        self.state = self.machine.initial_state
        self.role = self.machine.roles.index(self.names.unscramble(start.role))

    async def play(self, play: Play) -> str:
        self.hear(play)
        if play.moves is not None:
            joint_move = [self.names.unscramble(text) for text in play.moves]
            self.state = self.machine.next_state(self.state, joint_move)
        return await self.reply()

    async def reply(self) -> str:
        return self.names.scramble(self.machine.legal_moves(self.state, self.role)[0])

    async def stop(self, stop: Stop) -> None:
        self.hear(stop)

    async def abort(self, abort: Abort) -> None:
        self.hear(abort)

    async def close(self) -> None:
        self.closed = True

    def hear(self, message: Message) -> None:
        """Note a message, which must survive the way over the wire."""
        assert type(parse_message(str(message))) is type(message)
        self.heard.append(message)

    @property
    def words(self) -> list[str]:
        """What it was told, as the messages' words."""
        return [type(message).__name__.upper() for message in self.heard]


class SayingPlayer(FakePlayer):
    """Answers the first PLAYs with the texts of `replies`, then plays well."""

    def __init__(self, machine: StateMachine, sheet: RuleSheet, *replies: str) -> None:
        super().__init__(machine, sheet)
        self.replies = list(replies)

    async def reply(self) -> str:
        return self.replies.pop(0) if self.replies else await super().reply()


class LatePlayer(FakePlayer):
    """Never answers PLAY."""

    async def reply(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")


class LateStarter(FakePlayer):
    """Never answers START, but plays."""

    async def start(self, start: Start) -> None:
        await super().start(start)
        await asyncio.Event().wait()


class RefusingPlayer(FakePlayer):
    """Breaks off every connection."""

    async def start(self, start: Start) -> None:
        raise PlayerError("nobody there")

    async def play(self, play: Play) -> str:
        raise ConnectionResetError("reset by peer")

    async def stop(self, stop: Stop) -> None:
        raise PlayerError("nobody there")

    async def abort(self, abort: Abort) -> None:
        raise PlayerError("nobody there")


class ScrambledPlayer(FakePlayer):
    """Knows nothing but the START message: reads its legal moves from the rules of pennies."""

    async def start(self, start: Start) -> None:
        self.hear(start)
        sheet = RuleSheet.from_text(start.rules, "START")
        self.seen = PlainNames(sheet)
        self.roles_seen = [self.seen.scramble(role) for role in sheet.roles]
        self.role_seen = start.role
        legal = [r.head for r in sheet.rules if r.head[0] == "legal"]
        self.moves_seen = [self.seen.scramble(head[2]) for head in legal]

    async def play(self, play: Play) -> str:
        self.hear(play)
        assert set(play.moves or ()) <= set(self.moves_seen)
        return self.moves_seen[0]
