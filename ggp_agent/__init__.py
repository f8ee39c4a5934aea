"""The agent: search, matches, the server for game managers, and the match manager."""
