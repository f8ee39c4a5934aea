"""64 lanes in place of 512, where no more are in use.

`Lanes` of one-word vectors (`new_few_lanes`) do the same work as those of eight, on an eighth of
the memory.  What is drawn in them is what the first 64 of the 512 lanes would have drawn: they
borrow the generator of the first word, and note how often the other words' generators would have
drawn meanwhile, which these catch up on before they are needed.
"""

from __future__ import annotations

from gdl.kernel_cache import kernel
from propnet.layout import Lanes
from propnet.ranks import next_random
from propnet.vectors import load, store


@kernel
def borrow_generator(few: Lanes, lanes: Lanes) -> None:
    """Have 64 lanes draw what the first of 512 would draw next."""
    for k in range(len(few.random)):
        few.random[k] = lanes.random[k, 0]


@kernel
def return_generator(few: Lanes, lanes: Lanes) -> None:
    """Have the first of 512 lanes go on where 64 have come to."""
    for k in range(len(few.random)):
        lanes.random[k, 0] = few.random[k]


@kernel
def catch_up(few: Lanes, lanes: Lanes) -> None:
    """Draw what the other words' generators have not drawn while 64 lanes were in use."""
    if few.behind[0] == 0:
        return
    borrow_generator(few, lanes)
    random = lanes.random
    a, b, c, d = load(random, 0), load(random, 1), load(random, 2), load(random, 3)
    for _ in range(few.behind[0]):
        _, a, b, c, d = next_random(a, b, c, d)
    store(random, 0, a)
    store(random, 1, b)
    store(random, 2, c)
    store(random, 3, d)
    return_generator(few, lanes)
    few.behind[0] = 0
