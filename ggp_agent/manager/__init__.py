"""The manager's side: players to talk to, matches to run, records to keep."""
