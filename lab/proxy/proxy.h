/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP proxy that misbehaves on demand: one thread between clients and a
 * server, on a free port of 127.0.0.1.
 *
 * Faults hold until they are changed or healed, for present and later
 * connections, and combine.  UP is from client to server, DOWN from server to
 * client.  A *chunk* is the bytes of one read from a socket: for a client that
 * waits for each answer, one request or one reply.
 *
 * Every function may be called from any thread, and takes effect before it
 * returns.  A forked child, where the proxy's thread is missing, may call none.
 */
#ifndef DLOCK_LAB_PROXY_H
#define DLOCK_LAB_PROXY_H

#include "lab/base/net.h"

#include <stdbool.h>
#include <stdint.h>

struct lab_proxy;

enum lab_way { LAB_UP, LAB_DOWN };

struct lab_proxy_options {
	struct lab_address to; /* the server */
	int64_t patience_ms;   /* how long a client waits for an absent
			        * server */
};

/* Start a proxy.  The server need not run yet.  Free with lab_proxy_free(). */
struct lab_proxy *lab_proxy_new(const struct lab_proxy_options *options);

/* Stop the proxy, with all connections.  NULL is a no-op. */
void lab_proxy_free(struct lab_proxy *p);

/* Return the port to connect to. */
int lab_proxy_port(const struct lab_proxy *p);

/* From now on, new connections go there. */
void lab_proxy_aim(struct lab_proxy *p, const struct lab_address *to);

/* Every chunk arrives `ms` later, in order. */
void lab_proxy_delay(struct lab_proxy *p, enum lab_way way, int64_t ms);

/* Pass a byte every `ms` milliseconds; 0: at full speed again. */
void lab_proxy_drip(struct lab_proxy *p, enum lab_way way, int64_t ms);

/* Every connection ends after `bytes` more in this direction, cleanly: the
 * receiver gets exactly these.  -1: no longer. */
void lab_proxy_cut(struct lab_proxy *p, enum lab_way way, int64_t bytes);

/* Let no byte and no end of a connection pass, as if packets were lost: bytes
 * sent meanwhile arrive after the hole.  Until then the proxy dials an
 * unreachable server again and again, however long. */
void lab_proxy_hole(struct lab_proxy *p, enum lab_way way, bool on);

/* Let no more pass over the present connections, without telling either side,
 * as when a firewall forgets them; new connections work. */
void lab_proxy_strand(struct lab_proxy *p);

/* New connections are refused. */
void lab_proxy_refuse(struct lab_proxy *p, bool on);

/* End all connections at once with RST, on both sides. */
void lab_proxy_reset(struct lab_proxy *p);

/* Tell the receivers of this direction that no more comes (FIN), and throw away
 * later bytes.  The other direction goes on. */
void lab_proxy_half_close(struct lab_proxy *p, enum lab_way way);

/* STRAND: as lab_proxy_strand(), this connection only, so the rest of an answer
 * in several chunks does not arrive either. */
enum lab_then {
	LAB_THEN_NOTHING,
	LAB_THEN_CLOSE,
	LAB_THEN_RESET,
	LAB_THEN_STRAND
};

/*
 * Throw away one chunk from the server, and then do `then` with the connection.
 * With `match`, the answer to the next chunk from a client that contains these
 * bytes; else the server's next chunk.  Works once.
 */
void lab_proxy_swallow(struct lab_proxy *p, const char *match,
		       enum lab_then then);

/*
 * Hold back the next chunk from a client that contains `match` (NULL: any), and
 * all later chunks of that connection.  Works once.  lab_proxy_deliver()
 * delivers them, even if the client has gone away since.
 */
void lab_proxy_hold(struct lab_proxy *p, const char *match);

/* Deliver the held chunks, and return how many. */
int lab_proxy_deliver(struct lab_proxy *p);

/* End all faults; delayed and held chunks are delivered at once. */
void lab_proxy_heal(struct lab_proxy *p);

/* The counts, since the start; OPEN is the connections now. */
enum lab_proxy_stat {
	LAB_ACCEPTED,
	LAB_OPEN,
	LAB_UNREACHED, /* the server could not be connected to */
	LAB_UP_BYTES,
	LAB_DOWN_BYTES,
	LAB_UP_CHUNKS,
	LAB_DOWN_CHUNKS,
	LAB_CUT,
	LAB_RESET,
	LAB_SWALLOWED,
	LAB_HELD,
	LAB_PROXY_NSTATS
};

uint64_t lab_proxy_stat(struct lab_proxy *p, enum lab_proxy_stat which);

/* Wait until a count is at least `n`.  -1: the count is less after
 * `timeout_ms`. */
int lab_proxy_wait(struct lab_proxy *p, enum lab_proxy_stat which, uint64_t n,
		   int64_t timeout_ms);

#endif
