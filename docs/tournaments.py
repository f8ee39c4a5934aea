"""Tournaments in Python: the commands `ggp-agent tournament` and `ggp-agent results`, by steps.

Run the file as a script, or cell by cell in an editor that knows `# %%`.
"""

# %%
import asyncio
from pathlib import Path
from tempfile import mkdtemp

from ggp_agent.manager.tournament import (
    Progress,
    check_settings,
    games_table,
    make_plan,
    ratings_table,
    read_results,
    render,
    run_tournament,
    summarize,
    summary_table,
    versus_table,
)
from ggp_agent.statistics import Sprt, average_interval, mean_interval, split_point

# %% [markdown]
# ## The plan
#
# The settings have the names of the command's flags.  Agents are given by their names and
# parameters, or by URLs; here three of them meet in pairs.  With `simulations` the budget of a
# move does not depend on the machine, and with one simulation in flight (`in_flight=1`) the same
# seed gives the same matches, move for move.

# %%
settings = {
    "name": "example",
    "games": ["ticTacToe", "nim"],
    "agents": ["bold=uct:C=0.7:in_flight=1", "timid=uct:C=0.1:in_flight=1", "random"],
    "matches": 6,
    "simulations": 50,
    "seed": 2,
    "directory": mkdtemp(prefix="tournament-"),
}
plan = make_plan(check_settings(settings, "this script"))
print(f"{len(plan.fixtures)} matches, the first of them:")
for fixture in plan.fixtures[:6]:
    names = [plan.agents[seat].name for seat in fixture.seats]
    print(f"  {plan.match_id(fixture)}: {' - '.join(names)}, seed {fixture.seed(plan.seed)}")

# %% [markdown]
# ## The matches
#
# `run_tournament` plays what is missing.  Every finished match is a line of the results file and a
# record in the folder beside it, so that it can be stopped at any time: the same call goes on.


# %%
def tell(progress: Progress) -> None:
    """Print now and then how far it is."""
    if progress.done % 12 == 0:
        print(f"{progress.done} of {progress.total} matches")


results = asyncio.run(run_tournament(plan, tell))
assert asyncio.run(run_tournament(plan)) == results  # nothing is missing any more
header, same_results = read_results(plan.results_path)
print("a result:", same_results[0])

# %% [markdown]
# ## What they say
#
# Win percentages split one point among the best of a match.  Their intervals are those of the
# score test; over several games they are combined.

# %%
for line in summarize(results):
    if line.game is None and line.win is not None:
        print(f"{line.agent}: {line.win.value:.1f} % [{line.win.low:.1f}, {line.win.high:.1f}]")

print(render(summary_table(results), "text"))
print(render(games_table(results, "win", against="random"), "markdown"))
print(render(games_table(results, "simulations"), "latex"))
print(render(versus_table(results), "csv"))
print(render(ratings_table(results), "text"))

# %% [markdown]
# ## The statistics alone
#
# They work for scores from anywhere: points of matches, from 0 to 1.

# %%
print("three players, two of them best:", split_point([80, 80, 20]))
won = mean_interval([1] * 60 + [0.5] * 20 + [0] * 20)
print(f"60 won, 20 drawn, 20 lost: {won.value:.3f} [{won.low:.3f}, {won.high:.3f}]")
both = average_interval([won, mean_interval([1] * 40 + [0] * 60)])
print(f"with another game, 40 of 100 won: {both.value:.3f} [{both.low:.3f}, {both.high:.3f}]")
state = Sprt(h0=0.5, h1=0.55).run([1, 0.5, 1, 1] * 10)
print(f"50 % or 55 %? {state.verdict} after {state.blocks} blocks (ratio {state.ratio:.2f})")
print("records of the matches:", len(list(Path(plan.records_path).glob("*.json"))))
