/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a simulation: servers, and the connections of clients to
 * them, each a stream of bytes either way.  Bytes may arrive after the client
 * has closed.  Times are true ones, in nanoseconds.
 */
#ifndef DLOCK_SIM_NET_H
#define DLOCK_SIM_NET_H

#include "core/world/world.h"
#include "sim/world/model.h"
#include "sim/world/stream.h"

/*
 * The addresses for clients.  Either 127.0.0.1, which always leads to the
 * master; or SIM_NAME, which resolves to a few of the addresses 10.0.0.1 to
 * 10.0.0.5: each server has two, and the last belongs to no server.
 */
#define SIM_NAME "redis.example"
enum {
	SIM_SERVERS = 2,
	SIM_PORT = 7000,
	SIM_NOBODY = 2 * SIM_SERVERS,
	SIM_PLACES
};

struct sim_server {
	struct sim_model *model;
	int is_stopped, is_down; /* reads no bytes; is not there */
	int64_t stopped_at, stopped_until;
	int is_host_stopped;     /* bytes to it are lost, and sent again sooner
				  * or later */
	int64_t wall_us;         /* the clock at the true time 0 */
	int64_t up_us;           /* ... and the machine's, without sleep */
	int sleeps;              /* a stopped machine sleeps */
	int64_t slept_us;        /* so far */
	int64_t late_us;         /* the timer of the model rings so late */
	int64_t caught_up_at;    /* when the timer rang first after the last
				  * stop; SIM_NEVER: not yet */
};

struct sim_wire {
	struct sim_net *net;
	const void *client;      /* the connection's; NULL: has closed */
	const void *opener;      /* the client that opened it */
	int64_t superseded_at;   /* when a later connection of the client's in
				  * the set brought an answer; or SIM_NEVER */
	struct sim_server *server;
	enum dlki_set set;
	struct dlki_tag tag;
	int64_t up_at;           /* of the connection, or of the refusal */
	int is_up;
	int error;               /* errno; the connection is no more */
	unsigned int edges;      /* DLKI_READABLE ...: to be told; by
				  * sim_wire_tell() */
	int wants_room;
	int64_t asked_at;        /* the first write; SIM_NEVER: no write */
	int is_heard;            /* the server has read bytes; the first ... */
	int is_behind;           /* ... before the timer caught up with a long
				  * stop */
	struct sim_peer *peer;   /* NULL: not yet, or no longer */
	struct sim_stream up, down;
};

struct sim_net {
	struct sim_chance *chance;
	struct sim_weather weather;
	int64_t now;
	int is_healed;           /* the weather is over */
	struct sim_server servers[SIM_SERVERS];
	size_t n_servers, master;
	unsigned int name;       /* a bit for each place in SIM_NAME */
	int name_fails;          /* EAI_ error of look-ups; 0 */
	struct sim_wire **wires; /* by number; NULL: free */
	size_t n_wires;
	size_t n_told;           /* wires with edges and a client */
	/* Let the time go on until the client can read from the connection, or
	 * `until`; NULL: time does not go on by itself.  A connection at a
	 * time; meanwhile other threads of the client run. */
	void (*pass)(void *arg, const struct sim_wire *w, int64_t until);
	void *pass_arg;
	const struct sim_wire *awaited; /* in pass(); or NULL */
	int64_t late_at;         /* when bytes came last, more than a lease
				  * after their connection was superseded; -1 */
	uint64_t events;
	uint64_t hash;           /* of all events */
	FILE *trace;             /* or NULL */
};

/* Draws the weather.  Where servers fail over, there is a replica, too. */
void sim_net_begin(struct sim_net *n, struct sim_chance *c, enum sim_kind kind);
void sim_net_end(struct sim_net *n);

/* Note an event: count it, and put it into the hash and the trace.  `fmt` has
 * conversions of int, of 64 bits, and of texts. */
void sim_net_note(struct sim_net *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The number of a new connection to the address. */
int sim_net_connect(struct sim_net *n, const void *client,
		    const struct dlki_address *to, enum dlki_set set,
		    struct dlki_tag tag);

/* The addresses of SIM_NAME, in any order; as resolve() of a world. */
int sim_net_name(const struct sim_net *n, struct dlki_address *out, int room);

/* Return the address of a place; SIM_PLACES: the master's, always. */
struct dlki_address sim_net_address(int place);

/* Return the server at an address, or NULL. */
struct sim_server *sim_net_server(struct sim_net *n,
				  const struct dlki_address *at);

/* The places of a server, as bits. */
static inline unsigned int sim_net_places(size_t server)
{
	return 3u << 2 * server;
}

/* The client closes the n-th. */
void sim_net_close(struct sim_net *n, int number);

/* Stop a server for so long; `host`: the whole machine. */
void sim_net_stop(struct sim_net *n, struct sim_server *s, int64_t for_ns,
		  int host);

/* The client is to be told of these edges. */
void sim_wire_tell(struct sim_wire *w, unsigned int edges);

/* Are there bytes, the end or an error? */
static inline int sim_wire_can_read(const struct sim_wire *w)
{
	return w->error != 0 || w->down.arrived.len > 0 || w->down.is_ended;
}

/* Take the edges that the client is told of now. */
unsigned int sim_wire_take_edges(struct sim_wire *w);

/* Break the connection, both ways, at once. */
void sim_net_reset(struct sim_wire *w);

/* Return when the next event is due; or SIM_NEVER. */
int64_t sim_net_due(const struct sim_net *n);

/* Do all due events. */
void sim_net_step(struct sim_net *n);

/* End all faults: stopped streams go on, and late bytes arrive. */
void sim_net_heal(struct sim_net *n);

#endif
