/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set number of a semaphore's permits in ZooKeeper ends with the use.
 *
 * The queue is a row of nodes in the order of their numbers, which is also the
 * order of the zxids.  A client joins, lists the queue, reads each node up to a
 * carrier, reads the directory's data behind these nodes, and acts on the
 * answers; each is a step.  A client leaves at any time after the first listing:
 * by a release, a time-out, the end of the session, or a break.  A client that
 * comes back is another client here.
 *
 * Proved: a permit is granted only if the number in force allows the grant, or
 * allowed the grant since the request.  The number in force is the set number
 * while a carrier stands, and then OWN, the number of all handles.  Each BREAK_
 * below takes a precaution away, and must be found out.
 *
 *   BREAK_GONE     a missing node counts as no carrier
 *   BREAK_CARRIER  a client becomes a carrier without another carrier
 *   BREAK_MARK     a client takes a permit and is no carrier
 *   BREAK_ANY      any node counts as a carrier
 *   BREAK_FIRST    a client reads only the first node
 *   BREAK_REMOVE   a client removes a number set since the listing
 */
#ifndef N
#define N 3 /* clients */
#endif
#ifndef OWN
#define OWN 1
#define FIRST_SET 2
#define SECOND_SET 1
#endif

#ifdef BREAK_CARRIER
#define STANDS(i) true
#else
#define STANDS(i) node[i]
#endif
#ifdef BREAK_REMOVE
#define MAY_REMOVE true
#else
#define MAY_REMOVE (version == seen_version)
#endif
#ifdef BREAK_ANY
#define CARRIES(i) true
#else
#define CARRIES(i) (i < seen_since || mark[i])
#endif

/* The server: the clients' nodes, and the directory's data. */
bool node[N], mark[N];
byte made, set, served, since, version;

/* The number in force, and whose nodes keep the number in force. */
byte number = OWN;
bool user[N], entitled[N], holds[N];

/* Let `n` be how many of an array's elements before `end` are set. */
#define COUNT(array, end)                                                      \
	n = 0;                                                                 \
	k = 0;                                                                 \
	do                                                                     \
	:: k == end -> break                                                   \
	:: else -> n = n + (array[k] -> 1 : 0); k++                            \
	od;                                                                    \
	k = 0

inline grant()
{
	d_step {
		COUNT(holds, N);
		assert(entitled[me] || n + 1 <= number);
		holds[me] = true;
		n = 0
	}
}

/* The next node of the listing; over, if there is no other. */
inline next()
{
	do
	:: i == N -> i = 0; over = true; break
	:: else ->
		if
		:: seen[i] -> break
		:: else -> i++
		fi
	od
}

inline forget()
{
	i = 0;
	do
	:: i == N -> break
	:: else -> seen[i] = false; i++
	od;
	i = 0;
	ahead = 0;
	seen_set = 0;
	seen_since = 0;
	seen_version = 0;
	carries = false;
	gone = false;
	changed = false;
	over = false
}

proctype client(byte me)
{
	byte i, k, n, ahead, seen_set, seen_since, seen_version;
	bool seen[N], carries, gone, changed, over;

	d_step { made == me -> node[me] = true; made++ }
again:	skip;
	d_step {
		seen_version = version;
		seen_since = since;
		do
		:: i == N -> break
		:: else -> seen[i] = node[i]; i++
		od;
		i = 0;
		COUNT(node, me);
		ahead = n;
		n = 0;
		over = version == 0;
		next();
		n = 0
	}
	do
	:: over -> break
	:: else ->
		d_step {
			carries = node[i] && CARRIES(i);
			gone = gone || !node[i];
			over = carries;
#ifdef BREAK_FIRST
			over = true;
#endif
			if
			:: !over -> i++; next()
			:: else
			fi;
			n = 0
		}
	od;
	skip;
	d_step {
		seen_set = set;
#ifndef BREAK_GONE
		changed = gone && !carries && set != 0;
#endif
		changed = changed || version != seen_version
	}
	if
	:: changed -> goto wait
	:: !changed && carries && seen_set != 0 ->
#ifndef BREAK_MARK
		if
		:: me < seen_since || mark[me]
		:: else ->
			if
			:: d_step {
				version == seen_version && STANDS(i) ->
				mark[me] = true;
				user[me] = true
			}
			:: else -> goto wait
			fi
		fi;
#endif
		user[me] = true;
		if
		:: ahead < seen_set || me < served -> grant(); goto leave
		:: else
		fi
	:: else ->
		d_step {
			if
			:: seen_set != 0 && set != 0 && MAY_REMOVE ->
				set = 0;
				version++
			:: else
			fi
		}
		if
		:: ahead < OWN -> grant(); goto leave
		:: else
		fi
	fi;
wait:	if
	:: d_step { true -> forget() }
		goto again
	:: true
	fi;
leave:	skip;
	d_step {
		forget();
		node[me] = false;
		mark[me] = false;
		user[me] = false;
		holds[me] = false;
		entitled[me] = false;
		COUNT(user, N);
		number = (n == 0 -> OWN : number);
		n = 0
	}
}

/* The operator's transaction fails if the directory has changed since the
 * listing. */
proctype operator(byte to)
{
	byte i, k, n, now, last, seen_version;

	d_step {
		seen_version = version;
		now = OWN;
		do
		:: i == made -> break
		:: else ->
			now = (node[i] && set != 0 && (i < since || mark[i]) ->
				set : now);
			i++
		od;
		last = (now == OWN -> 0 : served);
		i = 0;
		do
		:: i == made -> break
		:: else ->
			COUNT(node, i);
			last = (node[i] && n < now && last < i + 1 ->
				i + 1 : last);
			i++
		od;
		n = 0;
		i = 0;
		now = 0
	}
	d_step {
		COUNT(node, made);
		if
		:: version == seen_version && n > 0 ->
			do
			:: i == made -> break
			:: else ->
				COUNT(node, i);
				user[i] = user[i] || node[i];
				entitled[i] = entitled[i] ||
					(node[i] && n < number);
				i++
			od;
			number = to;
			set = to;
			served = last;
			since = made;
			version++
		:: else
		fi;
		n = 0;
		i = 0;
		last = 0;
		seen_version = 0
	}
}

init {
	byte c;

	atomic {
		do
		:: c == N -> break
		:: else -> run client(c); c++
		od;
		run operator(FIRST_SET);
		run operator(SECOND_SET)
	}
}
