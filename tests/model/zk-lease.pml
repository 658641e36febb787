/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a lease counts from in an ensemble (backends/zk/lease.c), and
 * that no leader ends the session before the lease ends.
 *
 * A client sends four requests to a follower, each after the last answer.  The
 * follower notes the session with each request, and reports it in the answer to
 * the leader's next ping.  The follower answers a read by itself, and other
 * requests when the leader has answered.  The leader counts the session's
 * time-out from when the leader reads the report.  The client's lease counts
 * from when the first request was sent.
 *
 * Leader and follower talk over one connection, in order.  A message arrives at
 * any time after the sending, or never: some are held up, some are lost.  Time
 * goes in quarters of a tick.  The leader pings each half tick, and is late by
 * less than a quarter.  The leader may be stopped at any time, for any time,
 * and then works in any order.  Another leader may be elected at any time, and
 * gives the session a whole time-out.  The old leader then has no majority: a
 * write is not agreed on, but other requests are answered.
 *
 * Proved: when the client knows the lease, the leader's clock of the session
 * ends no earlier.  Each BREAK_ below takes a precaution away, and must be
 * found out.
 *
 *   BREAK_TWO      the lease rests on two requests: the second is a write, sent
 *                  a whole tick after the answer to the first
 *   BREAK_THREE    ... and on a third, a write sent after the second's answer
 *   BREAK_GAP      the second does not wait
 *   BREAK_PAUSE    the third does not wait
 *   BREAK_SECOND   the second is a read
 *   BREAK_THIRD    the third is a read
 *   BREAK_READ     the fourth is a read
 *   BREAK_SYNC     the fourth is a sync
 *   BREAK_EARLY    the fourth does not wait for the answer to the third
 *
 * An assumption is left, and shown to be needed: with STOPS=2, the leader is
 * stopped twice.
 */
#ifndef STOPS
#define STOPS 1
#endif
#ifndef END
#define END 8           /* quarters of a tick */
#endif
#define TIMEOUT END
#define HALF_TICK 2

/* The kinds of requests. */
#define READ 0
#define SYNC 1
#define WRITE 2

#if defined(BREAK_GAP)
#define GAP 0
#elif defined(BREAK_TWO) || defined(BREAK_THREE)
#define GAP 4
#else
#define GAP 3
#endif
#if defined(BREAK_PAUSE) || defined(BREAK_THREE)
#define PAUSE 0
#else
#define PAUSE 1
#endif
#if defined(BREAK_SECOND)
#define SECOND READ
#elif defined(BREAK_TWO) || defined(BREAK_THREE)
#define SECOND WRITE
#else
#define SECOND SYNC
#endif
#if defined(BREAK_THIRD)
#define THIRD READ
#elif defined(BREAK_THREE)
#define THIRD WRITE
#else
#define THIRD SYNC
#endif
#if defined(BREAK_READ)
#define FOURTH READ
#elif defined(BREAK_SYNC)
#define FOURTH SYNC
#else
#define FOURTH WRITE
#endif

/* Between the servers. */
#define PING 3
#define REPORT 4       /* the answer to a ping: the session was noted */
#define NO_REPORT 5    /* ... it was not */

chan up = [5] of { byte };
chan down = [7] of { byte };
chan ask = [1] of { byte };     /* from client to follower */
chan answer = [1] of { byte };

byte now;
byte since_ping;        /* the leader's last */
byte ends = TIMEOUT;    /* when the leader ends the session */
bool stopped;
byte stops;
bool deposed;           /* then `ends` is the new leader's */
bool noted;             /* by the follower, since it last answered a ping */

#define OVERDUE (since_ping >= HALF_TICK)

/* Only a ping that is due keeps the time from going on. */
active proctype clock()
{
end:	do
	:: atomic { now < END && (stopped || !OVERDUE) ->
		now++;
		if
		:: since_ping < HALF_TICK -> since_ping++
		:: else -> skip
		fi }
	od
}

active proctype leader()
{
	byte msg;

end:	do
	:: atomic { !stopped && stops < STOPS -> stopped = true; stops++ }
	:: atomic { stopped -> stopped = false }
	:: atomic { !deposed -> deposed = true; ends = now + TIMEOUT }
	:: atomic { !stopped && OVERDUE && nfull(down) ->
		since_ping = 0;
		down ! PING }
	:: atomic { !stopped && nempty(up) && nfull(down) ->
		up ? msg;
		if
		:: msg == REPORT && !deposed -> ends = now + TIMEOUT
		:: msg == REPORT && deposed -> skip
		:: msg == NO_REPORT -> skip
		:: msg == WRITE && deposed -> skip
		:: else -> down ! msg
		fi;
		msg = 0 }
	od
}

active proctype follower()
{
	byte msg;

end:	do
	:: atomic { nempty(ask) && nfull(up) && nfull(answer) ->
		ask ? msg;
		noted = true;
		if
		:: msg == READ -> answer ! msg
		:: else -> up ! msg
		fi;
		msg = 0 }
	:: atomic { nempty(down) && nfull(up) && nfull(answer) ->
		down ? msg;
		if
		:: msg == PING && noted -> noted = false; up ! REPORT
		:: msg == PING && !noted -> up ! NO_REPORT
		:: else -> answer ! msg
		fi;
		msg = 0 }
	od
}

active proctype client()
{
	byte sent, answered;

	/* The session is fresh: the leader has just heard of it. */
end:	atomic { now > 0 -> sent = now; ask ! READ }
end1:	atomic { answer ? READ -> answered = now }
end2:	atomic { now >= answered + GAP -> ask ! SECOND }
end3:	atomic { answer ? SECOND -> answered = now }
#ifndef BREAK_TWO
end4:	atomic { now >= answered + PAUSE -> ask ! THIRD }
#ifdef BREAK_EARLY
end5:	ask ! FOURTH;
#endif
end6:	answer ? THIRD;
#ifndef BREAK_THREE
#ifndef BREAK_EARLY
end7:	ask ! FOURTH;
#endif
end8:	answer ? FOURTH;
#endif
#endif
	/* The lease lasts as long.  Later the leader's clock only goes on. */
	assert(sent + TIMEOUT <= ends)
}
