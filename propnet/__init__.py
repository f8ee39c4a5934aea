"""Propositional networks: ground rules as gates, and 512 games at a time."""
