/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands, as the bytes for the server.  Pure: no socket.
 *
 * A buffer takes several commands, to be sent together.  An ordinary command
 * needs no heap memory.
 */
#ifndef DLOCK_REDIS_COMMAND_H
#define DLOCK_REDIS_COMMAND_H

#include <dlock/backend.h>
#include <stddef.h>
#include <stdint.h>

struct redis_arg {
	const char *text;
	size_t len;
};

struct redis_commands {
	char *bytes; /* own, or from the heap */
	size_t len, room;
	int failed;  /* no memory: the bytes are not whole */
	char own[2048];
};

void dlki_redis_commands_init(struct redis_commands *out);
void dlki_redis_commands_free(struct redis_commands *out);

/* Begin the next command.  argc arguments follow, the name first. */
void dlki_redis_commands_begin(struct redis_commands *out, size_t argc);
void dlki_redis_commands_arg(struct redis_commands *out, const char *text,
			     size_t len);

/* Append arguments already in the form for the server. */
void dlki_redis_commands_put(struct redis_commands *out, const char *bytes,
			     size_t len);

/* Append a whole command. */
void dlki_redis_commands_argv(struct redis_commands *out, size_t argc,
			      const char *const argv[]);

#endif
