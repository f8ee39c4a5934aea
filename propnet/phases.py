"""The phases in which the nodes of a network are evaluated (see `propnet.network`)."""

POSITION, GOALS, WINS, STEP = 0, 1, 2, 3
PHASES = 4

COMMIT = 4
"""The phase behind the network's: fluents get their next values."""
