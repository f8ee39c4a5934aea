"""Making a reasoner of a match's rules, in threads, while commands are still taken.

If the propnet takes long, a Prolog reasoner is started meanwhile, and plays until the propnet is
there: for ever, where the rules can't be grounded.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from gdl.errors import GgpError
from gdl.kif import Node
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from gdl.state_machine import StateMachine
from gdl.validation import check_nodes
from propnet.machine import PropnetStateMachine

log = logging.getLogger(__name__)

PROLOG_AFTER = 0.4
"""Seconds for which the propnet may be compiling before Prolog is asked to help out."""
PROLOG_ANSWER_SECONDS = 20.0
COMPILE_SECONDS = 600.0
"""Seconds after which the attempt to ground the rules is given up; Prolog plays on."""
MOST_TO_CHECK = 200_000
"""Characters of a rule sheet beyond which it is not checked for faults at START."""

Give = Callable[[StateMachine], None]


def make_reasoners(sheet: RuleSheet, nodes: Sequence[Node], give: Give) -> None:
    """Give away each reasoner for the rules as soon as it is there; returns at once.

    `nodes` are what the sheet was made of; faults that are found in them are logged.
    """
    threading.Thread(target=_compile, args=(sheet, nodes, give), daemon=True).start()


def _compile(sheet: RuleSheet, nodes: Sequence[Node], give: Give) -> None:
    """Thread: make the propnet, with Prolog started by its side if that takes long."""
    compiled = threading.Event()
    threading.Thread(target=_help_out, args=(sheet, compiled, give), daemon=True).start()
    try:
        machine = PropnetStateMachine.from_rules(sheet, seconds=COMPILE_SECONDS)
    except GgpError as error:
        log.warning("no propnet (%s); playing with Prolog", error)
        return
    compiled.set()
    give(machine)
    if len(sheet.source.text) < MOST_TO_CHECK:
        for finding in check_nodes(nodes, sheet.source):
            log.warning("%s: %s", finding.location, finding.message)


def _help_out(sheet: RuleSheet, compiled: threading.Event, give: Give) -> None:
    """Thread: start Prolog unless the propnet is there soon."""
    if compiled.wait(PROLOG_AFTER):
        return
    try:
        machine = PrologStateMachine(sheet, seconds=PROLOG_ANSWER_SECONDS)
    except GgpError as error:
        log.warning("no Prolog reasoner: %s", error)
        return
    give(machine)
