/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ZooKeeper store makes tokens of transactions, and that they rise.
 *
 * `tokens` is the node that all clients read.  Each write to it is a
 * transaction and an anchor: worth the leader's clock, or what the anchor that
 * the writer names makes necessary.  A token is what the transaction that made
 * a claim's node is worth, by the last anchor before it.
 *
 * The ensemble is a list of transactions.  A client sees a beginning of it that
 * grows: its server may be behind, and so may be what it has read from the
 * socket.  It hears of what it watches, and of its own writes, in that order.
 * It may lose its connection, and all its watches, at any time.  The clock is
 * another for each write, also an earlier one.  Numbers jump once, by more than
 * an anchor is good for: an election, or other users of the ensemble.
 *
 * Proved: of two claims' nodes, the one that was made later has the larger
 * token, even if two clients made them.  It is enough to look at nodes, because
 * the queue has the same order.  Each BREAK_ below takes one precaution away,
 * and must be found out.
 *
 *   BREAK_WATCH    a client does not watch the node
 *   BREAK_AGAIN    a client whose watch has fired does not read again
 *   BREAK_LOST     a client believes that watches outlive a connection
 *   BREAK_VERSION  a write does not ask for the version that was read
 *   BREAK_CLOCK    an anchor is worth the clock, and nothing else
 *   BREAK_BEFORE   of two anchors the later one counts for all nodes
 *   BREAK_SPAN     an anchor is good for ever
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef TXNS
#define TXNS 7
#endif
#define SPAN 5
#define JUMP 7

byte txns = 1;      /* transactions so far; the first made the node */
bool anchor[TXNS]; /* this one is an anchor, */
byte us[TXNS];     /* ... worth this, */
byte before[TXNS]; /* ... and written by somebody who knew this one */
byte token[TXNS];  /* that was handed out for this one; 0: none */
byte jump_at;
byte last;         /* the last anchor */

#ifdef BREAK_VERSION
#define VERSION_FITS true
#else
#define VERSION_FITS (last == now)
#endif
#ifdef BREAK_SPAN
#define IN_SPAN(n) true
#else
#define IN_SPAN(n) ((n) < SPAN)
#endif
#define ZXID(i) ((i) + ((i) >= jump_at -> JUMP : 0))

inline any_clock(at)
{
	if
	:: us[at] = 1
	:: us[at] = 20
	fi
}

/* The client's next piece of news. */
inline hear()
{
	d_step {
		seen++;
		if
		:: anchor[seen] && watch ->
			watch = false;
#ifndef BREAK_AGAIN
			known = false
#endif
		:: else
		fi
	}
}

inline lose_connection()
{
	d_step {
		watch = false;
#ifndef BREAK_LOST
		known = false
#endif
	}
}

inline read_node()
{
	d_step {
		now = seen;
		do
		:: anchor[now] -> break
		:: else -> now--
		od;
		known = true;
#ifndef BREAK_WATCH
		watch = true;
#endif
		i = 0
	}
}

/* The answer comes when the client has heard of all that was before. */
inline write_node()
{
	atomic {
		end = txns - 1;
		if
		:: !VERSION_FITS
		:: txns == TXNS -> goto done
		:: txns < TXNS && VERSION_FITS ->
			any_clock(txns);
#ifndef BREAK_CLOCK
			i = ZXID(txns) - ZXID(now);
			i = (i > SPAN -> SPAN : i);
			i = us[now] + i;
			us[txns] = (us[txns] < i -> i : us[txns]);
			i = 0;
#endif
			anchor[txns] = true;
			before[txns] = now;
			last = txns;
			end = txns;
			txns++
		fi
	};
	do
	:: seen < end -> hear()
	:: else -> break
	od;
	end = 0
}

/* What node `mine` is worth, by the anchor `now` and the one before. */
inline tell()
{
	d_step {
		i = now;
#ifndef BREAK_BEFORE
		if
		:: mine < now -> i = before[now]
		:: else
		fi;
#endif
		t = 0;
		if
#ifdef BREAK_BEFORE
		:: mine < i -> t = us[i] - (ZXID(i) - ZXID(mine))
#endif
		:: mine > i && IN_SPAN(ZXID(mine) - ZXID(i)) ->
			t = us[i] + ZXID(mine) - ZXID(i)
		:: else
		fi;
		i = 0
	}
}

inline hand_out()
{
	d_step {
		token[mine] = t;
		i = 0;
		do
		:: i == txns -> break
		:: i < mine -> assert(token[i] < t); i++
		:: i == mine -> i++
		:: i > mine && i < txns ->
			assert(token[i] == 0 || token[i] > t);
			i++
		od;
		i = 0;
		t = 0;
		mine = 0
	}
}

proctype client()
{
	byte seen, now, mine, round, end, i, t;
	bool known, watch;

next:
	do
	:: seen < txns - 1 -> hear()
	:: known -> lose_connection()
	:: break
	od;
	if
	:: round == ROUNDS -> goto done
	:: else
	fi;
	if
	:: !known -> read_node()
	:: else
	fi;
	if
	:: write_node(); goto next
	:: true
	fi;
	atomic {
		if
		:: txns == TXNS -> goto done
		:: else
		fi;
		mine = txns;
		txns++
	};
	do
	:: seen < mine -> hear()
	:: else -> break
	od;
	if
	:: true
	:: seen < txns - 1 -> hear()
	:: lose_connection()
	fi;
	if
	:: !known -> read_node()
	:: else
	fi;
	tell();
	if
	:: t == 0 -> mine = 0; goto next /* it queues again */
	:: else
	fi;
	hand_out();
	round++;
	goto next;

done:
	atomic {
		seen = 0;
		now = 0;
		mine = 0;
		round = 0;
		end = 0;
		known = false;
		watch = false
	}
}

init {
	atomic {
		anchor[0] = true;
		any_clock(0);
		if
		:: jump_at = 2
		:: jump_at = TXNS - 2
		:: jump_at = TXNS
		fi;
		byte k = 0;
		do
		:: k < N -> run client(); k++
		:: else -> break
		od
	}
}
