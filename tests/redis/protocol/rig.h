/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with the Redis protocol in a scripted world: the test plays the
 * server.
 */
#ifndef TESTS_REDIS_PROTOCOL_RIG_H
#define TESTS_REDIS_PROTOCOL_RIG_H

#include "tests/loop/store_rig.h"

enum { RIG_EAR = 1 };

#define PING "*1\r\n$4\r\nPING\r\n"
#define TOKEN 1700000000000001

/* The ear's requests, and the answer to the second. */
#define INFO_SERVER "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
#define SUBSCRIBE                                                              \
	"*2\r\n$9\r\nSUBSCRIBE\r\n$44\r\n"                                     \
	"dlock:inbox:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\r\n"
#define SUBSCRIBED "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"

/* Connect, and leave the greeting open. */
void rig_begin(const char *uri);

/* ... and answer the greeting; `query` is more of the URI, "&key=plain". */
void rig_begin_up(const char *query);
void rig_up(void); /* ... of none: the .init of most suites */

/* The server sends a bulk string. */
void rig_say_string(int sock, const char *text);

/* The ear is connected to, or `sock` is in the place of it; and subscribed. */
void rig_ear_connects(int sock);

/* BUSY for op 0, and the ear is up. */
void rig_raise_ear(void);

/* A message of the notification channel. */
void rig_publish(const char *text);

/* How often is the word in the text? */
int rig_count(const char *text, const char *word);

#endif
