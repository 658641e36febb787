/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memcached store takes a lock apart into items, and that it holds.
 *
 * Each step of a client is one operation of the server, and steps of all
 * clients mix in any order; any client may die between two of them, any item may run
 * out, the server may be restarted.  -DSEMAPHORE: LIMIT permits; else: writers
 * at a gate and readers in slots.
 *
 * A number (cas) names one item of one run of the server.  So what a client
 * knows of its own item is good while the server has not been restarted; after
 * that, the number may be any other's, too.
 *
 * Proved: promises that conflict never overlap; a release never removes what is
 * another's; when all are gone, nothing is left.  Each BREAK_ below takes one
 * precaution away, and must be found out.
 *
 *   BREAK_READER   a reader looks at the gate only before it takes its slot
 *   BREAK_WRITER   a writer looks at the slots only before it takes the gate
 *   BREAK_RELEASE  a release removes whatever is there
 *   BREAK_CAS      a release trusts a number from before a restart
 *   BREAK_LEASE    the server's lease may end before the promise
 *   BREAK_LATE     a lease is counted from the reply, not from the request
 *   BREAK_EXPIRE   items do not run out
 *   BREAK_COUNT    a semaphore counts its items, then adds one of its own
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define LIMIT 2
#define GATE 0
#ifdef BREAK_COUNT
#define PLACES 4 /* the gate's, and one for each client */
#else
#define PLACES 3
#endif

/* What the server has: owners 1 to N, 0 for no item. */
byte owner[PLACES];
bool life; /* of the server: before the restart or after */

/* What the clients believe, by their own clocks. */
byte writers, holders;
bool writes[N + 1], holds[N + 1];
bool late[N + 1]; /* the lease of what was asked for is over already */
byte gone;

inline end_promise(who)
{
	if
	:: holds[who] -> holds[who] = false; holders--
	:: else
	fi;
	if
	:: writes[who] -> writes[who] = false; writers--
	:: else
	fi
}

inline add(at)
{
	atomic {
		if
		:: owner[at] == 0 ->
			owner[at] = me;
			my_life = life;
			mine = at;
			got = true
		:: else -> got = false
		fi
	}
}

/* Remove the item that we know, on the connection that we know it from. */
inline drop_known()
{
	atomic {
		if
#ifdef BREAK_RELEASE
		:: owner[mine] != 0 ->
			assert(owner[mine] == me);
			owner[mine] = 0
#endif
#ifdef BREAK_CAS
		:: owner[mine] != 0 && my_life != life ->
			assert(owner[mine] == me);
			owner[mine] = 0
#endif
		:: owner[mine] == me && my_life == life -> owner[mine] = 0
		:: else
		fi
	}
}

inline drop()
{
	if
	:: true
	:: my_life != life -> atomic {
		if
		:: owner[mine] == me -> my_life = life
		:: else
		fi
	}
	fi;
	drop_known()
}

/* Put it anew; the lease begins again if it was there still. */
inline swap()
{
	atomic {
		if
		:: owner[mine] == me && my_life == life ->
			late[me] = false;
			got = true
		:: else -> got = false
		fi
	}
}

inline grant(exclusive)
{
	atomic {
#ifdef BREAK_LATE
		if
		:: true ->
#else
		if
		:: late[me] -> got = false
		:: else ->
#endif
			got = true;
			holds[me] = true;
			holders++;
			if
			:: exclusive -> writes[me] = true; writers++
			:: else
			fi;
#ifdef SEMAPHORE
			assert(holders <= LIMIT)
#else
			assert(writers == 0 || holders == 1)
#endif
		fi
	}
}

inline hold_and_release()
{
	skip; /* here it works, or dies */
	if
	:: true
	:: true -> atomic { end_promise(me) }; goto dead
	fi;
	atomic { end_promise(me) };
	drop()
}

active [N] proctype client()
{
	byte me = _pid + 1, mine, at, round, seen;
	bool got, again, my_life;

next:
	atomic {
		my_life = 0;
		mine = GATE;
		at = 0;
		seen = 0;
		got = false;
		again = false;
		late[me] = false;
		if
		:: round == ROUNDS -> goto dead
		:: else -> round++
		fi
	};
#ifdef SEMAPHORE
	goto permit;
#else
	if
	:: me != 2 -> goto write
	:: me != 1 -> goto read
	fi;
#endif

write:
#ifdef BREAK_WRITER
	if
	:: owner[1] != 0 || owner[2] != 0 -> goto next
	:: else
	fi;
#endif
	add(GATE);
	if
	:: !got -> goto next
	:: got
	:: got -> goto dead
	fi;
wait:
#ifndef BREAK_WRITER
	seen = 0;
	if
	:: owner[1] != 0 -> seen = 1
	:: else
	fi;
	if
	:: owner[2] != 0 -> seen = 1
	:: else
	fi;
	if
	:: seen == 0
	:: seen > 0 -> drop(); goto next /* its time is up */
	:: seen > 0 && !again ->
		again = true; /* once, to end */
		swap();
		if
		:: got -> goto wait
		:: else -> goto next
		fi
	fi;
#endif
	grant(true);
	if
	:: got -> hold_and_release()
	:: else -> drop()
	fi;
	goto next;

read:
	if
	:: owner[GATE] != 0 -> goto next
	:: else
	fi;
permit:
	at = 1;
#ifdef BREAK_COUNT
	seen = 0;
	do
	:: at < PLACES ->
		if
		:: owner[at] != 0 -> seen++
		:: else
		fi;
		at++
	:: else -> break
	od;
	if
	:: seen >= LIMIT -> goto next
	:: else
	fi;
	at = me;
#endif
	do
	:: at < PLACES ->
		add(at);
		if
		:: got -> break
		:: else -> at++
		fi
	:: else -> goto next
	od;
	if
	:: true
	:: goto dead
	fi;
#if !defined(SEMAPHORE) && !defined(BREAK_READER)
	if
	:: owner[GATE] != 0 -> drop(); goto next
	:: else
	fi;
#endif
	grant(false);
	if
	:: got -> hold_and_release()
	:: else -> drop()
	fi;
	goto next;

dead:
	atomic {
		mine = 0;
		at = 0;
		seen = 0;
		got = false;
		again = false;
		my_life = 0;
		gone++
	}
}

#ifndef BREAK_EXPIRE
inline run_out(at)
{
	atomic {
		owner[at] != 0;
#ifndef BREAK_LEASE
		end_promise(owner[at]);
#endif
		late[owner[at]] = true;
		owner[at] = 0
	}
}

active proctype time()
{
end:	do
	:: run_out(0)
	:: run_out(1)
	:: run_out(2)
#ifdef BREAK_COUNT
	:: run_out(3)
#endif
	od
}
#endif

/* It forgets all, and counts anew.  What was held is a loss that is declared. */
active proctype restart()
{
	byte who = 1;

	if
	:: true
	:: atomic {
		owner[0] = 0;
		owner[1] = 0;
		owner[2] = 0;
		owner[PLACES - 1] = 0;
		life = true;
		do
		:: who <= N -> end_promise(who); late[who] = true; who++
		:: else -> break
		od
	}
	fi
}

active proctype nothing_is_left()
{
	gone == N;
	timeout;
	assert(owner[0] == 0 && owner[1] == 0 && owner[2] == 0 &&
	       owner[PLACES - 1] == 0)
}
