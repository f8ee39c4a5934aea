"""The Prolog reasoner: the same game as by the naive one, and no question that hangs or crashes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from gdl.errors import ReasonerError
from gdl.prolog import PrologStateMachine
from gdl.rules import RuleSheet
from tests.conformance import assert_agree
from tests.naive import NaiveStateMachine, mean_and_deviation, random_tic_tac_toe
from tests.small_sheets import SHEETS, small_sheet, tic_tac_toe

FRAME = "(role r) (init a) (legal r x) (legal r y) (<= (next a) (does r x)) (goal r 50) "


@contextmanager
def _machine(text: str, seconds: float = 60.0) -> Iterator[PrologStateMachine]:
    with closing(PrologStateMachine(RuleSheet.from_text(text), seconds=seconds)) as machine:
        yield machine


# ------------------------------------------------------------------------------------- the game


@pytest.mark.parametrize("name", SHEETS)
def test_it_plays_as_the_naive_reasoner_does(name: str) -> None:
    sheet = small_sheet(name)
    with closing(PrologStateMachine(sheet)) as machine:
        assert assert_agree(NaiveStateMachine(sheet), machine, playouts=5, steps=8) >= 5


def test_it_plays_tic_tac_toe() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        assert assert_agree(NaiveStateMachine(tic_tac_toe()), machine, playouts=3, steps=9) > 15


def test_questions_about_several_states_may_be_mixed() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        first = machine.initial_state
        second = machine.next_state(first, (("mark", "1", "1"), "noop"))
        third = machine.next_state(second, ("noop", ("mark", "2", "2")))
        assert len(machine.legal_moves(third, 0)) == 7
        assert len(machine.legal_moves(first, 0)) == 9
        assert machine.legal_moves(second, 0) == ("noop",)
        assert machine.next_state(first, (("mark", "1", "1"), "noop")) == second
        assert machine.goals(third) == (50, 50)


def test_a_joint_move_needs_a_move_per_role() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine, pytest.raises(ValueError):
        machine.next_state(machine.initial_state, (("mark", "1", "1"),))


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        ("(<= (p ?x ?y) (p ?x ?z) (q ?z ?y)) (<= (p ?x ?y) (q ?x ?y)) (<= terminal (p 1 3))", True),
        (
            "(<= (p ?x ?y) (p ?z ?y) (q ?x ?z)) (<= (p ?x ?y) (q ?x ?y)) (<= terminal (p 3 1))",
            False,
        ),
        ("(<= even odd) (<= odd even) (<= terminal even)", False),
        ("(<= even odd) (<= odd even) (<= odd (true a)) (<= terminal even)", True),
        (
            "(<= (e ?x) (q ?y ?x) (o ?y)) (<= (o ?x) (q ?y ?x) (e ?y)) (e 1) (<= terminal (e 3))",
            True,
        ),
        (
            "(<= (e ?x) (q ?y ?x) (o ?y)) (<= (o ?x) (q ?y ?x) (e ?y)) (e 1) (<= terminal (o 3))",
            False,
        ),
        ("(<= w (not (win 1))) (<= (win ?x) (q ?x ?y) (not (win ?y))) (<= terminal w)", True),
        ("(<= w (not (win 2))) (<= (win ?x) (q ?x ?y) (not (win ?y))) (<= terminal w)", False),
        ("(<= terminal (not (q ?x 3)) (q ?x ?y) (distinct ?x ?y))", True),
        ("(<= terminal (distinct ?x ?y) (q ?x ?y) (not (q ?y ?x)) (true a))", True),
    ],
)
def test_recursion_ends_and_tests_wait_for_their_variables(rules: str, answer: bool) -> None:
    with _machine(f"{FRAME} (q 1 2) (q 2 3) {rules}") as machine:
        assert machine.is_terminal(machine.initial_state) is answer


def test_a_slow_question_is_asked_again_with_everything_tabled() -> None:
    """Paths through a ladder: exponentially many proofs, a handful of answers."""
    ladder = " ".join(
        f"(<= (p {i + 1}) (p {i}) (true a)) (<= (p {i + 1}) (p {i}))" for i in range(40)
    )
    unrolled = ladder.replace("(p ", "(p").replace("(p0)", "p0")
    for i in range(41):
        unrolled = unrolled.replace(f"(p{i})", f"p{i}")
    with _machine(f"{FRAME} (<= p0 (true b)) {unrolled} (<= terminal p40)") as machine:
        assert machine.is_terminal(machine.initial_state) is False
        assert machine.legal_moves(machine.initial_state, 0) == ("x", "y")
        assert machine.next_state(machine.initial_state, ("x",)) == machine.initial_state


def test_numbers_are_symbols() -> None:
    text = "(role r) (init 1) (init 01) (init 1.0) (init -1) (legal r 10) (legal r 9) (legal r 09)"
    with _machine(f"{text} (goal r 1) (<= terminal (true +1))") as machine:
        state = machine.initial_state
        assert machine.fluents(state) == {"1", "01", "1.0", "-1"}
        assert machine.legal_moves(state, 0) == ("09", "9", "10")
        assert not machine.is_terminal(state)


def test_without_a_role_there_is_no_game() -> None:
    with pytest.raises(ReasonerError, match=r"no role; add \(role NAME\) facts"):
        PrologStateMachine(RuleSheet.from_text("(init a) (legal r x) (goal r 1) terminal"))


# ------------------------------------------------------------------------------- random playouts


def test_playouts_inside_prolog_are_random_play() -> None:
    """Mean length and goals within 4 standard errors of the exact ones."""
    outcomes, count = random_tic_tac_toe(), 1000
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        machine.seed(1)
        played = [machine.playout() for _ in range(count)]
    assert {(length, (goals[0], goals[1])) for length, goals in played} <= outcomes.keys()
    for value in (None, 0, 1):
        mean, deviation = mean_and_deviation(outcomes, value)
        seen = [length if value is None else goals[value] for length, goals in played]
        assert abs(sum(seen) / count - mean) < 4 * deviation / count**0.5


def test_playouts_repeat_with_the_seed_and_stop_at_the_limit() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        runs = []
        for seed in (7, 7, 8):
            machine.seed(seed)
            runs.append([machine.playout() for _ in range(10)])
        assert runs[0] == runs[1] != runs[2]
        assert machine.playout(limit=3) == (3, (50, 50))
        assert machine.playout(limit=0) == (0, (50, 50))


def test_a_playout_without_a_legal_move_is_an_error() -> None:
    text = "(role r) (init a) (<= (legal r x) (true b)) (goal r 1) (<= terminal (true c))"
    with _machine(text) as machine:
        with pytest.raises(ReasonerError, match="may lack a legal move"):
            machine.playout()
        assert machine.legal_moves(machine.initial_state, 0) == ()


# --------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "endless",
    [
        "(<= (n (s ?x)) (n ?x)) (n z) (<= terminal (n ?x) (distinct ?x ?x))",
        "(<= (n ?x) (n (s ?x))) (<= terminal (n none))",
    ],
)
def test_endless_recursion_is_an_error_and_no_hang(endless: str) -> None:
    with _machine(f"{FRAME} {endless}", seconds=1) as machine:
        with pytest.raises(ReasonerError):
            machine.is_terminal(machine.initial_state)
        assert machine.legal_moves(machine.initial_state, 0) == ("x", "y")


def test_a_rule_that_leaves_a_variable_open_is_an_error() -> None:
    with _machine(f"{FRAME} (<= (legal r (go ?x)) (true a)) (<= terminal (true b))") as machine:
        assert not machine.is_terminal(machine.initial_state)
        with pytest.raises(ReasonerError, match="leaves a variable of its head open"):
            machine.legal_moves(machine.initial_state, 0)


def test_after_its_process_was_killed_it_answers_again() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        _kill(machine)
        with pytest.raises(ReasonerError, match="process ended"):
            machine.legal_moves(machine.initial_state, 0)
        assert len(machine.legal_moves(machine.initial_state, 0)) == 9


def test_a_process_killed_while_it_thinks_is_an_error() -> None:
    endless = "(<= (n (s ?x)) (n ?x)) (n z) (<= terminal (n ?x) (distinct ?x ?x))"
    with _machine(f"{FRAME} {endless}", seconds=30) as machine:
        killer = threading.Timer(0.5, _kill, (machine,))
        killer.start()
        with pytest.raises(ReasonerError, match="process ended"):
            machine.is_terminal(machine.initial_state)


def _kill(machine: PrologStateMachine) -> None:
    assert machine._process is not None
    os.kill(machine._process._process.pid, signal.SIGKILL)


def test_a_closed_machine_says_so_and_its_process_is_gone() -> None:
    machine = PrologStateMachine(tic_tac_toe())
    assert machine._process is not None
    process = machine._process._process
    machine.close()
    machine.close()
    assert process.poll() is not None
    with pytest.raises(ReasonerError, match="closed"):
        machine.legal_moves(machine.initial_state, 0)


def test_it_outlives_the_thread_that_made_it() -> None:
    made: list[PrologStateMachine] = []
    thread = threading.Thread(target=lambda: made.append(PrologStateMachine(tic_tac_toe())))
    thread.start()
    thread.join()
    with closing(made[0]) as machine:
        assert len(machine.legal_moves(machine.initial_state, 0)) == 9


def test_threads_may_share_it() -> None:
    with closing(PrologStateMachine(tic_tac_toe())) as machine:
        second = machine.next_state(machine.initial_state, (("mark", "1", "1"), "noop"))
        wrong: list[int] = []

        def ask(state: object, count: int) -> None:
            for _ in range(50):
                found = len(machine.legal_moves(state, 0))
                if found != count:
                    wrong.append(found)

        threads = [
            threading.Thread(target=ask, args=pair)
            for pair in ((machine.initial_state, 9), (second, 1)) * 2
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
