"""Self-adaptive search: tuners that set the search's parameters anew during the game.

`tuners` has their names and declares their parameters, `tuned_parameters` says what an agent tunes,
`value_tuner` what all tuners offer, `self_adaptive` puts them to work in the search.
"""
