"""Self-adaptive search: tuners that set the search's parameters anew for every simulation.

`space` says what can be tuned, the tuners (`tuners` has their names) learn which combinations of
values bring rewards, `adaptive` puts them to work in the search.
"""

from pathlib import Path

import ggp_agent.search
import ggp_agent.search.native  # before the next call, so that the search's kernels stay its own
from gdl.kernel_cache import keep_kernels_of

keep_kernels_of(Path(ggp_agent.search.__file__).parent, Path(__file__).parent)
