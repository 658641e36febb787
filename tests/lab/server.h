/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis servers of the cases, and the state of processes and paths.
 */
#ifndef DLOCK_TESTS_LAB_SERVER_H
#define DLOCK_TESTS_LAB_SERVER_H

#include "lab/servers/redis.h"

/* Start a server, or fail. Free with lab_server_free(). */
struct lab_server *redis(const struct lab_redis_options *options);

/* Send `command`, and expect `reply`. */
void expect(struct lab_server *s, const char *command, const char *reply);

/* Conditions for lab_wait_until(): of a pid_t, and of a path. */
int process_gone(void *pid);
int path_gone(void *path);

#endif
