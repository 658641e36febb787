/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upgrade in ZooKeeper deletes the nodes of the waiters ahead.
 *
 * The queue is a row of nodes in the order of their numbers.  A client lists
 * the queue and acts on the listing; each listing and each transaction is a
 * step.  The transaction may arrive at any later time, or never.  The reader
 * beside the upgrade may go at any time, together with the promise: by a
 * release, the end of a session, or a break.  So may all other participants.
 *
 * Proved: conflicting promises never overlap, tokens rise, and the transaction
 * deletes only nodes of waiters, and only for a waiting upgrade.  With TWO, two
 * upgrades ask beside the same reader.  Each BREAK_ below takes a precaution
 * away, and must be found out.
 *
 *   BREAK_READER  the transaction does not check the reader beside the upgrade
 *   BREAK_FIRST   ... nor that the first exclusive node stands
 *   BREAK_OURS    ... nor the upgrade's own node
 *   BREAK_PASS    an upgrade goes past waiters and leaves the nodes
 *   BREAK_LOOK    an upgrade overlooks the other readers
 *   BREAK_OTHER   an upgrade takes another upgrade for a waiter (with TWO)
 */
#ifndef N
#define N 8 /* nodes ever made */
#endif
#ifndef MOST
#define MOST 1 /* nodes deleted by a transaction */
#endif

/* Owners of nodes; 0 is no node. */
#define BESIDE 1 /* the reader beside the upgrades: the first node */
#define FIRST_UPGRADE 2
#define LAST_UPGRADE 3
#define LAST_WRITER 5
#define READER 6

#define IS_UPGRADE(o) ((o) == 2 || (o) == 3)
#define IS_EXCLUSIVE(o) ((o) >= FIRST_UPGRADE && (o) <= LAST_WRITER)

byte node[N];
byte made = 1;
bool holds[READER + 1];
byte granted, exclusive; /* the largest token, and the largest of a writer */

/* The transaction of an upgrade under way. */
typedef transaction {
	bool sent;
	byte first, ours, from, to; /* deletes the nodes seen in between */
	bool seen[N]
}
transaction way[2];

inline ask()
{
	atomic { mine = made; node[made] = me; made++ }
}

inline grant()
{
	i = 1;
	do
	:: i > READER -> break
	:: else ->
		assert(i == me || !holds[i] ||
		       (IS_UPGRADE(me) && i == BESIDE) ||
		       (!IS_EXCLUSIVE(me) && !IS_EXCLUSIVE(i)));
		i++
	od;
	assert(mine > exclusive && (!IS_EXCLUSIVE(me) || mine > granted));
	if
	:: mine > granted -> granted = mine
	:: else
	fi;
	if
	:: IS_EXCLUSIVE(me) -> exclusive = mine
	:: else
	fi;
	holds[me] = true
}

inline drop()
{
	atomic {
		holds[me] = false;
		if
		:: node[mine] == me -> node[mine] = 0
		:: else
		fi;
		mine = 0
	}
}

/* A writer or a reader, which queues again when the node has gone. */
proctype client(byte me)
{
	byte mine, i, rounds;
	bool free;

again:	if
	:: rounds == 2 || made == N -> goto end
	:: else -> rounds++; ask()
	fi;
	do
	:: node[mine] != me -> goto again
	:: d_step {
		node[mine] == me ->
		free = true;
		i = 0;
		do
		:: i == mine -> break
		:: else ->
			free = free && (node[i] == 0 ||
				(!IS_EXCLUSIVE(me) && !IS_EXCLUSIVE(node[i])));
			i++
		od;
		if
		:: free -> grant()
		:: else
		fi;
		free = false;
		i = 0
	}
		if
		:: holds[me] -> break
		:: else
		fi
	:: break /* gives up */
	od;
	drop();
end:	skip
}

proctype upgrade(byte me)
{
	byte mine, i, first, from, others;
	bool beside;

	if
	:: made == N -> goto end
	:: else -> ask()
	fi;
	do
	:: node[mine] != me -> break
	:: d_step {
		/* List the queue. */
		node[mine] == me ->
		beside = node[0] == BESIDE;
		first = mine;
		from = mine;
		others = 0;
		i = 1;
		do
		:: i >= mine -> break
		:: else ->
			if
			:: IS_EXCLUSIVE(node[i]) && first == mine ->
				first = i;
				from = i
			:: else
			fi;
#ifndef BREAK_OTHER
			if
			:: IS_UPGRADE(node[i]) -> from = i + 1
			:: else
			fi;
#endif
#ifdef BREAK_LOOK
			others = others + (IS_EXCLUSIVE(node[i]) -> 1 : 0);
#else
			others = others + (node[i] != 0 -> 1 : 0);
#endif
			i++
		od;
#ifdef BREAK_PASS
		if
		:: beside && first != mine ->
			others = 0;
			i = 1;
			do
			:: i == first -> break
			:: else ->
				others = others + (node[i] != 0 -> 1 : 0);
				i++
			od
		:: else
		fi;
#endif
		if
		:: others == 0 -> grant()
		:: else
		fi;
		/* The last of the waiters. */
		if
		:: others != 0 && beside && from < mine &&
		   !way[me - FIRST_UPGRADE].sent ->
			way[me - FIRST_UPGRADE].first = first;
			way[me - FIRST_UPGRADE].ours = mine;
			way[me - FIRST_UPGRADE].to = mine;
			i = mine;
			others = 0;
			do
			:: i == from || others == MOST -> break
			:: else ->
				i--;
				way[me - FIRST_UPGRADE].seen[i] = node[i] != 0;
				others = others + (node[i] != 0 -> 1 : 0)
			od;
			way[me - FIRST_UPGRADE].from = i;
			way[me - FIRST_UPGRADE].sent = others > 0
		:: else
		fi;
		others = 0;
		beside = false;
		first = 0;
		from = 0;
		i = 0
	}
		if
		:: holds[me] -> break
		:: else
		fi
	:: break /* gives up */
	od;
	drop();
end:	skip
}

inline forget()
{
	i = way[k].from;
	do
	:: i == way[k].to -> break
	:: else -> way[k].seen[i] = false; i++
	od;
	way[k].sent = false;
	way[k].first = 0;
	way[k].ours = 0;
	way[k].from = 0;
	way[k].to = 0;
	i = 0;
	owner = 0;
	whole = false
}

/* The transaction arrives, or never. */
proctype wire(byte k)
{
	byte i, owner;
	bool whole;

end:	do
	:: d_step {
		way[k].sent ->
		whole = true;
#ifndef BREAK_READER
		whole = whole && node[0] == BESIDE;
#endif
#ifndef BREAK_FIRST
		whole = whole && node[way[k].first] != 0;
#endif
#ifndef BREAK_OURS
		whole = whole && node[way[k].ours] != 0;
#endif
		i = way[k].from;
		do
		:: i == way[k].to -> break
		:: else ->
			whole = whole && (!way[k].seen[i] || node[i] != 0);
			i++
		od;
		i = way[k].to;
		do
		:: !whole || i == way[k].from -> break
		:: else ->
			i--;
			owner = node[i];
			if
			:: way[k].seen[i] && owner != 0 ->
				assert(!holds[owner]);
				assert(node[way[k].ours] != 0);
				node[i] = 0
			:: else
			fi
		od;
		forget()
	}
	:: d_step { way[k].sent -> forget() }
	od
}

/* The reader beside the upgrades goes. */
proctype time()
{
	atomic { holds[BESIDE] = false; node[0] = 0 }
}

init
{
	atomic {
		node[0] = BESIDE;
		holds[BESIDE] = true;
		run client(LAST_WRITER);
#ifndef TWO
		run client(LAST_WRITER - 1);
#endif
		run client(READER);
		run upgrade(FIRST_UPGRADE);
		run wire(0);
#ifdef TWO
		run upgrade(LAST_UPGRADE);
		run wire(1);
#endif
		run time()
	}
}
