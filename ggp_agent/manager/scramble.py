"""What players get to read: the rules and moves in the sheet's own words, or in made-up ones.

Scrambling renames every constant and variable, so that a player can't know a game by its words;
integers and the keywords of GDL stay.  The public GameServer does the same, and its layout of a
term, `( mark 1 2 )`, is used for everything that a manager writes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from typing import Protocol

from gdl.kif import Source, read
from gdl.rules import Rule, RuleSheet, Term, term_from
from ggp_agent.errors import MessageError

_RELATIONS = {"role", "init", "true", "next", "does", "legal", "goal", "terminal", "base", "input"}
_CONNECTIVES = {"<=", "and", "or", "not", "distinct"}
KEYWORDS = frozenset(_RELATIONS | _CONNECTIVES | {"random", "sees"})
"""Words that mean the same in every rule sheet."""

_RESERVED = KEYWORDS | {"nil", "info", "start", "play", "stop", "abort", "preview"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_TOKEN = re.compile(r"[()]|;[^\r\n]*|[^\s();]+")
_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aeiou"


class Names(Protocol):
    """The words in which a match is told to its players."""

    @property
    def rules(self) -> str:
        """The whole rule sheet as one line without comments."""

    def scramble(self, term: Term) -> str:
        """A role or a move as text for a player."""

    def unscramble(self, text: str) -> Term:
        """The first term of a player's text.  Raises `GgpError` where there is none."""


class PlainNames:
    """The sheet's own words, each in the spelling that the sheet uses first."""

    def __init__(self, sheet: RuleSheet) -> None:
        self._spelling = sheet.spelling.original
        self.rules = _rules_text(sheet.rules, self._spell)

    def scramble(self, term: Term) -> str:
        """A term in the sheet's spelling."""
        return write_spaced(term, self._spell)

    def unscramble(self, text: str) -> Term:
        """The first term of a text; case does not count."""
        return first_term(text)

    def _spell(self, symbol: str) -> str:
        return self._spelling.get(symbol, symbol)


class Scrambler:
    """A one-to-one renaming of a sheet's symbols, fixed by the seed."""

    def __init__(self, sheet: RuleSheet, seed: int) -> None:
        spelling = sheet.spelling.original
        renamed = [symbol for symbol in spelling if not _keeps_its_name(symbol)]
        words = _fresh_words(len(renamed), seed, _RESERVED | {s.lstrip("?") for s in spelling})
        self._new = {symbol: symbol for symbol in spelling}
        for symbol, word in zip(renamed, words, strict=True):
            self._new[symbol] = "?" + word if symbol[0] == "?" else word
        self._old = {new: old for old, new in self._new.items()}
        self.rules = _rules_text(sheet.rules, self._spell)

    def scramble(self, term: Term) -> str:
        """A term of the sheet's symbols in the new words."""
        return write_spaced(term, self._spell)

    def unscramble(self, text: str) -> Term:
        """The first term of a text, back in the sheet's symbols.

        Raises `MessageError` for a word that isn't one of the new ones, so that a player that
        answers in the sheet's own words is found out.
        """
        return self._translate_back(first_term(text))

    def _spell(self, symbol: str) -> str:
        return symbol if _keeps_its_name(symbol) else self._new[symbol]

    def _translate_back(self, term: Term) -> Term:
        if not isinstance(term, str):
            return tuple(self._translate_back(part) for part in term)
        if _keeps_its_name(term):
            return term
        if term not in self._old:
            raise MessageError(f"'{term[:40]}' is not a word of this match's rules")
        return self._old[term]


def write_spaced(term: Term, spell: Callable[[str], str]) -> str:
    """A term with white space around all its parts: `( mark 1 2 )`."""
    if isinstance(term, str):
        return spell(term)
    return "( " + " ".join(write_spaced(part, spell) for part in term) + " )"


def first_term(text: str) -> Term:
    """The first term of a text, whatever follows it.

    Raises `MessageError` for an empty text, `RuleSheetError` where the text starts with no term.
    """
    source = Source(text[: _end_of_first_term(text)], "move")
    nodes = read(source)
    if not nodes:
        raise MessageError("an empty reply; answer with a move, like ( mark 1 2 )")
    return term_from(nodes[0], source)


def _end_of_first_term(text: str) -> int:
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token[0] != ";":
            depth += (token == "(") - (token == ")")
            if depth <= 0:
                return match.end()
    return len(text)


def _rules_text(rules: Iterable[Rule], spell: Callable[[str], str]) -> str:
    """Rules as one line; what is written `(x)` becomes `x`, as in the moves sent later."""
    terms: Iterable[Term] = (("<=", r.head, *r.body) if r.body else r.head for r in rules)
    return " ".join(write_spaced(term, spell) for term in terms)


def _keeps_its_name(symbol: str) -> bool:
    return symbol in KEYWORDS or _INTEGER.fullmatch(symbol) is not None


def _fresh_words(count: int, seed: int, taken: Iterable[str]) -> list[str]:
    """Different pronounceable words of two to four syllables, none of them taken."""
    rng = random.Random(f"scramble {seed}")
    used = set(taken)
    words: list[str] = []
    while len(words) < count:
        syllables = rng.randint(2, 4)
        word = "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))
        if word not in used:
            used.add(word)
            words.append(word)
    return words
