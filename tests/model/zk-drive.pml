/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads what ZooKeeper answers (backends/zk/drive.h), and that no answer is
 * left unread.
 *
 * Each caller makes requests, and waits for the answer to each.  One caller at a
 * time polls the socket; the others sleep.  A caller that is not patient may
 * give up at any time.  The store also sends one message that nobody asked for,
 * which the core is to hear of.  The connection is lost once, and made again:
 * then the requests that were under way fail.  What the session's mutex protects
 * is an atomic step here.
 *
 * Proved: each patient caller gets its answer, the message is heard, and all
 * end.  Each BREAK_ below takes one precaution away, and must be found out.
 *
 *   BREAK_PASS     a caller that leaves passes the role on to nobody
 *   BREAK_LIST     ... and does not give the socket to the core
 *   BREAK_TIRED    one that gives up does not pass on what was passed to it
 *   BREAK_FAIL     the one that polls is not told that its request failed, which
 *                  it made over the connection before
 *   BREAK_LATE     a caller looks whether one reads, and joins the others later
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE N
#if N > 2
#define NOBODY_SLEEPS (!sleeps[0] && !sleeps[1] && !sleeps[2])
#else
#define NOBODY_SLEEPS (!sleeps[0] && !sleeps[1])
#endif
#define MESSAGE N
#define NO 0
#define ASKED 1
#define ANSWERED 2
#define LOST 3

chan sock = [N * ROUNDS + 1] of { byte }; /* answered, not yet read */
bool up = true;          /* there is a connection */
byte reader = NONE;      /* the caller that polls */
bool roused;             /* its eventfd */
bool listed = true;      /* the socket, in the set that the core polls */
byte request[N];         /* NO, ASKED, ANSWERED but not read, or LOST */
bool sleeps[N], signalled[N];
bool heard;
byte ticks = 1;          /* how often the timer fires */

inline finish(w)
{
	request[w] = NO;
	if
	:: sleeps[w] -> signalled[w] = true
#ifndef BREAK_FAIL
	:: reader == w -> roused = true
#endif
	:: else -> skip
	fi
}

inline take_in()
{
	sock ? msg;
	if
	:: msg == MESSAGE -> heard = true
	:: else -> finish(msg)
	fi
}

/* A caller waits no longer. */
inline leave()
{
	if
	:: reader != NONE -> skip
#ifndef BREAK_PASS
	:: reader == NONE && sleeps[0] -> signalled[0] = true
	:: reader == NONE && sleeps[1] -> signalled[1] = true
#if N > 2
	:: reader == NONE && sleeps[2] -> signalled[2] = true
#endif
#endif
	:: reader == NONE && NOBODY_SLEEPS
		->
#ifndef BREAK_LIST
		listed = up
#else
		skip
#endif
#ifdef BREAK_PASS
	:: else -> skip
#endif
	fi
}

active [N] proctype caller()
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
			if
			:: up -> request[_pid] = ASKED
			:: !up -> skip
			fi
		}
again:
		if
		:: atomic { request[_pid] == NO -> goto out }
#ifdef BREAK_LATE
		:: request[_pid] != NO && reader != NONE ->
			atomic { sleeps[_pid] = true; signalled[_pid] = false;
				goto asleep }
#else
		:: atomic { request[_pid] != NO && (reader != NONE || !up) ->
			sleeps[_pid] = true; signalled[_pid] = false;
			goto asleep }
#endif
		:: atomic { request[_pid] != NO && reader == NONE && up ->
			reader = _pid; listed = false; roused = false }
#ifdef BREAK_LATE
		:: atomic { request[_pid] != NO && reader == NONE && !up ->
			sleeps[_pid] = true; signalled[_pid] = false;
			goto asleep }
#endif
		fi;
		/* It polls. */
		if
		:: atomic { up && nempty(sock) -> reader = NONE; take_in() }
			goto again
		:: atomic { roused -> reader = NONE; roused = false }
			goto again
		:: atomic { !patient -> reader = NONE; goto out }
		fi;
asleep:
		if
		:: atomic { signalled[_pid] -> sleeps[_pid] = false }
			goto again
		:: atomic { !patient -> sleeps[_pid] = false }
#ifdef BREAK_TIRED
			goto gone
#endif
		fi;
out:
		atomic { leave() }
#ifdef BREAK_TIRED
gone:
#endif
		/* Its answer may still come, and means nothing then. */
		atomic { request[_pid] == NO -> round++ }
	od
}

/* The core: its pump thread, or a waiter that has the pump. */
active proctype core()
{
	byte msg;

end:	do
	:: atomic { listed && nempty(sock) && reader == NONE -> take_in() }
	:: atomic { ticks > 0 && nempty(sock) && reader == NONE ->
		ticks--; take_in() }
	od
}

/* Waits for the message. */
active proctype waiter()
{
	heard
}

active proctype store()
{
	bool told;

end:	do
	:: atomic { request[0] == ASKED -> request[0] = ANSWERED; sock ! 0 }
	:: atomic { request[1] == ASKED -> request[1] = ANSWERED; sock ! 1 }
#if N > 2
	:: atomic { request[2] == ASKED -> request[2] = ANSWERED; sock ! 2 }
#endif
	:: atomic { up && !told -> told = true; sock ! MESSAGE }
	od
}

inline fail(w)
{
	if
	:: request[w] == LOST -> finish(w)
	:: else -> skip
	fi
}

inline lose(w)
{
	if
	:: request[w] != NO -> request[w] = LOST
	:: else -> skip
	fi
}

/* The connection is lost, with what was not read; there is another one; and the
 * old handle is closed.  What the message said is learnt otherwise. */
active proctype mover()
{
	byte msg;

	atomic {
		up = false;
		listed = false;
		lose(0);
		lose(1);
#if N > 2
		lose(2);
#endif
		do
		:: sock ? msg ->
			if
			:: msg == MESSAGE -> heard = true
			:: else -> skip
			fi
		:: empty(sock) -> break
		od;
		roused = (reader != NONE)
	}
	atomic {
		up = true;
		if
		:: sleeps[0] -> signalled[0] = true
		:: sleeps[1] -> signalled[1] = true
#if N > 2
		:: sleeps[2] -> signalled[2] = true
#endif
		:: NOBODY_SLEEPS -> listed = (reader == NONE)
		fi
	}
	atomic {
		fail(0);
		fail(1);
#if N > 2
		fail(2);
#endif
	}
}
