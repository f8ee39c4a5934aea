"""Parameters and agents: reading values, refusing others in words that help."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import ggp_agent.mind.agents  # noqa: F401  # all parameters are declared then
from ggp_agent.agents import AGENTS, Agent, find_agent
from ggp_agent.errors import ParameterError
from ggp_agent.parameters import (
    PARAMETERS,
    Parameter,
    Scope,
    Value,
    column_of,
    declare,
    parameters_of,
)


class TestParse:
    @pytest.mark.parametrize(
        ("name", "text", "value"),
        [
            ("C", "0.7", 0.7),
            ("C", "0", 0.0),
            ("C", "10", 10.0),
            ("FPU", "1e3", 1000.0),
            ("in_flight", "1", 1),
            ("in_flight", "512", 512),
            ("simulations", "123456789012", 123456789012),
            ("strategy", "random", "random"),
            ("K", "inf", math.inf),
            ("Ref", "0", 0.0),
            ("T", "Infinity", math.inf),
        ],
    )
    def test_values_in_the_domain(self, name: str, text: str, value: Value) -> None:
        parsed = PARAMETERS[name].parse(text)
        assert (parsed, type(parsed)) == (value, type(value))

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("C", "-0.1"),
            ("C", "10.01"),
            ("C", "nan"),
            ("C", "inf"),
            ("C", ""),
            ("C", "much"),
            ("VO", "1.1"),
            ("in_flight", "0"),
            ("in_flight", "513"),
            ("in_flight", "1.5"),
            ("simulations", "-1"),
            ("simulations", "nan"),
            ("memory", "15"),
            ("strategy", "minimax"),
            ("strategy", "MCTS"),
            ("FPU", "inf"),
            ("simulations", "inf"),
            ("K", "-inf"),
        ],
    )
    def test_others_are_refused_with_the_domain(self, name: str, text: str) -> None:
        with pytest.raises(ParameterError) as caught:
            PARAMETERS[name].parse(text)
        message = str(caught.value)
        assert message.startswith(f"{name}={text}: ")
        assert PARAMETERS[name].domain in message
        assert "\n" not in message

    @pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda p: p.name)
    def test_every_default_is_in_its_domain(self, parameter: Parameter) -> None:
        assert parameter.parse(str(parameter.default)) == parameter.default
        assert parameter.help
        assert parameter.low <= parameter.high

    def test_the_papers_table_of_parameters(self) -> None:
        """Defaults and domains of Table I."""
        defaults = {"C": 0.2, "epsilon": 0.4, "K": 250.0, "Ref": 50.0, "VO": 0.01, "T": 0.0}
        sizes = {"C": 9, "epsilon": 11, "K": 10, "Ref": 8, "VO": 6, "T": 10}
        ends = {"C": 1.0, "epsilon": 1.0, "K": 2000.0, "Ref": 10000.0, "VO": 0.025, "T": 200.0}
        for name, default in defaults.items():
            parameter = PARAMETERS[name]
            assert parameter.default == default
            assert len(set(parameter.discrete)) == sizes[name]
            assert parameter.continuous == (0.0, ends[name])
            assert all(parameter.parse(str(v)) == v for v in parameter.discrete)
            assert "Table I" in parameter.source
        assert set(defaults) <= set(parameters_of(Scope.SIMULATION))

    def test_domains_in_words(self) -> None:
        assert PARAMETERS["C"].domain == "number in [0, 10]"
        assert PARAMETERS["in_flight"].domain == "integer in [1, 512]"
        assert PARAMETERS["strategy"].domain == "mcts | random | legal"
        assert "inf" in PARAMETERS["simulations"].domain
        assert math.isinf(PARAMETERS["simulations"].high)


class TestDeclarations:
    def test_columns_are_in_order_of_declaration(self) -> None:
        names = parameters_of(Scope.SIMULATION)
        used = {"C", "epsilon", "K", "Ref", "VO", "T", "FPU", "W", "minimax", "minimax_visits"}
        assert set(names) == used
        assert [column_of(name) for name in names] == list(range(len(names)))
        assert parameters_of(Scope.BATCH) == ("tau",)
        assert parameters_of(Scope.MOVE) == ("decay",)
        assert PARAMETERS["simulations"].scope is Scope.MATCH

    @pytest.mark.parametrize(
        "first",
        ["strategies.mast", "strategies.uct", "strategies.implicit_minimax", "selection", "plain"],
    )
    def test_columns_do_not_depend_on_what_is_imported_first(self, first: str) -> None:
        """They are compiled into kernels that other processes take from the cache."""
        program = (
            f"import ggp_agent.search.{first}, ggp_agent.search.selection\n"
            "from ggp_agent.parameters import Scope, parameters_of\n"
            "print(*parameters_of(Scope.SIMULATION))"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert tuple(run.stdout.split()) == parameters_of(Scope.SIMULATION), run.stderr

    @pytest.mark.parametrize("name", ["tau", "decay"])
    def test_domains_for_tuners_hold_the_default(self, name: str) -> None:
        parameter = PARAMETERS[name]
        assert parameter.default in parameter.discrete
        assert parameter.continuous is not None
        assert parameter.continuous[0] <= min(parameter.discrete)
        assert max(parameter.discrete) <= parameter.continuous[1]
        assert all(parameter.parse(str(value)) == value for value in parameter.discrete)

    def test_a_name_is_declared_once(self) -> None:
        before = dict(PARAMETERS)
        with pytest.raises(ValueError, match="tau is declared twice"):
            declare(Parameter("tau", 1.0, "again"))
        assert before == PARAMETERS


class TestAgents:
    def test_what_is_not_set_has_its_default(self) -> None:
        agent = Agent("test", "", {"C": 0.9})
        assert agent["C"] == 0.9
        assert agent["VO"] == PARAMETERS["VO"].default
        assert agent.number("simulations") == 0.0

    def test_an_unknown_parameter_is_never_read(self) -> None:
        with pytest.raises(KeyError):
            Agent("test", "", {})["Cc"]

    def test_settings_make_another_agent(self) -> None:
        uct = find_agent("uct")
        changed = uct.with_settings(["C=0.5", "simulations=10", "C=0.6"])
        assert (changed["C"], changed["simulations"]) == (0.6, 10)
        assert uct["C"] == PARAMETERS["C"].default
        assert changed.name == "uct"

    def test_an_unknown_parameter_is_an_error_that_lists_the_known(self) -> None:
        with pytest.raises(ParameterError) as caught:
            find_agent("uct").with_settings(["c=0.5"])
        assert "'c'" in str(caught.value)
        assert all(name in str(caught.value) for name in PARAMETERS)

    @pytest.mark.parametrize("text", ["C", "", "C:0.5"])
    def test_an_assignment_needs_its_sign(self, text: str) -> None:
        with pytest.raises(ParameterError, match="KEY=VALUE"):
            find_agent("uct").with_settings([text])

    def test_an_unknown_agent_is_an_error_that_lists_the_known(self) -> None:
        with pytest.raises(ParameterError) as caught:
            find_agent("mcts")
        assert "'mcts'" in str(caught.value)
        assert all(name in str(caught.value) for name in AGENTS)

    @pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.name)
    def test_the_agents_there_are_hold_values_of_the_domains(self, agent: Agent) -> None:
        for name, value in agent.settings.items():
            assert PARAMETERS[name].parse(str(value)) == value
        assert agent.summary
        assert find_agent(agent.name) is agent
