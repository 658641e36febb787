/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model server in a simulated process: a thread of the process.  All
 * connections of the process lead to this server, by pairs of sockets; bytes
 * take virtual time.  The linker leads connect(), send() and close() here.
 */
#ifndef DLOCK_SIM_PROCESS_SERVER_H
#define DLOCK_SIM_PROCESS_SERVER_H

#include <stddef.h>

#include "sim/base/bytes.h"
#include "sim/base/chance.h"
#include "sim/process/way.h"

enum { SIM_PORTS = 8 };

/* A connection. */
struct sim_wire {
	int fd;      /* the server's end; -1: free */
	int port;    /* the n-th of the server, from 0 */
	int client;  /* the client's end ... */
	int set;     /* ... and the epoll descriptor there, if clients share
		      * ports; else -1 */
	int hung_up; /* the client has; bytes under way still arrive */
	int ending;  /* the server hears no more, and ends with the last byte */
	int loses;   /* bytes under way, when the client hangs up */
	void *conn;  /* the model's */
	struct sim_way to_server, to_client;
};

/* The faults of connections.  A rate is 1 in so many packets; 0: never. */
struct sim_wires {
	uint64_t delay_us; /* of bytes, at most; at least 1 */
	uint64_t least_us; /* ... and so much more */
	uint64_t split_rate;
	uint64_t reset_rate; /* the bytes under way are lost */
	uint64_t end_rate;   /* the server ends the connection in order */
};

/* The model behind the connections. */
struct sim_server_type {
	int first_port, ports;
	int shares;      /* the ports are servers, and all clients connect
			  * there: an epoll descriptor is of one client and one
			  * port */
	int outlives;    /* bytes arrive though the client has hung up */
	int hands_over;  /* a thread may hand over behind a send() */
	int64_t late_ns; /* bytes that take longer are late */

	/* Begin `conn`.  0: the connection is refused. */
	int (*accept)(struct sim_wire *p);

	/* The client of the new connection is known.  NULL: by the port. */
	void (*known)(struct sim_wire *p);
	void (*input)(void *conn, const void *bytes, size_t n);
	struct sim_bytes *(*output)(void *conn);
	int (*is_closing)(void *conn);
	void (*ended)(void *conn);

	/* The next time to ring, or SIM_FOREVER. */
	int64_t (*due)(void);
	void (*ring)(void);

	/* Faults may begin: a client has sent bytes, which are under way, or
	 * `fd` is -1; bytes have come to a client.  NULL: there are no
	 * faults. */
	void (*asked)(struct sim_wire *p);
	void (*answered)(const struct sim_wire *p);
};

/* Start the server, without faults; the model stands. */
void sim_server_start(const struct sim_server_type *type,
		      struct sim_chance *chance);

/* Begin these faults at the port, -1: at all; NULL: end all faults of
 * connections there. */
void sim_server_wires(int port, const struct sim_wires *wires);

/* The server stands still until then, or the server at the port. */
void sim_server_pause(int port, int64_t until);

/* A client watches a socket with an epoll descriptor from now on. */
void sim_server_watched(int client, int set);

/* When did late bytes come last?  0: never. */
int64_t sim_server_late_at(void);

/* Do to every connection with the port, and with the epoll descriptor there;
 * -1: with any. */
void sim_server_each(int port, int set,
		     void (*each)(struct sim_wire *p, void *arg), void *arg);

/* Stop the server, before the model's end.  All clients are closed. */
void sim_server_stop(void);

#endif
