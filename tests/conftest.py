"""Set-up of all tests."""

from __future__ import annotations

from hypothesis import settings

# Examples are the same in every run, so that a failure is one of the change that shows it; look
# for new ones with `pytest --hypothesis-profile explore`.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
