"""Self-adaptive search: tuners that set the search's parameters anew during the game.

`tuners` has their names and declares their parameters, `tuned_parameters` says what an agent tunes,
`value_tuner` what all tuners offer, `self_adaptive` puts them to work in the search.
"""

from pathlib import Path

import ggp_agent.search
import ggp_agent.search.native  # before the next call, so that the search's kernels stay its own
from gdl.kernel_cache import keep_kernels_of

keep_kernels_of(Path(ggp_agent.search.__file__).parent, Path(__file__).parent)
