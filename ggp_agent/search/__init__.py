"""Monte-Carlo tree search: the native search over the simulator, and its plain reference."""

from pathlib import Path

import propnet
import propnet.kernels
import propnet.network  # both before the next call, so that their kernels stay propnet's own
from gdl.kernel_cache import keep_kernels_of

keep_kernels_of(
    Path(propnet.__file__).parent, Path(__file__).parent, Path(__file__).parent / "strategies"
)
