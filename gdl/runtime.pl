% What a rule sheet needs around it to be played in Prolog.  The sheet's rules define role/1,
% init/1, next/1, legal/2, goal/2 and terminal/0 in terms of true/1 and does/2, which hold the
% state and the joint move being looked at.

:- dynamic true/1, does/2.
:- discontiguous role/1, init/1, next/1, legal/2, goal/2, terminal/0.
:- dynamic role/1, init/1, next/1, legal/2, goal/2, terminal/0.
:- style_check(-singleton).

% enter(+Fluents, +Moves): the state is Fluents, the joint move [does(Role, Move), ...].
enter(Fluents, Moves) :-
    retractall(true(_)),
    retractall(does(_, _)),
    forall(member(Fluent, Fluents), assertz(true(Fluent))),
    forall(member(does(Role, Move), Moves), assertz(does(Role, Move))),
    abolish_all_tables.

% Everything that can be asked, as a sorted list without duplicates.
ask(roles, Answer) :- all(Role, role(Role), Answer).
ask(initial, Answer) :- enter([], []), all(Fluent, init(Fluent), Answer).
ask(terminal, Answer) :- ( once(terminal) -> Answer = [terminal] ; Answer = [] ).
ask(legal, Answer) :- all(legal(Role, Move), (role(Role), legal(Role, Move)), Answer).
ask(goals, Answer) :- all(goal(Role, Value), (role(Role), goal(Role, Value)), Answer).
ask(next, Answer) :- all(Fluent, next(Fluent), Answer).
ask(seed(Seed), []) :- set_random(seed(Seed)).
ask(playout(Limit), [Length|Goals]) :-
    ask(initial, Fluents),
    playout(Fluents, 0, Limit, Length, Goals).

all(Template, Goal, Sorted) :- findall(Template, Goal, List), sort(List, Sorted).

% playout(+Fluents, +Step, +Limit, -Length, -Goals): random legal moves to the end of the game.
playout(Fluents, Step, Limit, Length, Goals) :-
    enter(Fluents, []),
    (   ( Step >= Limit ; once(terminal) )
    ->  Length = Step,
        ask(goals, Goals)
    ;   ask(roles, Roles),
        maplist(random_move, Roles, Moves),
        enter(Fluents, Moves),
        ask(next, Next),
        Following is Step + 1,
        playout(Next, Following, Limit, Length, Goals)
    ).

random_move(Role, does(Role, Move)) :-
    all(M, legal(Role, M), Moves),
    random_member(Move, Moves).

% answer(+Question, +Fluents, +Moves, +Seconds, -Text): ask within a time limit; Text is one term
% per line.  keep in place of Fluents stays in the present state.
answer(Question, Fluents, Moves, Seconds, Text) :-
    call_with_time_limit(Seconds, (
        ( Fluents == keep -> true ; enter(Fluents, Moves) ),
        once(ask(Question, Answer))
    )),
    ( ground(Answer) -> true ; throw(open_answer) ),
    with_output_to(string(Text), forall(member(Term, Answer), (print(Term), nl))).
