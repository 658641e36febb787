/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who takes in what a store sends (core/pump.h), and that no wake is lost.
 *
 * Each waiter asks, and is owed one wake: a message of the store's, or a call
 * of dlk_wake() by another thread.  It may come before the waiter sleeps.  A
 * waiter that is not patient may give up at any time.  Messages are taken in
 * one at a time.  What the client's mutex protects is an atomic step here.
 *
 * Proved: each patient waiter is woken, and all end.  A waiter that sleeps on,
 * with its wake behind it, is an invalid end state.  Each BREAK_ below takes
 * one precaution away, and must be found out.
 *
 *   BREAK_GIVE     a waiter that leaves does not switch the descriptor on
 *   BREAK_EDGE     the pump thread's set is edge-triggered
 *   BREAK_DEAF     a wake by another thread does not rouse the one that polls
 *   BREAK_TAKE     a waiter takes the pump from another one
 *   BREAK_LATE     a waiter looks whether it was woken, and sleeps later
 *   BREAK_KEEP     a waiter that gives up keeps the pump
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE N
#define THREAD N

chan sent = [N * ROUNDS] of { byte }; /* messages, not yet taken in */
bool fresh;              /* one came while it was on in the thread's set */
bool on = true;          /* the descriptor, in the pump thread's set */
byte at = NONE;          /* the waiter that has the pump */
bool roused;             /* it is to look: its eventfd */
bool pumping;            /* somebody does */
bool owed[N], woken[N], signalled[N];
byte ended;

/* Of waiter w, by `who`; with the client's mutex held. */
inline wake(w, who)
{
	woken[w] = true;
	if
#ifdef BREAK_DEAF
	:: at == w -> skip
#else
	:: at == w && who != w -> roused = true
	:: at == w && who == w -> skip
#endif
	:: else -> signalled[w] = true
	fi
}

inline pump(who)
{
	atomic { !pumping -> pumping = true }
	if
	:: atomic { sent ? msg -> wake(msg, who) }
	:: atomic { empty(sent) -> skip }
	fi;
	pumping = false
}

#ifdef BREAK_TAKE
#define MAY_TAKE true
#else
#define MAY_TAKE (at == NONE || at == _pid)
#endif
#ifdef BREAK_EDGE
#define THREAD_HEARS fresh
#else
#define THREAD_HEARS nempty(sent)
#endif

active [N] proctype waiter()
{
	byte msg, round;
	bool patient;

	do
	:: round == ROUNDS -> break
	:: else ->
		atomic {
			if
			:: patient = true
			:: patient = false
			fi;
			woken[_pid] = false;
			owed[_pid] = true
		}
again:
		if
#ifdef BREAK_LATE
		:: woken[_pid] -> goto leave
		:: !woken[_pid] -> skip
#else
		:: atomic { woken[_pid] -> goto leave }
		:: atomic { !woken[_pid] && MAY_TAKE ->
			at = _pid; on = false; goto polls }
		:: atomic { !woken[_pid] && !(MAY_TAKE) ->
			signalled[_pid] = false; goto sleeps }
#endif
		:: !patient -> goto leave
		fi;
#ifdef BREAK_LATE
		if
		:: atomic { MAY_TAKE ->
			at = _pid; on = false; roused = false; goto polls }
		:: atomic { !(MAY_TAKE) ->
			signalled[_pid] = false; goto sleeps }
		fi;
#endif
polls:
		if
		:: nempty(sent) -> pump(_pid)
		:: roused -> skip
		:: !patient -> goto leave
		fi;
		atomic { roused = false }
		goto again;
sleeps:
		if
		:: signalled[_pid] -> goto again
		:: !patient -> goto leave
		fi;
leave:
		atomic {
			if
#ifdef BREAK_KEEP
			:: at == _pid && !patient -> skip
			:: at == _pid && patient ->
#else
			:: at == _pid ->
#endif
				at = NONE;
				roused = false;
#ifndef BREAK_GIVE
				on = true
#endif
			:: else -> skip
			fi
		}
		/* Its wake may still come, and means nothing then. */
		atomic { !owed[_pid] -> round++ }
	od;
	ended++
}

active proctype thread()
{
	byte msg;

end:	do
	:: atomic { on && THREAD_HEARS -> fresh = false }
		pump(THREAD)
	od
}

inline tell(w)
{
	owed[w] = false;
	if
	:: sent ! w; fresh = (fresh || on)
	:: wake(w, THREAD)
	fi
}

/* The store, and other threads. */
active proctype others()
{
end:	do
	:: atomic { owed[0] -> tell(0) }
	:: atomic { owed[1] -> tell(1) }
#if N > 2
	:: atomic { owed[2] -> tell(2) }
#endif
	od
}
