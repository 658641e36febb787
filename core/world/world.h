/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: the clock, chance, sockets and wake-ups under the engine.
 *
 * A world is a table of functions.  core/world/real.c fills the table in with
 * the kernel; a simulation fills it in with a virtual clock and byte streams.
 * Besides the world, the engine needs only memory, a mutex and conditions.
 *
 * THREADS
 *  now, chance, kick             any thread, at any time
 *  connect, finish, want, close,
 *  resolve                       with the engine's mutex held
 *  read, await, write            without the mutex: a socket has at most a
 *                                reading and a writing thread; close() comes
 *                                when both have returned
 *  wait                          without the mutex; at most a thread a set
 *
 * No function blocks but wait() and await().  Errors are negative errno values.
 */
#ifndef DLOCK_CORE_WORLD_WORLD_H
#define DLOCK_CORE_WORLD_WORLD_H

#include <dlock/backend.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct dlki_world;

/*
 * A socket is in either of two sets, so that two threads can wait at a time: a
 * thread waits for the answer to a request in ANSWERS, and a parked waiter for
 * a turn in NEWS.  An answer then wakes no parked waiter.
 */
enum dlki_set { DLKI_ANSWERS, DLKI_NEWS, DLKI_SETS };

/* A set as a bit, for wait(). */
#define DLKI_BIT(set) (1u << (set))
#define DLKI_ALL_SETS (DLKI_BIT(DLKI_ANSWERS) | DLKI_BIT(DLKI_NEWS))

/*
 * The engine's name for a socket.  An event carries the tag, never a
 * descriptor: the engine raises the generation when closing, and drops an event
 * of an older generation.
 */
struct dlki_tag {
	uint32_t place;
	uint32_t generation;
};

/* The time that await() may take, roughly. */
#define DLKI_AWAIT_NS (10 * DLK_MS)

/* Bits of dlki_event.bits. */
#define DLKI_READABLE 1u /* bytes, or the end of the stream */
#define DLKI_WRITABLE 2u /* room for bytes, or connected, or refused */
#define DLKI_ENDED 4u    /* the peer has closed or reset: read to the end */

struct dlki_event {
	struct dlki_tag tag;
	unsigned int bits;
};

/* The address of a server: TCP or a unix socket. */
struct dlki_address {
	socklen_t len;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} to;
};

struct dlki_world_type {
	/* Return nanoseconds of a clock that goes on while the machine is
	 * suspended and is never stepped: CLOCK_BOOTTIME. */
	dlk_time (*now)(struct dlki_world *w);

	/* Fill all of `out` with random bytes; 0 or an error. */
	int (*chance)(struct dlki_world *w, void *out, size_t size);

	/*
	 * Begin to connect a stream socket, a member of `set` from now on.
	 * Returns the socket's number, >= 0, or an error: -ECONNREFUSED, or
	 * -EMFILE, or -EAGAIN for a unix socket whose queue is full, ...
	 * A WRITABLE event follows, also if the connection stands at once.
	 */
	int (*connect)(struct dlki_world *w, const struct dlki_address *to,
		       enum dlki_set set, struct dlki_tag tag);

	/* Finish, after WRITABLE: 0 if the socket is connected, -EINPROGRESS if
	 * it is not yet, or the reason why it never will be. */
	int (*finish)(struct dlki_world *w, int sock);

	/* Read: the number of bytes; 0 at the end of the stream; -EAGAIN; an
	 * error.  `size` is at least 1.  Fewer bytes than `size`: no more were
	 * there, and later bytes are another event. */
	ssize_t (*read)(struct dlki_world *w, int sock, void *out,
			size_t size);

	/*
	 * Read, but wait for bytes or the end, for a few milliseconds; then
	 * -EAGAIN, which may also come early.  Neither a kick nor another
	 * socket's event ends the wait.  Later wait() may report bytes that
	 * await() has read.  NULL: this world cannot.
	 */
	ssize_t (*await)(struct dlki_world *w, int sock, void *out,
			 size_t size);

	/* Write: the number of bytes the socket took, at least 1; -EAGAIN; an
	 * error. */
	ssize_t (*write)(struct dlki_world *w, int sock, const void *bytes,
			 size_t size);

	/* Report WRITABLE from now on (`writable` is not 0), or no longer.
	 * While the socket connects, WRITABLE is reported.  If there is room
	 * already, the event still comes. */
	void (*want)(struct dlki_world *w, int sock, int writable);

	/* Leave the set, then close.  Events with the socket's tag may still be
	 * on their way. */
	void (*close)(struct dlki_world *w, int sock);

	/*
	 * Wait in the sets of the mask until an event, a kick of such a set, or
	 * `until`, or a little less; `until` in the past looks and returns.
	 * Returns the number of events in `out`, 0 to `room`.
	 *
	 * Sockets are edge-triggered: an event comes once for all bytes
	 * present, and the next when more come.  Bytes and the end of the
	 * stream may be one event, READABLE | ENDED.  An event that does not
	 * fit into `room` comes with the next call.
	 */
	int (*wait)(struct dlki_world *w, unsigned int sets,
		    struct dlki_event *out, int room, dlk_time until);

	/* Have the wait() in `set` return.  While no thread waits, the kick is
	 * kept for the next wait(). */
	void (*kick)(struct dlki_world *w, enum dlki_set set);

	/*
	 * Look up the stream addresses of a host's name.  Returns how many
	 * there are; the first `room` of them are in `out`.  0: not known yet,
	 * and a kick of ANSWERS tells when to call again.  < 0: an EAI_ error.
	 * NULL: a thread asks the system; see core/net/resolver.h.
	 */
	int (*resolve)(struct dlki_world *w, const char *host, uint16_t port,
		       struct dlki_address *out, int room);
};

/* The first member of every world. */
struct dlki_world {
	const struct dlki_world_type *type;
	int resolves; /* without `resolve`: the thread that runs the loop asks
		       * the system, and waits */
};

#endif
