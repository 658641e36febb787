/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted world: the test plays the clock, the server and the network.
 *
 * wait() returns the events brought about by the test.  Without event and kick,
 * wait() moves the clock to `until`; without bytes, await() moves the clock by
 * a millisecond.  Sockets are edge-triggered: an event is reported once.
 */
#ifndef TESTS_LOOP_SCRIPT_H
#define TESTS_LOOP_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "core/world/world.h"

enum { SCRIPT_SOCKS = 16, SCRIPT_BYTES = 256 * 1024 };

struct script_sock {
	int is_open, writable_wanted;
	enum dlki_set set;
	struct dlki_tag tag;
	struct dlki_address to;
	int finish;        /* result of finish() */
	unsigned int bits; /* of the next event */
	char *in, *out;    /* from and to the server */
	size_t in_from, in_to, out_len;
	int end;           /* after `in`: 1: the end; < 0: an error */
	size_t room;       /* that write() takes until the next script_room() */
	size_t most;       /* that read() returns at a time; 0: any */
};

struct script {
	struct dlki_world base;
	dlk_time clock;
	dlk_time per_write; /* the clock moves so far in each write() */
	struct script_sock socks[SCRIPT_SOCKS];
	int opened;         /* sockets so far, and the next number */
	int connect_error, chance_error;
	int named;          /* result of resolve(), with `names` */
	int resolved;       /* how often it was called */
	struct dlki_address names[8];
	int kicks[DLKI_SETS];
	int waits, reads, awaits, writes;
	dlk_time until; /* of the last wait() */
	struct dlki_tag stray; /* an event to be added, once */
	unsigned int stray_bits;
};

void script_init(struct script *s);
void script_free(struct script *s);

/* The connection stands, or does not, for this reason (negative errno). */
void script_connected(struct script *s, int sock);
void script_refused(struct script *s, int sock, int error);

/* The server sends: an edge. */
void script_says(struct script *s, int sock, const char *text);
void script_says_bytes(struct script *s, int sock, const char *b, size_t n);

/* The server closes: with the bytes before as a single edge. */
void script_ends(struct script *s, int sock);

/* The name leads to 127.0.0.1 at these `n` ports; n < 0: an error of
 * resolve().  A kick says so. */
void script_named(struct script *s, int n, const uint16_t ports[]);

/* The kernel takes `n` bytes more. */
void script_room(struct script *s, int sock, size_t n);

/* The text written since the last call. */
const char *script_heard(struct script *s, int sock);

#endif
