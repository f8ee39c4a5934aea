"""Self-adaptive search: tuners that set the search's parameters anew for every simulation.

`space` says what can be tuned, the tuners (`tuners` has their names) learn which combinations of
values bring rewards, `adaptive` puts them to work in the search.
"""
