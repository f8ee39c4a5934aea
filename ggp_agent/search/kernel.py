"""How the kernels of the search are compiled.

They get tuples of many arrays.  Three things would cost far more than the work itself: counting
references to every array at every call, so that is off; copying the
descriptions of all arrays at every call, so parts of kernels are always inlined; and, when they
are compiled, wrappers that unpack the tuples, so only entries have these.
"""

from __future__ import annotations

from typing import Any

import gdl.kernel_cache
from gdl.linked_kernels import linked

entry: Any = gdl.kernel_cache.kernel
"""decorator for kernels that Python calls; they allocate nothing, like all of them"""

direct = gdl.kernel_cache.direct
"""decorator for entries of many arrays that only Python calls, always with the same types"""

kernel: Any = linked(nogil=True, _nrt=False)
"""decorator for kernels that kernels call"""

part: Any = linked(nogil=True, _nrt=False, forceinline=True)
"""decorator for parts of kernels"""

fast_part: Any = linked(nogil=True, _nrt=False, forceinline=True, fastmath=True)
"""the same for loops over numbers whose order of operations does not matter"""
