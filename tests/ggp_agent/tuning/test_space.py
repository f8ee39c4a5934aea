"""Parameter spaces: reading them, legality, values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from ggp_agent.agents import find_agent
from ggp_agent.errors import ParameterError
from ggp_agent.parameters import PARAMETERS, Scope
from ggp_agent.tuning.space import UNUSED, read_space
from ggp_agent.tuning.tuned_parameters import check_tuning, spaces_of, usual_parameters
from tests.ggp_agent.tuning.oracle import SPACES


class TestReading:
    def test_names_stand_for_the_declared_domains(self) -> None:
        space = read_space("C,epsilon")
        assert space.names == ("C", "epsilon")
        assert space.domains == (PARAMETERS["C"].discrete, PARAMETERS["epsilon"].discrete)
        assert space.intervals == ((0, 1), (0, 1))
        assert not space.links

    def test_own_domains(self) -> None:
        space = read_space(" K=10,50,inf, C ,VO=0.1,0")
        assert space.names == ("K", "C", "VO")
        assert space.domains[0] == (10, 50, math.inf)
        assert space.domains[2] == (0.1, 0)
        assert space.intervals[0] == (10, 50)
        assert space.intervals[2] == (0, 0.1)

    def test_the_papers_six_parameters(self) -> None:
        space = read_space("K,Ref,C,epsilon,VO,T")
        assert space.sizes == (10, 8 + 1, 9, 11, 6, 10)
        assert len(space.legal_codes()) == (9 * 8 + 1) * 9 * 11 * 6 * 10

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "no parameter"),
            ("solver", "can't be tuned"),
            ("in_flight", "can't be tuned"),
            ("C,C", "twice"),
            ("C=0.1", "two or more"),
            ("C=0.1,0.1", "different"),
            ("FPU", "two or more"),
            ("C=0.1,20", "C=20"),
            ("C=nan,0.1", "C=nan"),
            ("C,0.5", "'0.5' is not a parameter"),
            ("C=0.1,inf", "C=inf"),
            ("selection=uct", "as it is"),
            ("selection,K", "both"),
            ("C,epsilon,playout", "both"),
        ],
    )
    def test_others_are_refused(self, text: str, words: str) -> None:
        with pytest.raises(ParameterError, match=words):
            read_space(text)

    def test_strategies(self) -> None:
        space = read_space("selection,C,playout", {"K": 500.0, "epsilon": 0.3})
        assert space.names == ("selection", "C", "playout")
        assert space.columns == ("K", "C", "epsilon")
        assert (space.domains[0], space.domains[2]) == ((0, 500), (1, 0.3))
        assert space.intervals[2] == (0.3, 1)
        assert space.describe([0, 2, 1]) == "selection=uct C=0.3 playout=mast"
        with pytest.raises(ParameterError, match="uct anyway"):
            read_space("selection", {"K": 0.0})

    def test_too_many_combinations_are_refused(self) -> None:
        many = ",".join(str(i / 1000) for i in range(1000))
        with pytest.raises(ParameterError, match="combinations"):
            read_space(f"C={many},epsilon={many},VO")


# Decision 12
class TestLegality:
    def test_without_grave_there_is_no_reference(self) -> None:
        space = read_space("Ref,K")
        for picks in itertools.product(*map(range, space.sizes)):
            ref, k = (d[p] for d, p in zip(space.domains, picks, strict=True))
            assert space.is_legal(picks) == ((k == 0) == (ref == UNUSED))

    def test_only_where_both_are_tuned_and_k_can_be_0(self) -> None:
        for text in ("K,C", "Ref,C", "K=10,20,Ref"):
            space = read_space(text)
            assert not space.links
            assert all(UNUSED not in domain for domain in space.domains)

    @pytest.mark.parametrize("space", SPACES.values(), ids=list(SPACES))
    def test_codes(self, space) -> None:  # type: ignore[no-untyped-def]
        every = itertools.product(*map(range, space.sizes))
        legal = [code for code, picks in enumerate(every) if space.is_legal(picks)]
        assert space.legal_codes().tolist() == legal


class TestValues:
    def test_numbers_to_values(self) -> None:
        space = SPACES["linked"]
        assert space.table().tolist() == [[0, 10, 100], [0, 50, math.inf], [0.1, 0.2, 0.4]]
        assert space.describe([0, 2, 1]) == "K=0 Ref=unused C=0.2"

    def test_points_to_values(self) -> None:
        values = read_space("K,C").values_between(np.array([[0.0, 1.0], [0.5, 0.25]]))
        assert values.tolist() == [[0, 1], [1000, 0.25]]


class TestDefaults:
    @pytest.mark.parametrize(
        ("text", "fixed", "words"),
        [
            ("K,Ref,C,epsilon,VO,T", {}, "K=250 Ref=50 C=0.2 epsilon=0.4 VO=0.01 T=0"),
            ("K,Ref,C=0.1,0.3,0.9", {"K": 600.0, "C": 0.7}, "K=500 Ref=50 C=0.9"),
            ("K,Ref", {"K": 3.0, "Ref": 1e6}, "K=0 Ref=unused"),
            ("Ref,K", {"K": math.inf, "Ref": 0.0}, "Ref=0 K=inf"),
            ("K=0,10,Ref=50,100", {"K": math.inf, "Ref": 9.0}, "K=10 Ref=50"),
            ("selection,playout,T", {"T": math.inf}, "selection=grave playout=mast T=inf"),
        ],
    )
    def test_are_nearest_to_the_agents_own_values(
        self, text: str, fixed: dict[str, float], words: str
    ) -> None:
        space = read_space(text, fixed)
        assert space.describe(space.defaults) == words
        assert space.is_legal(space.defaults)

    def test_the_agents_own_values_are_known(self) -> None:
        agent = find_agent("ap-nmc").with_settings(["tune=4", "epsilon=0.83"])
        space = spaces_of(agent)[Scope.SIMULATION]
        assert space.describe(space.defaults) == "K=250 Ref=50 C=0.2 epsilon=0.8"


class TestAgents:
    def test_the_papers_sets(self) -> None:
        assert usual_parameters(find_agent("sp"), 2) == ("C", "epsilon")
        assert usual_parameters(find_agent("ap"), 2) == ("K", "Ref")
        assert usual_parameters(find_agent("ap"), 4) == ("K", "Ref", "C", "epsilon")
        assert usual_parameters(find_agent("ap"), 6) == ("K", "Ref", "C", "epsilon", "VO", "T")

    def test_an_agent_with_a_tuner(self) -> None:
        agent = find_agent("ap-ntbea")
        assert (agent["tuner"], agent["selection"]) == ("ntbea", "grave")
        assert spaces_of(agent)[Scope.SIMULATION].names == ("K", "Ref")
        (space,) = spaces_of(agent.with_settings(["tune=4"])).values()
        assert space.names[2:] == ("C", "epsilon")
        assert find_agent("sp-fixed-random-values")["tuner"] == "fixed-random-values"

    def test_parameters_of_every_scope_have_a_space_of_their_own(self) -> None:
        agent = find_agent("ap-nmc").with_settings(
            ["tune=decay,K,tau=5,10,C,Ref", "playout=gibbs", "tau=9", "decay=0.3"]
        )
        spaces = spaces_of(agent)
        assert {scope: space.names for scope, space in spaces.items()} == {
            Scope.SIMULATION: ("K", "C", "Ref"),
            Scope.BATCH: ("tau",),
            Scope.MOVE: ("decay",),
        }
        assert list(spaces) == [Scope.SIMULATION, Scope.BATCH, Scope.MOVE]
        assert [len(space.links) for space in spaces.values()] == [1, 0, 0]
        words = [space.describe(space.defaults) for space in spaces.values()]
        assert words == ["K=250 C=0.2 Ref=50", "tau=10", "decay=0.2"]
        with pytest.raises(ParameterError, match="2 scopes"):
            read_space("tau,decay")

    @pytest.mark.parametrize(
        ("name", "settings", "words"),
        [
            ("ap", ["tune=K"], "needs a tuner"),
            ("sp-nmc", ["tune=K"], "selection=grave"),
            ("uct-nmc", ["tune=epsilon"], "playout=mast"),
            ("sp-nmc", ["tune=selection"], "selection=grave"),
            ("uct-nmc", ["tune=playout"], "playout=mast"),
            ("sp-nmc", ["tune=tau"], "playout=gibbs"),
            ("uct-nmc", ["tune=decay"], "playout=mast or playout=gibbs"),
            ("sp-lsi", ["tune=C,decay"], "decay can't be tuned by lsi: one value per move"),
            ("sp-ea", ["tune=decay"], "decay can't be tuned by ea"),
            ("random-nmc", [], "does not search"),
            ("ap-nmc", ["tune=7"], "6 parameters"),
            ("ap-nmc", ["tune=0"], "6 parameters"),
        ],
    )
    def test_tuning_without_effect_is_refused(
        self, name: str, settings: list[str], words: str
    ) -> None:
        with pytest.raises(ParameterError, match=words):
            check_tuning(find_agent(name).with_settings(settings))

    def test_unknown_tuners_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="ntbea"):
            find_agent("ap-best")
