"""Games by name, their boards, and random games as text."""
