/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims that outlive a hold (core/pass.h, core/keep.h, core/watch.h): client A
 * passes its claim among its threads and keeps it; client B wants the lock, too.
 *
 * Each thread takes the lock ROUNDS times; one that is not patient may give up
 * while it sleeps.  The store has a claim's owner, and waiters that it wakes
 * when the owner goes.  Requests and their answers are steps of their own.  A
 * kept claim ends only because somebody wants it, so that a word that is missing
 * is found out.  What A's mutex protects is an atomic step here.
 *
 * Every token is counted from the largest token that a holder had, which is
 * LARGEST: a state does not tell how many tokens came before.
 *
 * Proved: never two holders; each token is larger than all before it; all
 * threads end, so that nobody sleeps on beside a lock that is free or kept.
 * Each BREAK_ below takes one precaution away, and must be found out.
 *
 *   BREAK_EARLY    a word that comes before the watch's answer is forgotten
 *   BREAK_LOOK     the watch looks who waits before it listens
 *   BREAK_KICK     threads that wait for the claim are not told that it is gone
 *   BREAK_SLEEP    a thread sleeps without a look at the kept claim
 *   BREAK_PARKED   a claim is kept although a thread waits for it
 *   BREAK_GONE     it is passed to a thread that has given up
 *   BREAK_TOKEN    no tokens are set aside, and the release tells none
 */
#ifndef T
#define T 2     /* threads of A; B has one, number T */
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef RANGE
#define RANGE 2 /* tokens that a watch sets aside */
#endif
#define NONE 255
#define A 0
#define B 1
#define LARGEST 16 /* the token of the last holder */

mtype = { FREE, HELD, KEPT, GOING, UNWATCHED, BEGINS, WATCHED }

/* The store. */
byte owner = NONE;
bool waits[T + 1];      /* in its queue */
bool store_wakes[T + 1];
bool listened;          /* A's claim is watched */
byte given = LARGEST;    /* no token up to this one is given any more */
chan words = [4] of { bool }; /* to A: the claim is wanted; false: an earlier one */

/* Client A, under its mutex. */
mtype h = FREE;
mtype watch = UNWATCHED;
bool busy;              /* the ticket is in use */
bool wanted;
bool parked[T], asked[T], passed[T], kicked[T], eligible[T];
byte token, last;       /* of A's hold; of its range */

byte inside;            /* holders */

#define NOBODY_PARKED (!parked[0] && !parked[1])

#define COUNTED_FROM(t, by) ((t) > (by) -> (t) - (by) : 0)

inline enter(t)
{
	atomic {
		inside++;
		assert(inside == 1);
		assert(t > LARGEST);
		by = t - LARGEST;
		given = COUNTED_FROM(given, by);
		last = COUNTED_FROM(last, by);
		token = COUNTED_FROM(token, by);
		by = 0
	}
	inside--
}

/* Words under way are about an earlier claim. */
inline grant_to_A()
{
	owner = A;
	by = len(words);
	do
	:: by > 0 -> words ? others; words ! false; by--
	:: by == 0 -> break
	od;
	others = false;
	given++;
	token = given;
	last = token
}

inline unpark(t)
{
	parked[t] = false;
	eligible[t] = false
}

/* The owner is gone: wake somebody, if anybody waits. */
inline store_release()
{
	owner = NONE;
	listened = false;
	if
	:: waits[0] -> store_wakes[0] = true; waits[0] = false
	:: waits[1] -> store_wakes[1] = true; waits[1] = false
	:: waits[T] -> store_wakes[T] = true; waits[T] = false
	:: !waits[0] && !waits[1] && !waits[T] -> skip
	fi
}

inline kick()
{
#ifndef BREAK_KICK
	kicked[0] = (kicked[0] || (parked[0] && !asked[0]));
	kicked[1] = (kicked[1] || (parked[1] && !asked[1]))
#else
	skip
#endif
}

/* A's claim goes back; h is GOING, so that nobody else touches it. */
inline give_back()
{
	atomic {
#ifdef BREAK_TOKEN
		skip;
#else
		given = token;
#endif
		token = 0;
		last = 0;
		store_release()
	}
	atomic {
		if /* the next claim may be held by now */
		:: h == GOING ->
			h = FREE;
			watch = UNWATCHED;
			wanted = false
		:: else -> skip
		fi;
		kick()
	}
}

/* The caller has the ticket. */
inline ask_to_watch()
{
#ifdef BREAK_LOOK
	others = waits[T];
	listened = true;
#else
	atomic { listened = true; others = waits[T] }
#endif
	atomic {
		watch = WATCHED;
		last = token + RANGE;
#ifdef BREAK_EARLY
		wanted = others;
#else
		wanted = (wanted || others);
#endif
#ifndef BREAK_TOKEN
		given = last;
#endif
		if
		:: others -> eligible[0] = false; eligible[1] = false
		:: else -> skip
		fi;
		busy = false;
		kick()
	}
}

#define BEGIN_WATCH busy = true; watch = BEGINS; wanted = false
#define MAY_HAVE(t) ((!wanted || eligible[t]) && token < last)

#ifdef BREAK_GONE
#define IS_THERE(t) (parked[t] || kicked[t])
#else
#define IS_THERE(t) parked[t]
#endif

proctype thread(byte me)
{
	byte round, by;
	bool patient, others, granted, watched_now;

ended:
	atomic {
		if
		:: round == ROUNDS -> goto out
		:: round < ROUNDS -> patient = true
		:: round < ROUNDS -> patient = false
		fi;
		round++
	}
again:
	if
	:: atomic { h == KEPT && token < last ->
		h = HELD; token++; goto have }
	:: atomic { h == HELD && watch == UNWATCHED && !busy &&
		!asked[me] -> BEGIN_WATCH; goto watches }
	:: atomic { h == HELD && !asked[me] &&
		(watch == BEGINS || watch == WATCHED && !wanted) ->
		parked[me] = true; kicked[me] = false;
		eligible[me] = false; goto sleeps }
	:: atomic { (h == FREE || h == GOING ||
		h == KEPT && token == last ||
		h == HELD && watch == UNWATCHED && busy ||
		h == HELD && watch == WATCHED && wanted ||
		h == HELD && asked[me]) -> skip }
	fi;
asks:
	asked[me] = true;
	atomic {
		if
		:: owner == NONE ->
			grant_to_A(); granted = true;
			listened = false; waits[me] = false; h = HELD;
			watch = UNWATCHED; wanted = false
		:: else ->
			granted = false; waits[me] = true
		fi;
		store_wakes[me] = false;
		if
		:: granted -> granted = false; goto have
		:: else -> skip
		fi
	}
	/* BUSY: is it what we keep? */
	if
	:: atomic { h == KEPT -> h = GOING; goto sweeps }
	:: atomic { h != KEPT -> skip }
	fi;
#ifdef BREAK_SLEEP
	atomic { parked[me] = true; kicked[me] = false;
		 eligible[me] = false }
#else
	atomic {
		if
		:: h == KEPT -> goto asks
		:: else -> parked[me] = true; kicked[me] = false;
			   eligible[me] = false
		fi
	}
#endif
sleeps:
	if
	:: atomic { passed[me] -> passed[me] = false; goto have_passed }
	:: atomic { !passed[me] && kicked[me] -> unpark(me);
		kicked[me] = false; goto again }
	:: atomic { !passed[me] && store_wakes[me] ->
		unpark(me); goto asks }
	:: atomic { !passed[me] && !patient ->
#ifndef BREAK_GONE
		unpark(me);
#endif
		goto gives_up }
	fi;
sweeps:
	give_back();
	goto asks;
watches:
	ask_to_watch();
	goto again;
gives_up:
	/* A wake that it was given is the next one's. */
	atomic {
		waits[me] = false;
		asked[me] = false;
		if
		:: store_wakes[me] && owner == NONE -> store_release()
		:: else -> skip
		fi;
		store_wakes[me] = false;
		kicked[me] = false
	}
	goto ended;
have_passed:
	/* What it had in the store goes. */
	atomic { waits[me] = false; store_wakes[me] = false }
have:
	asked[me] = false;
	enter(token);
	watched_now = false;
release:
	if
	:: atomic { watch == WATCHED && IS_THERE(0) && MAY_HAVE(0) ->
		unpark(0); passed[0] = true; token++;
		goto ended }
	:: atomic { watch == WATCHED && IS_THERE(1) && MAY_HAVE(1) ->
		unpark(1); passed[1] = true; token++;
		goto ended }
#ifdef BREAK_PARKED
	:: atomic { watch == WATCHED && !wanted && token < last ->
#else
	:: atomic { watch == WATCHED && !wanted && token < last &&
		NOBODY_PARKED ->
#endif
		h = KEPT; goto ended }
	:: atomic { watch == UNWATCHED && !busy && !watched_now ->
		BEGIN_WATCH; watched_now = true; goto watches_held }
	:: atomic { !busy && (watch == UNWATCHED || wanted ||
		token == last) && !(IS_THERE(0) && MAY_HAVE(0)) &&
		!(IS_THERE(1) && MAY_HAVE(1)) ->
		h = GOING; goto goes }
	fi;
watches_held:
	ask_to_watch();
	goto release;
goes:
	give_back();
	goto ended;
out:	skip
}

/* The thread that takes in A's messages, and the one that cleans up. */
active proctype hears()
{
	bool which;

end:	do
	:: atomic { words ? which ->
		if
		:: which && watch != UNWATCHED && !wanted ->
			wanted = true;
			eligible[0] = parked[0]; eligible[1] = parked[1]
		:: else -> skip
		fi;
		which = false }
	od
}

active proctype cleans()
{
end:	do
	:: atomic { h == KEPT && wanted -> h = GOING } give_back()
	od
}

/* Client B, which knows only the store. */
proctype other()
{
	byte round, mine, by;
	bool granted;

	do
	:: round == ROUNDS -> break
	:: else ->
asks:
		atomic {
			store_wakes[T] = false;
			if
			:: owner == NONE ->
				owner = B; granted = true; waits[T] = false;
				given++; mine = given
			:: else ->
				granted = false; waits[T] = true;
				if
				:: owner == A && listened -> words ! true
				:: else -> skip
				fi
			fi
		}
		if
		:: granted -> skip
		:: else -> store_wakes[T]; goto asks
		fi;
		enter(mine);
		atomic { store_release() }
		round++
	od
}

init
{
	atomic { run thread(0); run thread(1); run other() }
}
