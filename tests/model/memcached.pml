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
 * Dead clients are alike, and so are the items of dead clients (DEAD): a state
 * does not tell which client died.
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

#define DEAD (N + 1)

/* What the server has: owners 1 to N or DEAD, 0 for no item; by places, and
 * these by runs. */
byte owner[2 * PLACES];
bool mark[2];      /* by runs */
bool relies[DEAD + 1]; /* a reader that came in by the mark */
bool life; /* of the server: before the restart or after */
#ifdef BREAK_KEY
#define KEY(run, at) (at)
#else
#define KEY(run, at) ((run) * PLACES + (at))
#endif

/* What the clients believe, by their own clocks. */
byte writers, holders;
bool writes[DEAD + 1], holds[DEAD + 1];
bool asks[DEAD + 1]; /* and has no promise yet, */
bool late[DEAD + 1]; /* ... and the lease of what was asked for is over */
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

inline asks_no_more()
{
	asks[me] = false;
	late[me] = false
}

/* End the lease of a claim that the client has or asks for. */
inline end_lease(who)
{
	end_promise(who);
	late[who] = asks[who]
}

#define HAS(at) (owner[KEY(my_life, at)] != 0)

/* Take a free place.  The client may die at once. */
inline take(at)
{
	owner[KEY(my_life, at)] = me;
	mine = at;
	born = life;
	if
	:: true
	:: goto dead
	fi
}

/* End the round. */
inline over()
{
	if
	:: round == ROUNDS -> goto dead
	:: else -> goto next
	fi
}

/* Remove the item that we know.  Where the run is over, and so the item gone, the
 * number may be that of another under the same key. */
inline drop()
{
	atomic {
		asks_no_more();
		relies[me] = false;
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
		fi;
		over()
	}
}

/* Put it anew; the lease begins again if it was there still. */
inline swap()
{
	atomic {
		if
		:: owner[KEY(my_life, mine)] == me && born == life ->
			late[me] = false;
			goto look
		:: else -> over()
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
		:: late[me] -> goto leave
#endif
#ifndef BREAK_RUN
		:: my_life != life -> goto leave
#endif
		:: else ->
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
		fi;
		asks_no_more();
		goto works
	}
}

active [N] proctype client()
{
	byte me = _pid + 1, mine, at, round;
	bool seen, again, marked, my_life, born;
#ifdef BREAK_COUNT
	byte items;
#endif

next:
	atomic {
		my_life = life;
		born = 0;
		if
		:: true
		:: my_life = false /* the connection is an old one */
		fi;
		mine = GATE;
		at = 1;
		seen = false;
		again = false;
		marked = false;
		relies[me] = false;
		late[me] = false;
		asks[me] = true;
		round++;
		if
#ifdef SEMAPHORE
		:: goto permit
#else
		:: me != 2 -> goto write
		:: me != 1 -> goto read
#endif
		fi
	};

write:
#ifdef BREAK_WRITER
	atomic {
		if
		:: HAS(1) || HAS(2) -> over()
		:: else
		fi
	};
#endif
#ifdef BREAK_MARK
	marked = mark[MARK(my_life)];
#endif
	atomic {
		if
		:: HAS(GATE) -> over()
		:: else -> take(GATE)
		fi
	};
#ifndef BREAK_MARK
	marked = mark[MARK(my_life)];
#endif
	if
	:: !marked -> goto enter
	:: else
	fi;
look:
#ifndef BREAK_WRITER
	seen = HAS(1);
	atomic {
		seen = seen || HAS(2);
		if
		:: !seen -> goto enter
		:: seen -> goto leave /* the time is up */
		:: seen && !again -> again = true /* once, to end */
		fi
	};
	swap();
#endif
enter:
	grant(true);

read:
	atomic {
		if
		:: HAS(GATE) -> over()
		:: else
		fi
	};
#ifndef BREAK_ORDER
	make_mark();
#endif
permit:
#ifdef BREAK_COUNT
	items = 0;
	do
	:: at < PLACES ->
		if
		:: HAS(at) -> items++
		:: else
		fi;
		at++
	:: else -> break
	od;
	atomic {
		if
		:: items >= LIMIT -> over()
		:: else -> at = me
		fi
	};
#endif
	do
	:: atomic { !HAS(at) -> take(at); break }
	:: atomic {
		HAS(at) ->
		at++;
		if
		:: at == PLACES -> over()
		:: else
		fi
	}
	od;
#if !defined(SEMAPHORE) && !defined(BREAK_READER)
	if
	:: HAS(GATE) -> goto leave
	:: else
	fi;
#endif
#if !defined(SEMAPHORE) && defined(BREAK_ORDER)
	make_mark();
#endif
	grant(false);

works:
	/* Release, or die. */
	atomic {
		end_promise(me);
		if
		:: relies[me] = false
		:: goto dead
		fi
	};
leave:
	drop();

dead:
	atomic {
		mine = 0;
		seen = false;
		again = false;
		marked = false;
		relies[me] = false;
		asks_no_more();
		my_life = 0;
		born = 0;
		at = 0;
		do
		:: at == 2 * PLACES -> break
		:: at < 2 * PLACES && owner[at] == me -> owner[at] = DEAD; at++
		:: at < 2 * PLACES && owner[at] != me -> at++
		od;
		at = 0;
		round = 0;
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
#ifdef BREAK_LEASE
			late[owner[at]] = asks[owner[at]]
#else
			end_lease(owner[at])
#endif
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
			end_lease(who);
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

end:	atomic { gone < N ->
		owner[0] = 0;
		owner[1] = 0;
		owner[2] = 0;
		owner[PLACES - 1] = 0;
		mark[0] = false;
		life = true;
		do
		:: who <= N -> end_lease(who); who++
		:: else -> break
		od
	}
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
