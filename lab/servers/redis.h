/* SPDX-License-Identifier: Apache-2.0 */
/* Private Redis servers: see lab/servers/server.h. */
#ifndef DLOCK_LAB_REDIS_H
#define DLOCK_LAB_REDIS_H

#include "lab/servers/server.h"

/* Zeroed: a server on TCP, no password, no data. */
struct lab_redis_options {
	bool aof;              /* append-only file, synced at every write */
	bool unix_socket;      /* also on s->socket */
	const char *password;  /* of the default user */
	const char *users;     /* ACL lines: "user app on >pw ~a:* +get\n" */
	const char *maxmemory; /* "20mb" */
	const char *policy;    /* maxmemory-policy */
	const struct lab_server *replica_of;
	const char *config;    /* more lines of redis.conf */
	bool wall;             /* lab_server_step_wall() is possible */
};

/*
 * Start a redis-server.  NULL: all zeroes.  The strings must live until the
 * server is freed.  The configuration is redis.conf in the server's directory,
 * so no password stands in a command line.
 */
struct lab_server *lab_redis_start(const struct lab_redis_options *options);

/*
 * Run a command, as an all-mighty user of the lab, whatever users the server
 * has; on a new connection, in at most five seconds.  The words of the command
 * are separated by blanks, or in double quotes.
 *
 * `reply` gets the text of a simple reply or string; integers in digits, nil as
 * "", arrays as in the protocol.  An error reply is a failure.  `reply` may be
 * NULL, and size 0.
 */
__attribute__((format(printf, 4, 5))) int
lab_redis_do(struct lab_server *s, char *reply, size_t size,
	     const char *format, ...);

/* The number behind "field:" in INFO, or -1. */
int64_t lab_redis_info(struct lab_server *s, const char *field);

/* Wait until a replica is in step with the master. */
int lab_redis_wait_synced(struct lab_server *replica, int64_t timeout_ms);

/* The server's own idea of the time: milliseconds since 1970, or -1. */
int64_t lab_redis_time_ms(struct lab_server *s);

#endif
