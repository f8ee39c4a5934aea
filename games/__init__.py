"""Rule sheets of our own: one folder a game, in the layout of the ggp.org repositories.

`KEY/METADATA` is JSON, `KEY/KEY.kif` the rules, `KEY/KEY.txt` the description in a few lines.
`ggp_agent.library.games` finds and reads them.
"""
