/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upgrade in memcached takes the gate from a writer that waits there.
 *
 * Each step of a client is an operation of the server, and steps of all clients
 * mix in any order.  Any client may die between two steps, any item may run
 * out, and a swap once sent may arrive at any later time.  Every write of
 * the gate gives the item a new number (cas).
 *
 * Proved: conflicting promises never overlap, and tokens of writers rise.
 * Each BREAK_ below takes a precaution away, and must be found out.
 *
 *   BREAK_SWAP    a writer has the lock without storing the item once more
 *   BREAK_ORDER   an upgrade reads the reader's slot, and then the gate
 *   BREAK_BESIDE  an upgrade does not read the reader's slot
 *   BREAK_READER  a reader takes no notice of the gate
 *   BREAK_LOOK    an upgrade overlooks the other reader
 */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define UPGRADE 1 /* owner of the gate; the writers are 2 and 3 */
#ifndef WRITERS
#define WRITERS 1
#endif

/* The server's. */
byte gate, number, last_number = 1;
bool slot[2]; /* of the reader that upgrades, and of another reader */
bool mark;
byte sent; /* the number in a swap of the upgrade under way, or 0 */

/* The clients' beliefs. */
bool reads[2], writes[4];
byte token; /* of the last writer */

#define WRITES (writes[1] || writes[2] || writes[3])

inline write_gate(who)
{
	gate = who;
	last_number++;
	number = last_number
}

inline grant_write(who)
{
	assert(!WRITES && !reads[1] && (who == UPGRADE || !reads[0]));
	assert(mine > token);
	token = mine;
	writes[who] = true
}

inline add_gate()
{
	atomic {
		if
		:: gate == 0 ->
			write_gate(me);
			known = number;
			mine = number;
			got = true
		:: else ->
			known = number;
			got = false
		fi
	}
}

/* Store the item once more. */
inline swap_gate()
{
	atomic {
		if
		:: gate == me && number == known ->
			write_gate(me);
			known = number;
			got = true
		:: else -> got = false
		fi
	}
}

inline drop_gate()
{
	atomic {
		if
		:: gate == me && number == known -> gate = 0
		:: else
		fi
	}
}

active [WRITERS] proctype writer()
{
	byte me = _pid + 2, known, mine, round;
	bool got, seen, again;

	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		again = false;
		add_gate();
		if
		:: !got -> goto next
		:: got
		:: got -> break /* dead */
		fi;
		if
		:: !mark -> goto enter
		:: else
		fi;
look:
		seen = slot[0];
		seen = seen || slot[1];
#ifdef BREAK_SWAP
		got = true;
#else
		swap_gate();
#endif
		if
		:: !got -> goto next
		:: got && seen && !again -> again = true; goto look
		:: got && seen -> drop_gate(); goto next
		:: got && !seen
		fi;
enter:
		atomic {
			if
			:: gate == me && number == known -> grant_write(me)
#ifdef BREAK_SWAP
			:: else -> grant_write(me)
#else
			:: else /* run out, or broken */
#endif
			fi
		};
		if
		:: true
		:: break
		fi;
		writes[me] = false;
		drop_gate();
next:
		atomic { known = 0; mine = 0; got = false; seen = false }
	od
}

active proctype reader()
{
	mark = true;
	slot[1] = true;
	if
#ifndef BREAK_READER
	:: gate != 0 -> slot[1] = false
	:: atomic { gate == 0 && slot[1] -> reads[1] = true }
#else
	:: atomic { slot[1] -> reads[1] = true }
#endif
	:: !slot[1]
	fi;
	assert(!reads[1] || !WRITES);
	if
	:: true
	:: goto end /* dead */
	fi;
	reads[1] = false;
	slot[1] = false;
end:	skip
}

active proctype upgrade()
{
	byte me = UPGRADE, known, mine;
	bool got, seen, again;

	mark = true;
	slot[0] = true;
	if
	:: gate != 0 -> slot[0] = false; goto end
	:: atomic { gate == 0 && slot[0] -> reads[0] = true }
	:: !slot[0] -> goto end
	fi;
#ifdef BREAK_ORDER
	seen = slot[0];
#endif
	add_gate();
	if
	:: got -> goto look
	:: else
	fi;
#ifdef BREAK_BESIDE
	seen = true;
#endif
#if !defined(BREAK_ORDER) && !defined(BREAK_BESIDE)
	seen = slot[0];
#endif
	if
	:: !seen -> goto end
	:: seen -> sent = known; goto leave /* no answer */
	:: seen
	fi;
	atomic {
		if
		:: gate != 0 && number == known ->
			write_gate(me);
			known = number;
			mine = number
		:: else -> goto leave
		fi
	};
look:
#ifdef BREAK_LOOK
	seen = false;
#else
	seen = slot[1];
#endif
	swap_gate();
	if
	:: got && !seen
	:: got && seen && !again -> again = true; goto look
	:: got && seen -> drop_gate(); goto leave
	:: !got -> goto leave
	fi;
	atomic {
		if
		:: gate == me && number == known -> grant_write(me)
		:: else -> goto leave
		fi
	};
	if
	:: true
	:: goto end /* dead */
	fi;
	writes[me] = false;
	drop_gate();
leave:
	reads[0] = false;
	slot[0] = false;
end:	skip
}

/* The swap arrives. */
active proctype wire()
{
end:	do
	:: atomic {
		sent != 0 && gate != 0 && number == sent ->
			write_gate(UPGRADE);
			sent = 0
	}
	od
}

/* Items run out, and the promises before them. */
active proctype time()
{
end:	do
	:: atomic { gate != 0 -> writes[gate] = false; gate = 0 }
	:: atomic { slot[0] -> reads[0] = false; slot[0] = false }
	:: atomic { slot[1] -> reads[1] = false; slot[1] = false }
	od
}
