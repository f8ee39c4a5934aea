"""Small rule sheets that each show one thing a reasoner has to get right."""

from __future__ import annotations

from gdl.rules import RuleSheet

SHEETS = {
    "buttons, one role": """
        (role robot)
        (init (step 1)) (init (off p)) (init (off q))
        (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
        (other p q) (other q p)
        (legal robot a) (legal robot b) (<= (legal robot c) (true (on p)))
        (<= (next (on p)) (does robot a) (true (off p)))
        (<= (next (on p)) (does robot b) (true (on q)))
        (<= (next (on ?x)) (true (on ?x)) (other ?x ?y) (true (off ?y)) (does robot c))
        (<= (next (on q)) (does robot b) (true (on p)))
        (<= (next (on q)) (does robot a) (true (on q)))
        (<= (next (off ?x)) (other ?x ?y) (true (on ?x)) (does robot c) (true (on ?y)))
        (<= (next (off p)) (does robot a) (true (on p)))
        (<= (next (off ?x)) (true (off ?x)) (not (does robot a)) (not (does robot b)))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 5)))
        (<= (goal robot 100) (true (on p)) (true (on q)))
        (<= (goal robot 40) (true (on p)) (not (true (on q))))
        (<= (goal robot 0) (not (true (on p))))
    """,
    "simultaneous moves": """
        (role left) (role right)
        (init (points left 0)) (init (points right 0)) (init (step 0))
        (hand rock) (hand paper) (hand scissors)
        (beats rock scissors) (beats scissors paper) (beats paper rock)
        (++ 0 1) (++ 1 2) (++ 2 3)
        (<= (legal ?r ?h) (role ?r) (hand ?h))
        (<= (wins ?r) (does ?r ?h) (does ?s ?i) (distinct ?r ?s) (beats ?h ?i))
        (<= (next (points ?r ?n)) (true (points ?r ?m)) (++ ?m ?n) (wins ?r))
        (<= (next (points ?r ?n)) (true (points ?r ?n)) (not (wins ?r)))
        (<= (next (step ?n)) (true (step ?m)) (++ ?m ?n))
        (<= terminal (true (step 3)))
        (value 0 0) (value 1 33) (value 2 67) (value 3 100)
        (<= (goal ?r ?v) (true (points ?r ?n)) (value ?n ?v))
    """,
    "disjunctions, nested": """
        (role r) (init a) (init (n 1))
        (p 1) (p 2) (p 3) (next# 1 2) (next# 2 3)
        (<= (legal r ?x) (or (and (p ?x) (or (true a) (true (n ?x)))) (and (true b) (p ?x))))
        (<= (legal r stop) (not (or (true a) (and (true b) (true c)))))
        (<= (next a) (not (and (does r 1) (not (not (true a))))))
        (<= (next b) (or (does r 2) (does r 3)) (not (or (true c) (true (n 3)))))
        (<= (next c) (p ?x) (does r ?x) (or (distinct ?x 1) (true b)))
        (<= (next (n ?y)) (true (n ?x)) (next# ?x ?y))
        (<= terminal (not (or (true (n 1)) (true (n 2)))))
        (<= (goal r 100) (or (true c) (not (true a))))
        (<= (goal r 50) (not (or (true c) (not (true a)))))
    """,
    "recursion over fluents": """
        (role r) (init (edge a b)) (init (edge c d)) (init (step 1))
        (node a) (node b) (node c) (node d) (s 1 2) (s 2 3) (s 3 4)
        (<= (legal r (add ?x ?y)) (node ?x) (node ?y) (distinct ?x ?y) (not (true (edge ?x ?y))))
        (<= (legal r (cut ?x ?y)) (true (edge ?x ?y)))
        (<= (reach ?x ?y) (true (edge ?x ?y)))
        (<= (reach ?x ?z) (reach ?x ?y) (true (edge ?y ?z)))
        (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does r (cut ?x ?y))))
        (<= (next (edge ?x ?y)) (does r (add ?x ?y)))
        (<= (next (step ?n)) (true (step ?m)) (s ?m ?n))
        (<= terminal (true (step 4)))
        (<= terminal (reach ?x ?x))
        (<= (goal r 100) (reach a d) (not (reach b a)))
        (<= (goal r 0) (not (reach a d)))
        (<= (goal r 10) (reach a d) (reach b a))
    """,
    "mutual recursion, and a cycle below a negated one": """
        (role r) (init a) (init b)
        (legal r x) (legal r y) (legal r z)
        (<= (next a) (does r x)) (<= (next b) (not (does r z))) (<= (next c) (true b))
        (<= (next end) (true c) (does r y))
        (<= p1 (true a)) (<= p1 p2 (true b)) (<= p2 p1 (true b)) (<= p2 p3) (<= p3 p2 (true c))
        (<= q1 (true b) (not p2)) (<= q1 q2 (true b)) (<= q2 q1 (true b))
        (<= u1 (does r x) (true b)) (<= u1 u2 (true c)) (<= u2 u1 (not p3))
        (<= (next d) u2)
        (<= terminal q2 (true end))
        (<= (goal r 100) q2) (<= (goal r 30) p3 (not q2)) (<= (goal r 0) (not q2) (not p3))
    """,
    "no init, no fluents": """
        (role r) (role s)
        (legal r go) (legal s go) (legal s stay)
        (<= (next over) (does r go))
        (<= terminal (true over))
        (<= (goal r 1) terminal) (<= (goal s 99) (not (true over)))
    """,
    "ends at once": "(role r) terminal (goal r 7) (init (f 1))",
    "never ends": """
        (role r) (init 1) (legal r 1) (legal r 0)
        (<= (next ?m) (does r ?m)) (<= (goal r 50) (true 1))
    """,
    "roles by rules and facts": """
        (player zoe) (player adam) (role bob)
        (<= (role ?p) (player ?p))
        (init (turn bob)) (after bob adam) (after adam zoe) (after zoe end)
        (<= (legal ?p pass) (role ?p) (not (true (turn ?p))))
        (<= (legal ?p (take ?q)) (true (turn ?p)) (role ?q))
        (<= (next (turn ?q)) (true (turn ?p)) (after ?p ?q))
        (<= (next (won ?q)) (does ?p (take ?q)))
        (<= (next (won ?q)) (true (won ?q)))
        (<= terminal (true (turn end)))
        (<= (goal ?p 100) (role ?p) (true (won ?p)))
        (<= (goal ?p 0) (role ?p) (not (true (won ?p))))
    """,
    "legal and goal of what is no role": """
        (role r) (init a) (legal r x) (legal nobody x) (legal nobody y) (goal nobody 100)
        (<= (next b) (does r x)) (<= (next bad) (does nobody y))
        (<= terminal (true b)) (goal r 60)
    """,
    "goals: several, none, not integers": """
        (role many) (role none) (role odd) (role word)
        (init a)
        (<= (legal ?r x) (role ?r)) (<= (legal many y) (true a))
        (<= (next b) (does many y)) (<= (next c) (true a))
        (<= terminal (true c))
        (goal many 10) (<= (goal many 90) (true b)) (goal many 50)
        (goal odd 101) (goal odd -5) (goal odd 030) (goal word high) (goal odd (30 1))
    """,
    "names": """
        (ROLE X+player) (role p?-is>not) (role Ünïcode)
        (Init (>- + "quoted")) (init (c\\d _e)) (init (cell 'f' F))
        (init 1) (init 01) (init (aux0 1)) (init (#aux0 1)) (init |bar|)
        (<= (legal ?R (move>to ?x ?_)) (role ?r) (true (>- ?x ?_)))
        (<= (LEGAL ?r noop) (Role ?R) (or (true 1) (true 01)))
        (<= (next 01) (does X+PLAYER noop)) (<= (next 1) (true 01) (not (true 1)))
        (<= (next (>- ?_ ?x)) (true (>- ?_ ?x)))
        (<= (next done) (does ünïcode (move>to + "QUOTED")))
        (<= terminal (true done))
        (<= (goal ?r 50) (role ?r) (true 1)) (<= (goal ?r 20) (role ?r) (not (true 1)))
    """,
    "relations named like another language's": """
        (role r) (role s)
        (is 1 2) (append 1) (member r 1) (member s 2) (succ 1 2) (atom 1) (print 3) (not# 1)
        (init (fail 1)) (init (halt ok)) (init (true 1)) (init (does r 1)) (init var)
        (<= (findall ?x) (is ?x 2) (append ?x) (atom ?x))
        (<= (legal ?r (halt ?x)) (member ?r ?x)) (<= (legal ?r (cut ?x)) (role ?r) (findall ?x))
        (<= (next (fail 2)) (does r (halt 1)) (findall 1)) (<= (next (halt ok)) (true (halt ok)))
        (<= (next (true 1)) (does s (cut 1))) (<= (next (fail ?x)) (true (fail ?x)))
        (<= terminal (true (fail 2)) (not (true (true 1))))
        (<= (goal ?r 70) (role ?r) (true (fail 2)))
        (<= (goal ?r 30) (role ?r) (not (true (fail 2))))
    """,
    "function terms": """
        (role r) (init (stack nil)) (small nil) (<= (small (push ?x nil)) (item ?x))
        (<= (small (push ?x (push ?y nil))) (item ?x) (item ?y)) (item a) (item (b c))
        (<= (legal r (put ?x)) (item ?x) (true (stack ?s)) (small (push ?x ?s)))
        (<= (legal r pop) (true (stack (push ?x ?s))))
        (<= (legal r (wait)) (true (stack nil)))
        (<= (next (stack (push ?x ?s))) (does r (put ?x)) (true (stack ?s)) (small (push ?x ?s)))
        (<= (next (stack ?s)) (does r pop) (true (stack (push ?x ?s))))
        (<= (next (stack ?s)) (does r wait) (true (stack ?s)))
        (<= terminal (true (stack (push a (push (b c) nil)))))
        (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))
    """,
    "a move that is never legal, though each part of its rule may hold": """
        (role r) (init a) (q 1)
        (legal r y) (<= (legal r x) (not whatever)) (<= (legal r z) (true a) (true d))
        (<= whatever (or (true a) (q 1)))
        (<= (next b) (does r x)) (<= (next a) (does r y)) (<= (next d) (does r y) (not whatever))
        (<= terminal (true b)) (<= (goal r 10) (not (true b))) (<= (goal r 20) (does r x))
    """,
    "moves by the rest": """
        (role w) (role b)
        (init (at w 1)) (init (at b 5)) (init (turn w))
        (sq 1) (sq 2) (sq 3) (sq 4) (sq 5) (opp w b) (opp b w)
        (<= (legal ?p (go ?x)) (true (turn ?p)) (sq ?x) (not (true (at ?p ?x))))
        (<= (legal ?p noop) (opp ?p ?q) (true (turn ?q)))
        (<= (moves ?p) (does ?p (go ?x)))
        (<= (next (at ?p ?x)) (does ?p (go ?x)))
        (<= (next (at ?p ?x))
            (true (at ?p ?x)) (not (moves ?p)) (opp ?p ?q) (not (does ?q (go ?x))))
        (<= (next (turn ?q)) (true (turn ?p)) (opp ?p ?q))
        (<= (alive ?p) (true (at ?p ?x)))
        (<= terminal (role ?p) (not (alive ?p)))
        (<= (goal ?p 100) (opp ?p ?q) (alive ?p) (not (alive ?q)))
        (<= (goal ?p 50) (opp ?p ?q) (alive ?p) (alive ?q))
        (<= (goal ?p 0) (role ?p) (not (alive ?p)))
    """,
    "long bodies": """
        (role r) (init (at 1 1)) (init (at 2 3)) (init (at 3 2))
        (n 1) (n 2) (n 3) (s 1 2) (s 2 3)
        (<= (near ?a ?b) (s ?a ?b)) (<= (near ?a ?b) (s ?b ?a)) (<= (near ?a ?a) (n ?a))
        (<= (legal r (hop ?a ?b ?c ?d))
            (true (at ?a ?b)) (near ?a ?c) (near ?b ?d) (n ?c) (n ?d) (not (true (at ?c ?d))))
        (<= (next (at ?c ?d)) (does r (hop ?a ?b ?c ?d)))
        (<= (next (at ?x ?y)) (true (at ?x ?y)) (does r (hop ?a ?b ?c ?d))
            (or (distinct ?a ?x) (distinct ?b ?y)))
        (<= line (true (at ?a ?b)) (true (at ?c ?d)) (true (at ?e ?f))
            (s ?a ?c) (s ?c ?e) (near ?b ?d) (near ?d ?f) (distinct ?b ?f))
        (<= pair (true (at ?a ?b)) (true (at ?c ?d)) (near ?a ?c) (near ?b ?d)
            (not (true (at ?c ?b))) (distinct ?a ?c))
        (<= terminal line)
        (<= (goal r 100) line pair) (<= (goal r 50) line (not pair)) (<= (goal r 0) (not line))
    """,
}
"""Name → text.  All games of them are finite or are left after so many steps."""

TIC_TAC_TOE = """
(role x) (role o) (init (turn x))
(n 1) (n 2) (n 3)
(<= (init (cell ?i ?j b)) (n ?i) (n ?j))
(<= (legal ?p (mark ?i ?j)) (true (turn ?p)) (true (cell ?i ?j b)))
(<= (legal x noop) (true (turn o))) (<= (legal o noop) (true (turn x)))
(<= (next (cell ?i ?j ?p)) (does ?p (mark ?i ?j)))
(<= (next (cell ?i ?j ?p)) (true (cell ?i ?j ?p)) (distinct ?p b))
(<= (next (cell ?i ?j b)) (true (cell ?i ?j b)) (does ?p (mark ?k ?l))
    (or (distinct ?i ?k) (distinct ?j ?l)))
(<= (next (turn x)) (true (turn o))) (<= (next (turn o)) (true (turn x)))
(<= (line ?p) (n ?i) (role ?p)
    (true (cell ?i 1 ?p)) (true (cell ?i 2 ?p)) (true (cell ?i 3 ?p)))
(<= (line ?p) (n ?i) (role ?p)
    (true (cell 1 ?i ?p)) (true (cell 2 ?i ?p)) (true (cell 3 ?i ?p)))
(<= (line ?p) (role ?p) (true (cell 1 1 ?p)) (true (cell 2 2 ?p)) (true (cell 3 3 ?p)))
(<= (line ?p) (role ?p) (true (cell 1 3 ?p)) (true (cell 2 2 ?p)) (true (cell 3 1 ?p)))
(<= open (true (cell ?i ?j b)))
(<= terminal (line ?p)) (<= terminal (not open))
(<= (goal ?p 100) (line ?p)) (<= (goal ?p 0) (role ?p) (line ?q) (distinct ?p ?q))
(<= (goal ?p 50) (role ?p) (not (line x)) (not (line o)))
"""


def small_sheet(name: str) -> RuleSheet:
    """One of `SHEETS`."""
    return RuleSheet.from_text(SHEETS[name], name)


def tic_tac_toe() -> RuleSheet:
    """The game, as rules."""
    return RuleSheet.from_text(TIC_TAC_TOE, "tic-tac-toe")
