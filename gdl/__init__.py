"""The Game Description Language: read, check, ground and reason about rule sheets."""
