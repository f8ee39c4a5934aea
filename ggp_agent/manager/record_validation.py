"""What is wrong with a match record: its keys, types, lengths, times, texts and error entries."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gdl.errors import RuleSheetError
from gdl.kif import Expression, Node, Source, read
from gdl.rules import Term, name_of, term_from
from gdl.state_machine import MAX_GOAL
from ggp_agent.manager.record import (
    CONNECTION_ERROR,
    GAME_URL,
    ILLEGAL,
    NO_ERROR,
    TIMEOUT,
    TOKEN_LENGTH,
)


def validate(record: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with a record, one readable line each; empty when it is right."""
    complaints = [*_check_keys(record), *_check_nulls(record, "")]
    complaints += _check_kinds(record)
    if not complaints:  # the rest may rely on keys and types
        complaints += _check_lengths(record)
        complaints += _check_times(record)
        complaints += _check_end(record)
        complaints += _check_texts(record)
        complaints += _check_errors(record)
    return complaints


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _matching(pattern: str | re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "matchId": ("a word without blanks or parentheses", _matching(r"[^\s()]+")),
    "randomToken": (f"{TOKEN_LENGTH} of A-Za-z0-9", _matching(rf"[A-Za-z0-9]{{{TOKEN_LENGTH}}}")),
    "startTime": ("milliseconds as an integer", _is_integer),
    "gameMetaURL": ("a URL that ends in /vN/", _matching(GAME_URL)),
    "isCompleted": ("true or false", _is_boolean),
    "isAborted": ("true or false", _is_boolean),
    "states": ("a list of strings", _list_of(_is_string)),
    "moves": ("a list of lists of strings", _list_of(_list_of(_is_string))),
    "stateTimes": ("a list of integers (milliseconds)", _list_of(_is_integer)),
    "errors": ("a list of lists of strings", _list_of(_list_of(_is_string))),
    "goalValues": ("a list of integers", _list_of(_is_integer)),
    "previewClock": ("an integer, -1 for none", lambda v: _is_integer(v) and v >= -1),
    "startClock": ("a number of seconds, not negative", lambda v: _is_number(v) and v >= 0),
    "playClock": ("a number of seconds, not negative", lambda v: _is_number(v) and v >= 0),
    "playerNamesFromHost": ("a list of strings", _list_of(_is_string)),
    "isPlayerHuman": ("a list of true or false", _list_of(_is_boolean)),
    "tournamentNameFromHost": ("a string", _is_string),
    "scrambled": ("true or false", _is_boolean),
}
_OPTIONAL = frozenset({"goalValues"})


def _check_keys(record: Mapping[str, Any]) -> Iterator[str]:
    for key in _KINDS:
        if key not in record and key not in _OPTIONAL:
            yield f"{key} is missing"
    for key in record:
        if key not in _KINDS and not key.startswith("x-"):
            yield f"{key} is not a key of match records; additions must start with x-"


def _check_nulls(value: Any, place: str) -> Iterator[str]:
    if value is None:
        yield f"{place} is null"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _check_nulls(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check_nulls(item, f"{place}[{index}]")


def _check_kinds(record: Mapping[str, Any]) -> Iterator[str]:
    for key, (wanted, check) in _KINDS.items():
        if key in record and record[key] is not None and not check(record[key]):
            yield f"{key} must be {wanted}, not {_short(record[key])}"


def _check_lengths(record: Mapping[str, Any]) -> Iterator[str]:
    states = len(record["states"])
    for key, wanted in (("stateTimes", states), ("errors", states), ("moves", states - 1)):
        found = len(record[key])
        if found != wanted:
            yield f"{key} has {found} entries; for {states} states there must be {max(wanted, 0)}"
    if not states:
        yield "states is empty; it starts with the initial state"
    roles = len(record["playerNamesFromHost"])
    if not roles:
        yield "playerNamesFromHost is empty; a match has at least one role"
    for key in ("isPlayerHuman", "goalValues"):
        if key in record and len(record[key]) != roles:
            yield f"{key} has {len(record[key])} entries for {roles} players"
    for key in ("moves", "errors"):
        for index, row in enumerate(record[key]):
            if len(row) != roles:
                yield f"{key}[{index}] has {len(row)} entries for {roles} players"


def _check_times(record: Mapping[str, Any]) -> Iterator[str]:
    times = [record["startTime"], *record["stateTimes"]]
    for index, (before, after) in enumerate(pairwise(times)):
        if after < before:
            previous = "startTime" if index == 0 else f"stateTimes[{index - 1}]"
            yield f"stateTimes[{index}] is earlier than {previous}"


def _check_end(record: Mapping[str, Any]) -> Iterator[str]:
    if record["isCompleted"] and record["isAborted"]:
        yield "isCompleted and isAborted can't both be true"
    if record["isCompleted"] and "goalValues" not in record:
        yield "goalValues is missing although the match is completed"
    if not record["isCompleted"] and "goalValues" in record:
        yield "goalValues is there although the match is not completed"
    for index, goal in enumerate(record.get("goalValues", ())):
        if not 0 <= goal <= MAX_GOAL:
            yield f"goalValues[{index}] must be from 0 to {MAX_GOAL}, not {goal}"


def _check_texts(record: Mapping[str, Any]) -> Iterator[str]:
    for index, text in enumerate(record["states"]):
        yield from _check_state(str(text), f"states[{index}]")
    for step, row in enumerate(record["moves"]):
        for role, move in enumerate(row):
            if len(_terms(move) or ()) != 1:
                yield f"moves[{step}][{role}] must be one term, not {_short(move)}"


def _check_state(text: str, place: str) -> Iterator[str]:
    fluents: list[Term] | None = None
    try:
        nodes = read(Source(text))
        if len(nodes) == 1 and isinstance(nodes[0], Expression):
            fluents = _as_terms(nodes[0].items, text)
    except RuleSheetError:
        fluents = None
    if fluents is None:
        yield f"{place} must be a list of fluents, ( ( cell 1 1 b ) ... ), not {_short(text)}"
    elif any(name_of(fluent) == "true" for fluent in fluents):
        yield f"{place} has a fluent inside 'true'; write the fluent alone"


def _check_errors(record: Mapping[str, Any]) -> Iterator[str]:
    for step, row in enumerate(record["errors"]):
        for role, error in enumerate(row):
            known = error in (NO_ERROR, TIMEOUT, CONNECTION_ERROR)
            if not known and not (error.startswith(ILLEGAL) and error[len(ILLEGAL) :].strip()):
                yield (
                    f'errors[{step}][{role}] must be "", "TO", "CE" or "IL move", '
                    f"not {_short(error)}"
                )


def _terms(text: str) -> list[Term] | None:
    try:
        return _as_terms(read(Source(text)), text)
    except RuleSheetError:
        return None


def _as_terms(nodes: Sequence[Node], text: str) -> list[Term]:
    return [term_from(node, Source(text)) for node in nodes]


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
