"""The phases in which the nodes of a network are evaluated (see `propnet.network`)."""

POSITION, GOALS, STEP = 0, 1, 2
PHASES = 3

COMMIT = 3
"""The phase behind the network's: fluents get their next values."""
