/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The URI of a Redis store: parameters and place; and what the store promises,
 * with key=plain and without.  Pure.
 */
#ifndef DLOCK_REDIS_URI_H
#define DLOCK_REDIS_URI_H

#include <dlock/backend.h>

enum { RD_DEFAULT_PORT = 6379 };

#define RD_CAPS_PLAIN							       \
	(DLOCK_CAP_REMOTE | DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE |        \
	 DLOCK_CAP_EXPIRE | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST |	       \
	 DLOCK_CAP_NO_THREADS)
#define RD_CAPS								       \
	(RD_CAPS_PLAIN | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FAIR | \
	 DLOCK_CAP_WAKE | DLOCK_CAP_WANTED | DLOCK_CAP_RESIZE |		       \
	 DLOCK_CAP_PERMITS | DLOCK_CAP_UPGRADE | DLOCK_CAP_REVOKE_PERMITS)

/* Rows for each scheme's table of parameters. */
#define RD_URI_PARAMS							       \
	{ .name = "db", .type = DLK_NUMBER, .def = "0", .max = 65535,	       \
	  .text = "The database, if the path is not /N." },		       \
	{ .name = "order", .type = DLK_CHOICE, .def = "fair",		       \
	  .choices = "fair|any",					       \
	  .text = "Which waiter is next: the one that has waited "	       \
		  "longest, or the quickest." },			       \
	{ .name = "key", .type = DLK_CHOICE, .def = "dlock",		       \
	  .choices = "dlock|plain",					       \
	  .text = "plain: mutexes that also exclude programs without "	       \
		  "dlock, which take the key NAME by SET NX PX; no FAIR, "     \
		  "WAKE, WANTED, SHARED, COUNT." },			       \
	{ .name = "client_name", .type = DLK_TEXT, .min = 1, .max = 64,	       \
	  .text = "The name of our connections in CLIENT LIST." },	       \
	{ .name = "password_file", .type = DLK_TEXT, .min = 1,		       \
	  .max = 4096,							       \
	  .text = "A file, readable by its owner only, whose first line "      \
		  "is the password." }

/* Does the server speak TLS? */
int dlki_redis_uri_is_tls(const struct dlk_uri *uri);

/* Is the server at a unix socket with the URI's path? */
int dlki_redis_uri_is_unix(const struct dlk_uri *uri);

/* Check the URI: 0, or EINVAL.  *db: the number of the database. */
int dlki_redis_uri_check(const struct dlk_uri *uri, uint32_t *db,
			 struct dlk_error *err);

#endif
