"""Tactics: positions whose good moves are proven by exhaustive search, and how often agents find
them.
"""
