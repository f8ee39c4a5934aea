"""What can go wrong on the agent's side of `gdl.errors.GgpError`."""

from __future__ import annotations

from gdl.errors import GgpError


class MessageError(GgpError):
    """A request is not a message of the GDL protocol; the text says what is wrong with it."""


class RequestError(GgpError):
    """An HTTP request to be refused before it is read; `status` is the HTTP status to say so."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class ParameterError(GgpError):
    """An unknown agent or parameter, or a value outside its domain."""


class GameError(GgpError):
    """No such game, or one that doesn't fit the request (such as the number of players)."""


class PlayerError(GgpError):
    """A player can't be had: unreachable, wrong address, or its process does not start."""


class WorkerError(GgpError):
    """The process that thinks for a match died or could not do what it was told."""


class TournamentError(GgpError):
    """A tournament that can't be: a wrong setting, or results that belong to another one."""


class SearchError(GgpError):
    """The search can't work with the parameters that it was given."""
