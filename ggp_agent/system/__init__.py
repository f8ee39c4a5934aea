"""The machine that everything runs on: its cores, and child processes."""
