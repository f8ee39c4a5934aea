"""Exact search for one-player games: all states are kept, and the lines to the best ends."""
