"""The forward model: what a search has to know about a game, whatever the game is written in."""
