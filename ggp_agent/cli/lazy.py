"""A group of commands that are imported when they are called, not before.

Most of them import numba and the search, which takes seconds; `serve` and `--help` need neither.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command that is `name` in a module; `summary` is how its docstring begins."""

    module: str
    name: str
    summary: str

    def load(self) -> click.Command:
        """Import it."""
        command = getattr(importlib.import_module(self.module), self.name)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """A group with lazy commands beside those that it has anyway."""

    def __init__(self, *arguments: Any, lazy: Mapping[str, Lazy], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See `click.Group`."""
        return sorted([*super().list_commands(ctx), *self.lazy])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See `click.Group`; imports the command."""
        if cmd_name in self.lazy:
            return self.lazy[cmd_name].load()
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Group`; imports nothing, for the summaries are here."""
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(ctx, name, limit)) for name in names])

    def summary(self, ctx: click.Context, name: str, limit: int) -> str:
        """What the list of commands says of one, in at most so many characters."""
        if name in self.lazy:
            command = click.Command(name, help=self.lazy[name].summary)
        else:
            command = self.commands[name]
        return command.get_short_help_str(limit)
