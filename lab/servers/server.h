/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers: real servers, each on a free port of 127.0.0.1 and in a
 * temporary directory.  They end when the process that started them ends (see
 * lab/base/process.h).
 *
 * This file is common to all kinds of servers.  A kind (redis.h, memcached.h)
 * is a struct lab_server_kind and a function that fills in options and calls
 * lab_server_start().
 *
 * Calls for one server must not overlap.  A forked child may make none.
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
	int64_t ready_ms; /* how long a start may take; 0: ten seconds */

	/* Write the configuration into s->dir, and the command line into
	 * `args`.  Called before each start; port and dir stay. */
	int (*command)(struct lab_server *s, struct lab_args *args);

	/* Whether the server serves.  1: yes; 0: not yet.  Must return by
	 * `deadline`. */
	int (*probe)(struct lab_server *s, int64_t deadline);

	/* Remove the server's data from s->dir.  NULL: the server stores no
	 * data. */
	int (*wipe)(struct lab_server *s);
};

struct lab_server {
	const struct lab_server_kind *kind;
	void *options;          /* the kind's */
	char dir[96];           /* below TMPDIR */
	char log[112];          /* the server's output */
	char socket[112];       /* the unix socket, or "" */
	int port;               /* on 127.0.0.1 */
	int starts;             /* how many starts so far */
	/* The rest is for lab/servers/server.c and lab/servers/wall.c. */
	struct lab_process *process;
	int reserved;           /* keeps the port ours while the server is
				 * down */
	int64_t *wall_ns;       /* the page of lab/servers/wall.h, or NULL */
};

/*
 * Start a server and wait until it serves, as long as the kind may take.  The
 * server keeps a copy of the options' `size` bytes, zeroes for NULL.  `wall`
 * makes lab_server_step_wall() possible.  The message of a failure has the end
 * of the server's log.  Free with lab_server_free().
 */
struct lab_server *lab_server_start(const struct lab_server_kind *kind,
				    const void *options, size_t size,
				    bool wall);

/* Make every thread that waits for a server to come up give up once `stop` is
 * set.  NULL: the threads wait on. */
void lab_server_stop_waiting(const atomic_bool *stop);
bool lab_server_waits(void);

struct lab_address lab_server_address(const struct lab_server *s);

/* Send SIGTERM, and SIGKILL if the server stays; SIGKILL at once.  Both return
 * when the process is gone, and are no-ops if it was. */
int lab_server_stop(struct lab_server *s);
int lab_server_kill(struct lab_server *s);

/* Start the server again on the same port, after lab_server_stop() if it runs;
 * without the data unless `keep_data`. */
int lab_server_restart(struct lab_server *s, bool keep_data);

/* Stop every thread of the server; and let them go on. */
int lab_server_pause(struct lab_server *s);
int lab_server_resume(struct lab_server *s);

bool lab_server_alive(struct lab_server *s);
pid_t lab_server_pid(const struct lab_server *s);

/* Shift the server's wall clock by `ms` from the real clock, from now on. */
int lab_server_step_wall(struct lab_server *s, int64_t ms);

/* ... from the server's nth look at the time on, from 1. */
int lab_server_step_wall_at(struct lab_server *s, int64_t n, int64_t ms);

/* Kill the server and remove the directory.  NULL is a no-op. */
void lab_server_free(struct lab_server *s);

/* For kinds: make or replace a file of s->dir, readable by us alone. */
__attribute__((format(printf, 3, 4))) int
lab_server_file(struct lab_server *s, const char *name, const char *format,
		...);

/* For kinds: remove a file or directory of s->dir; a missing one is fine. */
int lab_server_remove(struct lab_server *s, const char *name);

#endif
