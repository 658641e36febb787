/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memcached store takes a lock apart into items, and that it holds.
 *
 * Each step of a client is one operation of the server, and steps of all
 * clients mix in any order; any client may die between two of them, any item may run
 * out, the server may be restarted.  -DSEMAPHORE: LIMIT permits; else: writers
 * at a gate and readers in slots, with the mark that the readers leave.
 *
 * The mark that says how many permits a semaphore has is left out: all mean as
 * many here, and it stands in nobody's way then.  A mark is stored again, to
 * live for longer, only if it would go before its new reader; so it is enough
 * here that it goes after all that rely on it.  That the store loses it before
 * is a loss that is declared, and left out.
 *
 * A number (cas) names one item of one run of the server; after a restart it may
 * be any other's, too.  So the key names the run that the client believes to
 * talk to, which may be over: something between may keep its connection.
 *
 * Proved: promises that conflict never overlap; a release never removes what is
 * another's; when all are gone, nothing is left.  Each BREAK_ below takes one
 * precaution away, and must be found out.
 *
 *   BREAK_READER   a reader looks at the gate only before it takes its slot
 *   BREAK_WRITER   a writer looks at the slots only before it takes the gate
 *   BREAK_ORDER    a reader makes the mark only after it has looked at the gate
 *   BREAK_MARK     a writer looks at the mark only before it takes the gate
 *   BREAK_SHORT    a mark may go before the lease of a reader that relies on it
 *   BREAK_RELEASE  a release removes whatever is there
 *   BREAK_KEY      keys do not name the run
 *   BREAK_RUN      a grant trusts that the run is not over
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

/* What the server has: owners 1 to N, 0 for no item; by places, and these by
 * runs. */
byte owner[2 * PLACES];
bool mark[2];      /* by runs */
bool relies[N + 1]; /* a reader that came in by the mark */
bool life; /* of the server: before the restart or after */
#ifdef BREAK_KEY
#define KEY(run, at) (at)
#else
#define KEY(run, at) ((run) * PLACES + (at))
#endif

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
		:: owner[KEY(my_life, at)] == 0 ->
			owner[KEY(my_life, at)] = me;
			mine = at;
			born = life;
			got = true
		:: else -> got = false
		fi
	}
}

/* Remove the item that we know.  Where the run is over, and so the item gone, the
 * number may be that of another under the same key. */
inline drop()
{
	atomic {
		if
#ifdef BREAK_RELEASE
		:: owner[KEY(my_life, mine)] != 0 ->
			assert(owner[KEY(my_life, mine)] == me);
			owner[KEY(my_life, mine)] = 0
#endif
		:: owner[KEY(my_life, mine)] != 0 && born != life ->
			/* What nobody believes to have may go. */
			assert(!holds[owner[KEY(my_life, mine)]]);
			owner[KEY(my_life, mine)] = 0
		:: owner[KEY(my_life, mine)] == me && born == life ->
			owner[KEY(my_life, mine)] = 0
		:: else
		fi
	}
}

/* Put it anew; the lease begins again if it was there still. */
inline swap()
{
	atomic {
		if
		:: owner[KEY(my_life, mine)] == me && born == life ->
			late[me] = false;
			got = true
		:: else -> got = false
		fi
	}
}

#ifdef BREAK_KEY
#define MARK(run) 0
#else
#define MARK(run) (run)
#endif

inline make_mark()
{
	atomic {
		mark[MARK(my_life)] = true;
		relies[me] = true
	}
}

inline grant(exclusive)
{
	atomic {
		if
#ifndef BREAK_LATE
		:: late[me] -> got = false
#endif
#ifndef BREAK_RUN
		:: my_life != life -> got = false
#endif
		:: else ->
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
	bool got, again, marked, my_life, born;

next:
	atomic {
		my_life = life;
		born = 0;
		if
		:: true
		:: my_life = false /* the connection is an old one */
		fi;
		mine = GATE;
		at = 0;
		seen = 0;
		got = false;
		again = false;
		marked = false;
		relies[me] = false;
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
	:: owner[KEY(my_life, 1)] != 0 || owner[KEY(my_life, 2)] != 0 ->
		goto next
	:: else
	fi;
#endif
#ifdef BREAK_MARK
	marked = mark[MARK(my_life)];
#endif
	add(GATE);
	if
	:: !got -> goto next
	:: got
	:: got -> goto dead
	fi;
#ifndef BREAK_MARK
	marked = mark[MARK(my_life)];
#endif
	if
	:: !marked -> goto enter
	:: else
	fi;
wait:
#ifndef BREAK_WRITER
	seen = 0;
	if
	:: owner[KEY(my_life, 1)] != 0 -> seen = 1
	:: else
	fi;
	if
	:: owner[KEY(my_life, 2)] != 0 -> seen = 1
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
enter:
	grant(true);
	if
	:: got -> hold_and_release()
	:: else -> drop()
	fi;
	goto next;

read:
	if
	:: owner[KEY(my_life, GATE)] != 0 -> goto next
	:: else
	fi;
#ifndef BREAK_ORDER
	make_mark();
#endif
permit:
	at = 1;
#ifdef BREAK_COUNT
	seen = 0;
	do
	:: at < PLACES ->
		if
		:: owner[KEY(my_life, at)] != 0 -> seen++
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
	:: owner[KEY(my_life, GATE)] != 0 -> drop(); goto next
	:: else
	fi;
#endif
#if !defined(SEMAPHORE) && defined(BREAK_ORDER)
	make_mark();
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
		marked = false;
		relies[me] = false;
		my_life = 0;
		born = 0;
		gone++
	}
}

#ifndef BREAK_EXPIRE
inline run_out(at)
{
	atomic {
		owner[at] != 0;
		if
		:: (at) / PLACES == life || KEY(1, 0) == 0 ->
#ifndef BREAK_LEASE
			end_promise(owner[at]);
#endif
			late[owner[at]] = true
		:: else /* nobody believes to have it */
		fi;
		owner[at] = 0
	}
}

/* The reader that relied on it has no lease left. */
inline run_out_mark(its)
{
	atomic {
		mark[its] -> mark[its] = false;
#ifndef BREAK_SHORT
		who = 1;
		do
		:: who > N -> break
		:: who <= N && relies[who] &&
		   (its == life || MARK(1) == 0) ->
			end_promise(who);
			late[who] = true;
			relies[who] = false;
			who++
		:: else -> who++
		od;
		who = 0
#endif
	}
}

active proctype time()
{
	byte who;

end:	do
	:: run_out(0)
	:: run_out(1)
	:: run_out(2)
	:: run_out(PLACES - 1)
	:: run_out(PLACES)
	:: run_out(PLACES + 1)
	:: run_out(PLACES + 2)
	:: run_out(2 * PLACES - 1)
#ifndef SEMAPHORE
	:: run_out_mark(0)
	:: run_out_mark(1)
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
		mark[0] = false;
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
	       owner[PLACES - 1] == 0 && owner[PLACES] == 0 &&
	       owner[PLACES + 1] == 0 && owner[PLACES + 2] == 0 &&
	       owner[2 * PLACES - 1] == 0)
}
