"""The strategies of the search, one module each; `dispatch` has the list of them.

A strategy declares its parameters, and has its statistics, its hooks, which `dispatch` calls, and
its readable counterpart for the plain search.  Playout policies (`uniform`, `mast`, `gibbs`) choose
the moves of playouts, selections (`uct`, `grave`, `progressive_history`) value moves in the tree;
`move_history` has the statistics that several of them use; `implicit_minimax` backs up what a
learnt `evaluation` says of states; `decisive` moves are made in playouts under any policy.
"""

# The columns of parameters follow from the order in which strategies are imported: always this one.
from ggp_agent.search.strategies import dispatch as dispatch  # isort: skip
from ggp_agent.search.strategies import implicit_minimax as implicit_minimax  # isort: skip
from ggp_agent.search.strategies import decisive as decisive  # isort: skip
