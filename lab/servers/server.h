/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers: real ones, each on a free port of 127.0.0.1 and in a
 * temporary directory of its own.  They go when the process that started them
 * goes (see lab/base/process.h).
 *
 * This is what all kinds have in common.  A kind of server (redis.h,
 * memcached.h) is a struct lab_server_kind and a function that fills in options
 * and calls lab_server_start().
 *
 * Calls for one server must not overlap.  None is for a forked child.
 */
#ifndef DLOCK_LAB_SERVER_H
#define DLOCK_LAB_SERVER_H

#include "lab/base/net.h"
#include "lab/base/process.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lab_server;

struct lab_server_kind {
	const char *name;
	int64_t ready_ms; /* how long its start may take; 0: ten seconds */

	/* Write what configuration it needs into s->dir, and the command line
	 * into `args`.  Called before each start; port and dir stay. */
	int (*command)(struct lab_server *s, struct lab_args *args);

	/* Does it serve?  1: yes; 0: not yet.  Must return by `deadline`. */
	int (*probe)(struct lab_server *s, int64_t deadline);

	/* Remove what it stored from s->dir.  NULL: it stores nothing. */
	int (*wipe)(struct lab_server *s);
};

struct lab_server {
	const struct lab_server_kind *kind;
	const void *options;    /* the kind's; the server frees it */
	char dir[96];           /* below TMPDIR */
	char log[112];          /* what it prints */
	char socket[112];       /* its unix socket; "" if it has none */
	int port;               /* on 127.0.0.1; 0 if it has none */
	int64_t ready_ns;       /* how long the last start took */
	int starts;             /* how often it was started */
	/* The rest is for lab/servers/server.c and lab/servers/wall.c. */
	struct lab_process *process;
	int reserved;           /* keeps the port ours while it is down */
	int64_t *wall_ns;       /* the page of lab/servers/wall.h, or NULL */
};

/*
 * Start a server and wait until it serves, as long as its kind may take.
 * `options` is malloc'ed; it is freed with the server, and if this fails.
 * Without `port` it lives on a unix socket alone.  `wall` makes
 * lab_server_step_wall() possible.  A failure tells how the server's log ends.
 * Free with lab_server_free().
 */
struct lab_server *lab_server_start(const struct lab_server_kind *kind,
				    void *options, bool port, bool wall);

/* Every thread that waits for a server to come up gives up once `stop` is set.
 * NULL: they wait on. */
void lab_server_stop_waiting(const atomic_bool *stop);
bool lab_server_waits(void);

/* Where it can be reached: its unix socket if it has no port. */
struct lab_address lab_server_address(const struct lab_server *s);

/* SIGTERM, and SIGKILL if that is not enough; SIGKILL at once.  Both return
 * when the process is gone, and are no-ops if it was. */
int lab_server_stop(struct lab_server *s);
int lab_server_kill(struct lab_server *s);

/* Start it again where it was, after lab_server_stop() if it runs; without its
 * data unless `keep_data`. */
int lab_server_restart(struct lab_server *s, bool keep_data);

/* Stop it in its tracks, every thread; and let it go on. */
int lab_server_pause(struct lab_server *s);
int lab_server_resume(struct lab_server *s);

bool lab_server_alive(struct lab_server *s);
pid_t lab_server_pid(const struct lab_server *s);

/* From now on its wall clock differs from the real one by `ms`. */
int lab_server_step_wall(struct lab_server *s, int64_t ms);

/* ... from the moment on at which it asks for the time for the nth time, from
 * 1. */
int lab_server_step_wall_at(struct lab_server *s, int64_t n, int64_t ms);

/* Kill it and remove its directory.  NULL is a no-op. */
void lab_server_free(struct lab_server *s);

/* For kinds: make or replace a file of s->dir, readable by us alone. */
__attribute__((format(printf, 3, 4))) int
lab_server_file(struct lab_server *s, const char *name, const char *format,
		...);

/* For kinds: remove a file or directory of s->dir; none is as good. */
int lab_server_remove(struct lab_server *s, const char *name);

#endif
