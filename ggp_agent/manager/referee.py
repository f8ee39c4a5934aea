"""The state machine that referees a match."""

from __future__ import annotations

import logging

from gdl.errors import GroundingError
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from gdl.state_machine import StateMachine
from propnet.machine import PropnetStateMachine

GROUNDING_SECONDS = 60.0
GROUNDING_BYTES = 4 * 2**30

log = logging.getLogger(__name__)


def referee_machine(sheet: RuleSheet) -> StateMachine:
    """The propnet where the rules can be grounded in a minute, else Prolog."""
    try:
        return PropnetStateMachine.from_rules(
            sheet, seconds=GROUNDING_SECONDS, memory=GROUNDING_BYTES
        )
    except GroundingError as error:
        log.warning("%s: no propnet (%s); refereeing with Prolog", sheet.source.name, error)
        return PrologStateMachine(sheet)
