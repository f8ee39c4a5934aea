"""What an agent tunes: which parameters, of which scopes, and whether they have any effect."""

from __future__ import annotations

from ggp_agent.agents import Agent
from ggp_agent.errors import ParameterError
from ggp_agent.parameters import PARAMETERS, TUNABLE, Scope
from ggp_agent.tuning.space import Space, read_spaces, tunable
from ggp_agent.tuning.tuners import find_tuner


def check_tuning(agent: Agent) -> None:
    """Raise `ParameterError` for tuning that can't be."""
    if agent["tuner"] != "off":
        if agent["strategy"] != "mcts":
            raise ParameterError(f"{agent.name} does not search: there is nothing to tune")
        spaces_of(agent)
    elif agent["tune"]:
        raise ParameterError("what is to be tuned needs a tuner; none is set")


def spaces_of(agent: Agent) -> dict[Scope, Space]:
    """The parameters that an agent tunes, by scope.

    Raises `ParameterError` where one has no effect, or too few samples for the agent's tuner.
    """
    text = str(agent["tune"]) or "2"
    if text.isdecimal():
        text = ",".join(usual_parameters(agent, int(text)))
    spaces = read_spaces(text, {name: agent.number(name) for name in tunable()})
    name = str(agent["tuner"])
    known = TUNABLE if name == "off" else find_tuner(name).scopes
    for scope, space in spaces.items():
        for parameter, column in zip(space.names, space.columns, strict=True):
            _check_effect(agent, parameter, column)
        if scope not in known:
            raise ParameterError(
                f"{' and '.join(space.names)} can't be tuned by {name}: one value per {scope.value}"
                " is too few samples for it"
            )
    return spaces


def _check_effect(agent: Agent, name: str, column: str) -> None:
    """Raise `ParameterError` where a parameter does nothing with the agent's strategies."""
    users = PARAMETERS[column].used_by
    if users and all(agent[strategy] != value for strategy, value in users):
        needed = " or ".join(f"{strategy}={value}" for strategy, value in users)
        raise ParameterError(f"{name} can only be tuned with {needed}")


def usual_parameters(agent: Agent, count: int) -> tuple[str, ...]:
    """The papers' sets: K, Ref, C, epsilon, VO and T in this order, without those of no effect.

    Raises `ParameterError` if there are not so many.
    """
    names = (("K", "Ref"), ("C",), ("epsilon",), ("VO", "T"))
    use = (agent["selection"] == "grave", True, agent["playout"] == "mast", True)
    chosen = [name for group, used in zip(names, use, strict=True) if used for name in group]
    if not 1 <= count <= len(chosen):
        raise ParameterError(
            f"{agent.name} has {len(chosen)} parameters to tune ({', '.join(chosen)}), not {count}"
        )
    return tuple(chosen[:count])
