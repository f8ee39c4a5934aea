"""Joint moves written as KIF, and the position to which they lead."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.kif import Expression, Source, read
from gdl.rules import RuleSheet, term_from
from gdl.state_machine import JointMove, State, StateMachine
from ggp_agent.errors import GameError


def read_joint_moves(text: str, name: str) -> list[JointMove]:
    """Joint moves as lists of moves; a single move where there is one role may stand alone.

    `name` is what the text is called in the error (`RuleSheetError`) where it is no KIF.
    """
    source = Source(text, name)
    return [
        [term_from(item, source) for item in node.items]
        if isinstance(node, Expression)
        else [term_from(node, source)]
        for node in read(source)
    ]


def write_joint_moves(joint_moves: Iterable[JointMove], sheet: RuleSheet) -> str:
    """Joint moves in a line, as the sheet spells them."""
    return " ".join(f"({' '.join(map(sheet.write, joint))})" for joint in joint_moves)


def position_after(
    machine: StateMachine, sheet: RuleSheet, joint_moves: Iterable[JointMove]
) -> State:
    """The state to which joint moves lead.  Raises `GameError` where one is not legal."""
    state = machine.initial_state
    for number, joint in enumerate(joint_moves, 1):
        if len(joint) != len(machine.roles):
            raise GameError(f"joint move {number} must have {len(machine.roles)} moves")
        for role, move in enumerate(joint):
            if machine.is_terminal(state) or move not in machine.legal_moves(state, role):
                who = sheet.write(machine.roles[role])
                raise GameError(f"joint move {number}: {sheet.write(move)} is not legal for {who}")
        state = machine.next_state(state, joint)
    return state
