"""Propositional networks: ground rules as gates, and 512 games at a time."""

from pathlib import Path

from propnet.kernel_cache import keep_kernels_of

keep_kernels_of(Path(__file__).parent)
