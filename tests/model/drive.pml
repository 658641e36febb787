/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread runs the loop (core/loop/drive.h), for one set of links.
 *
 * Each waiter submits a request and waits.  The store answers, or another
 * thread ends the wait, as a cancel does.  The connection
 * may be lost once: requests in flight end then.  A waiter that is not patient
 * may be late at any time.  A waiter's callback, after the wait, stands still
 * until an op without a waiter has ended.  "dlock-loop" sleeps until it is time
 * to look, or until it attends the set, which is ready.  A section under the
 * engine's mutex is an atomic step here.  A leader with a request in flight may
 * wait in a read of the connection instead, which hears no kick.  A wake that is due behind the mutex is a
 * signal: the thread that is woken runs later in either case.  A wait
 * whose condition stays true is a part of the step behind.
 *
 * Proved: each patient waiter ends, the op without a waiter ends, and dlock-loop
 * calls no more when it is told so.  A thread asleep for ever is an
 * invalid end state.  Each BREAK_ takes a precaution away, and must be found
 * out.  Other pollers have had the first five:
 *
 *   BREAK_CHECK     a leader looks whether it is done, and waits later; a kick
 *                   in between finds it not waiting
 *   BREAK_COUNTED   a leader that was kicked, and leaves, stays the leader
 *   BREAK_TWICE     of two wakes at a time, both reach the same thread
 *   BREAK_WRONG     a wake goes to the leader, not to the waiter it is for
 *   BREAK_SET       a leader hears only the connection of when it began
 *   BREAK_OFF       dlock-loop leads, and does not attend the set
 *   BREAK_CANCEL    a leader that is late names no successor
 *   BREAK_CALLBACK  callbacks run before the successor is named
 *   BREAK_LEAVE     a leader without a successor leaves, and tells nobody
 *   BREAK_KEPT      a kick is lost unless a thread waits just then
 *   BREAK_AWAIT     a read of the connection has no bound
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define THREAD N
#define NONE (N + 1)
#define LONE N /* the op without a waiter */

/* ---- Requests and the connection ----------------------------------------- */

bool flight[N + 1];      /* sent, no answer was taken in */
bool owed[N + 1];        /* ... nor sent by the store */
chan wire = [N + 2] of { byte };
bool up = true;          /* there is a connection */
byte conn;               /* the number */
bool gone;               /* it has ended; the leader is to see */
bool was_lost;
bool slow;               /* a read was in vain, and no message came since */

/* ---- The drive ----------------------------------------------------------- */

bool done[N], listed[N], asleep[N], signalled[N];
byte leader = NONE;
byte in_wait = NONE;     /* the leader, while it waits */
bool kicked;             /* the eventfd is readable */
bool attended;           /* dlock-loop sees when the set is ready */
bool looks = true;       /* it is time to look, soon */
bool left, stop, thread_over;
bool lone_done;
byte ended;

inline kick()
{
#ifdef BREAK_KEPT
	kicked = polling
#else
	kicked = true
#endif
}

inline finish(w)
{
	done[w] = true;
	if
	:: asleep[w] ->
#ifdef BREAK_WRONG
		if
		:: leader < N -> signalled[leader] = true
		:: else -> skip
		fi
#else
#ifdef BREAK_TWICE
		if
		:: signalled[0] || signalled[1] -> skip
		:: else -> signalled[w] = true
		fi
#else
		signalled[w] = true
#endif
#endif
	:: else -> skip
	fi;
	if
	:: leader == w && in_wait == w -> kick()
	:: else -> skip
	fi
}

/* Op w ends, and the wait for it, if any. */
inline end_op(w)
{
	flight[w] = false;
	owed[w] = false;
	if
	:: w == LONE -> lone_done = true
	:: w < N && !done[w] -> finish(w)
	:: else -> skip
	fi
}

#define CAN_LEAD(w) (listed[w] && !done[w])

/* To the oldest that can lead: any of them. */
inline hand_over()
{
	leader = NONE;
	if
	:: CAN_LEAD(0) -> leader = 0
	:: CAN_LEAD(1) -> leader = 1
#if N > 2
	:: CAN_LEAD(2) -> leader = 2
#endif
	:: else -> skip
	fi;
	if
	:: leader < N -> signalled[leader] = true; attended = false
	:: else -> skip
	fi
}

#ifdef BREAK_SET
#define NEXT conn++
#else
#define NEXT skip
#endif

/* By a leader when it is time to, or by a thread that submits. */
inline connect()
{
	if
	:: !up -> up = true; NEXT
	:: up -> skip
	fi
}

/* A message came, or the end; or it is time to connect again. */
inline dispatch()
{
	if
	:: nempty(wire) -> wire ? msg; slow = false; end_op(msg)
	:: empty(wire) && gone ->
		gone = false;
		up = false;
		if
		:: flight[0] -> end_op(0)
		:: else -> skip
		fi;
		if
		:: flight[1] -> end_op(1)
		:: else -> skip
		fi;
#if N > 2
		if
		:: flight[2] -> end_op(2)
		:: else -> skip
		fi;
#endif
		if
		:: flight[LONE] -> end_op(LONE)
		:: else -> skip
		fi
	:: empty(wire) && !gone -> connect()
	fi;
	msg = 0
}

#ifdef BREAK_SET
#define SEE seen = conn
#define HEARS ((nempty(wire) && seen == conn) || gone || !up)
#else
#define SEE skip
#define HEARS (nempty(wire) || gone || !up)
#endif

#ifdef BREAK_KEPT
bool polling;
#endif

active [N] proctype waiter()
{
	byte msg, round, seen;
	bool patient;

	do
	:: round == ROUNDS -> break
	:: else ->
		atomic {
			if
			:: patient = true
			:: patient = false
			fi;
			connect();
			done[_pid] = false;
			signalled[_pid] = false;
			flight[_pid] = true;
			owed[_pid] = true;
			listed[_pid] = true
		};
again:
		atomic {
			asleep[_pid] = false;
			signalled[_pid] = false;
			if
			:: done[_pid] -> goto leave
			:: !done[_pid] && !patient -> goto leave
#ifdef BREAK_CHECK
			:: !done[_pid] && (leader == NONE || leader == _pid) ->
				leader = _pid; attended = false; goto gap
#else
			:: !done[_pid] && (leader == NONE || leader == _pid) ->
				leader = _pid;
				attended = false;
				in_wait = _pid;
				SEE;
				goto leads
#endif
			:: !done[_pid] && (leader == NONE || leader == _pid) &&
				flight[_pid] && up && !slow ->
				leader = _pid;
				goto awaits
			:: !done[_pid] && leader != NONE && leader != _pid ->
				asleep[_pid] = true;
				goto follows
			fi
		};
#ifdef BREAK_CHECK
gap:
		atomic { in_wait = _pid; SEE; goto leads };
#endif
leads:
#ifdef BREAK_KEPT
		atomic { polling = true };
#endif
		if
		:: HEARS -> skip
		:: kicked -> skip
		:: !patient -> skip
		fi;
		atomic {
#ifdef BREAK_KEPT
			polling = false;
#endif
			kicked = false;
			in_wait = NONE;
			dispatch();
			goto again
		};
awaits:
		atomic {
			if
			:: nempty(wire) || gone -> skip
#ifndef BREAK_AWAIT
			:: slow = true /* the time is over */
#endif
			fi;
			dispatch();
			goto again
		};
follows:
		atomic { signalled[_pid] || !patient -> goto again };
leave:
#ifdef BREAK_CALLBACK
		lone_done;
#endif
		atomic {
			asleep[_pid] = false;
			signalled[_pid] = false;
			listed[_pid] = false;
			if
#ifdef BREAK_COUNTED
			:: leader == _pid && patient -> skip
			:: leader == _pid && !patient ->
#else
#ifdef BREAK_CANCEL
			:: leader == _pid && !done[_pid] -> skip
			:: leader == _pid && done[_pid] ->
#else
			:: leader == _pid ->
#endif
#endif
				hand_over();
				if
				:: leader == NONE ->
					left = true;
#ifndef BREAK_LEAVE
					looks = true
#endif
				:: else -> skip
				fi
			:: else -> skip
			fi;
			/* Nobody waits: what ends the op now is all one. */
			done[_pid] = true
		};
		/* Behind the callback an op that was given up ends without
		 * us. */
		atomic {
			lone_done;
			flight[_pid] = false;
			owed[_pid] = false;
			patient = false;
			round++
		}
	od;
	ended++
}

/* dlock-loop: what it does for this engine. */
active proctype thread()
{
	byte msg, seen;

sleeps:
	/* With `looks`, for 10 ms at most. */
	if
	:: attended && (HEARS || kicked) -> skip
	:: looks -> skip
	:: stop -> goto out
	fi;
	atomic {
		looks = false;
		if
		:: leader == NONE && !left ->
			leader = THREAD;
#ifndef BREAK_OFF
			attended = true;
#endif
			SEE;
			goto turn
		:: leader == NONE && left ->
			left = false;
			looks = true;
			goto sleeps
		:: leader != NONE -> goto sleeps
		fi
	};
turn:
	/* The mutex was free for the system calls. */
	atomic {
		kicked = false;
		if
		:: HEARS -> dispatch()
		:: else -> skip
		fi;
		hand_over();
		goto sleeps
	};
out:
	thread_over = true
}

#define CAN_ANSWER(w) (owed[w] && flight[w] && up && !gone)

/* The store answers. */
active proctype store()
{
end:	do
	:: atomic { CAN_ANSWER(0) -> owed[0] = false; wire ! 0 }
	:: atomic { CAN_ANSWER(1) -> owed[1] = false; wire ! 1 }
#if N > 2
	:: atomic { CAN_ANSWER(2) -> owed[2] = false; wire ! 2 }
#endif
	:: atomic { CAN_ANSWER(LONE) -> owed[LONE] = false; wire ! LONE }
	/* Lost, with what is on it. */
	:: atomic { !was_lost && up && !gone ->
		was_lost = true;
		gone = true;
		do
		:: nempty(wire) -> wire ? _
		:: empty(wire) -> break
		od }
	od
}

/* Another thread ends the first waiter's wait. */
active proctype canceller()
{
end:	do
#ifdef CALM
	:: false
#else
	:: atomic { flight[0] && listed[0] && !done[0] -> end_op(0) }
#endif
	od
}

/* An op without a waiter; and then the end. */
active proctype program()
{
	atomic {
		connect();
		flight[LONE] = true;
		owed[LONE] = true;
		if
		:: leader == NONE -> left = false; attended = true
		:: else -> skip
		fi
	};
	lone_done;
	ended == N;
	stop = true;
	thread_over
}
