"""Monte-Carlo tree search: the native search over the simulator, and its plain reference."""
