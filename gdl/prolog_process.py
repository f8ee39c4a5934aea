"""The Prolog reasoner's own process: questions on standard input, answers on standard output.

pyswip allows one open query per process, and a runaway or crash in Prolog must not take anything
along; so `gdl.prolog` starts `python -m gdl.prolog_process PROGRAM` per rule sheet.  Each line of
input is a JSON object `{"question", "fluents", "moves", "seconds"}` in Prolog's syntax, each line
of output `{"answer": [term, ...]}`, `{"timeout": true}` or `{"error": text}`.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

STACK_BYTES = 2 * 2**30
RUNTIME = Path(__file__).with_name("runtime.pl")


def main() -> NoReturn:
    """Load the program named on the command line and answer until the input ends."""
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever Prolog prints must not mix with the answers
    from pyswip import Prolog  # takes long, and needs SWI-Prolog to be installed

    prolog = Prolog()
    list(prolog.query(f"set_prolog_flag(stack_limit, {STACK_BYTES})"))
    prolog.consult(str(RUNTIME))
    prolog.consult(sys.argv[1])
    Path(sys.argv[1]).unlink()  # it must not stay behind if everything is killed
    while True:
        answers.write(json.dumps(_answer(prolog, json.loads(requests.get()))) + "\n")
        answers.flush()


def _read_requests(requests: queue.SimpleQueue[str]) -> None:
    """Thread: take in the input, and end the process with it, whatever Prolog is busy with.

    No death signal does that: it would come when the *thread* that started us ends.
    """
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def _answer(prolog: Any, request: dict[str, Any]) -> dict[str, Any]:
    goal = "answer({question}, {fluents}, {moves}, {seconds}, Text)".format(**request)
    try:
        solutions = list(prolog.query(goal, maxresult=1))
    except Exception as error:  # pyswip reports everything that Prolog throws as one class
        if "time_limit_exceeded" in str(error):
            return {"timeout": True}
        if "open_answer" in str(error):
            return {"error": "a rule leaves a variable of its head open; check the rule sheet"}
        return {"error": " ".join(str(error).split())[:300]}
    if not solutions:
        return {"error": "the question has no answer; a role may lack a legal move"}
    text = solutions[0]["Text"]
    return {"answer": (text.decode() if isinstance(text, bytes) else str(text)).split("\n")[:-1]}


if __name__ == "__main__":
    main()
