"""A game so small that searching it is over at once: what kernels are loaded or compiled with.

As a program it writes the game's network to its output, pickled, for `ggp_agent.mind.warming`.
"""

from __future__ import annotations

import pickle
import sys

from gdl.grounding import ground
from gdl.rules import RuleSheet
from ggp_agent.system.child_process import die_with_parent
from propnet.network import compile_network

TINY_GAME = """
(role one) (init (step 0)) (succ 0 1) (succ 1 2)
(legal one a) (legal one b)
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= (next won) (does one a)) (<= (next won) (true won))
(<= terminal (true (step 2)))
(<= (goal one 100) (true won)) (<= (goal one 0) (not (true won)))
"""


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    program = ground(RuleSheet.from_text(TINY_GAME, "warm-up"))
    pickle.dump(compile_network(program), sys.stdout.buffer)
