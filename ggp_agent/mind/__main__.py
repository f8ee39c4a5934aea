"""The process that thinks about one match: `python -m ggp_agent.mind`.

It reads commands from standard input, one JSON line each, and writes replies the same way; it ends
with its input.
"""

from __future__ import annotations

import os
import sys
import threading

from ggp_agent.mind.worker import Worker
from ggp_agent.protocol.worker_commands import COMMANDS, REPLIES, Quit, Reply
from ggp_agent.system.child_process import begin_as_child


def main() -> None:
    """Carry out commands until standard input ends."""
    replies = begin_as_child()
    lock = threading.Lock()

    def say(reply: Reply) -> None:
        with lock:
            try:
                replies.write(REPLIES.write(reply))
                replies.flush()
            except OSError:
                os._exit(0)  # nobody is listening any more

    worker = Worker(say)

    def read_commands() -> None:
        for line in sys.stdin:
            worker.post(COMMANDS.read(line))
        worker.post(Quit())

    threading.Thread(target=read_commands, daemon=True).start()
    worker.run()


if __name__ == "__main__":
    main()
    os._exit(0)  # threads may still be waiting for a grounder, which dies with us
