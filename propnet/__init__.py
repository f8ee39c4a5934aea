"""Propositional networks: ground rules as gates, and 512 games at a time."""

from pathlib import Path

import gdl.instantiation.engine  # noqa: F401  # before the next call: its kernels are gdl's own
from gdl.kernel_cache import keep_kernels_of

keep_kernels_of(Path(__file__).parent)
