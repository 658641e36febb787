/* SPDX-License-Identifier: Apache-2.0 */
/* The URI of a memcached store: parameters, place, lease and polls; what the
 * store promises; and the messages about a server.  Pure. */
#ifndef DLOCK_MEMCACHED_PROTOCOL_URI_H
#define DLOCK_MEMCACHED_PROTOCOL_URI_H

#include "backends/memcached/protocol/run.h"

enum { MEMC_DEFAULT_PORT = 11211 };

/* The parameter `protocol`. */
enum memc_protocol { MEMC_AUTO, MEMC_TEXT, MEMC_META };

#define MEMC_CAPS                                                              \
	(DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |               \
	 DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_EXPIRE |        \
	 DLOCK_CAP_INSPECT | DLOCK_CAP_UPGRADE | DLOCK_CAP_PERMITS |           \
	 DLOCK_CAP_RESIZE | DLOCK_CAP_NO_THREADS)

/* Rows for each scheme's table of parameters. */
#define MEMC_URI_PARAMS                                                        \
	{ .name = "protocol", .type = DLK_CHOICE, .def = "auto",               \
	  .choices = "auto|text|meta",                                         \
	  .text = "The protocol; auto uses meta if the server has it, from "   \
		  "1.6.13 on." },                                              \
	{ .name = "poll", .type = DLK_DURATION, .def = "100ms", .min = 5,      \
	  .max = 60000,                                                        \
	  .text = "The longest pause between two polls of a waiter; the "      \
		  "shortest is a fifth of it, but for the first ones, which "  \
		  "come after about 1, 2, 4 ... ms.  retry_min and retry_max " \
		  "take precedence, from the first poll on." },                \
	{ .name = "token_base", .type = DLK_NUMBER, .def = "0",                \
	  .max = INT64_C(1) << 53,                                             \
	  .text = "When the names of the locks moved here from another "       \
		  "store, in microseconds since 1970: tokens are larger.  "    \
		  "The same for all clients." },                               \
	{ .name = "password_file", .type = DLK_TEXT, .min = 1, .max = 4096,    \
	  .text = "A file, readable by its owner only, whose first line is "   \
		  "the password of the URI's user." }

/* Does the server speak TLS? */
int dlki_memc_uri_is_tls(const struct dlk_uri *uri);

/* Is the server at a unix socket with the URI's path? */
int dlki_memc_uri_is_unix(const struct dlk_uri *uri);

/* Check the user and the password: 0, or EINVAL. */
int dlki_memc_uri_check_login(const struct dlk_uri *uri, struct dlk_error *err);

/* Check the place of one server, and the login: 0, or EINVAL. */
int dlki_memc_uri_check(const struct dlk_uri *uri, struct dlk_error *err);

/* Set the URI's lease, in and out as in struct dlk_session, and how long items
 * live.  0, or EINVAL. */
int dlki_memc_uri_lease(int64_t *ttl_ms, struct memc_lives *lives,
			struct dlk_error *err);

/* The range of a waiter's pauses, and how many pauses come before it. */
struct memc_pauses {
	int64_t min_ms, max_ms;
	int early;
};

struct memc_pauses dlki_memc_uri_pauses(const struct dlk_uri *uri,
					int64_t ttl_ms);

/* ---- Messages ------------------------------------------------------------ */

/* Each names the server first. */
#define MEMC_WANTS_LOGIN                                                       \
	"%s: the server wants a login (its -Y): give user and password in "    \
	"the URI, or password_file="
#define MEMC_REFUSED_LOGIN "%s: the server refused our user and password"
#define MEMC_WANTS_NO_LOGIN                                                    \
	"%s: the server has no passwords (it was started without -Y), but "    \
	"the URI gives one"
#define MEMC_STATS_ARE_SHORT                                                   \
	"%s: the server does not tell its time, uptime and version"
#define MEMC_RUN_IS_OVER                                                       \
	"%s: the connection leads to another run of the server"
#define MEMC_IS_YOUNG "%s: the server was started just now"
#define MEMC_WAS_STOPPED                                                       \
	"%s: the server was stopped for a while, or takes more than a second " \
	"to answer"
#define MEMC_IS_BUSY "%s: the lock changes hands too fast"
#define MEMC_HAS_NO_CAS                                                        \
	"%s: the server gives items no cas; start it without -C"
#define MEMC_IS_FULL                                                           \
	"%s: the server is out of memory, and without the meta protocol a "    \
	"release needs some: give it more"
#define MEMC_NO_META                                                           \
	"%s: version %ld.%ld.%ld has no meta protocol, 1.6.13 does; use "      \
	"protocol=text"

#define MEMC_IS_PROXIED                                                        \
	"memcached: a connection leads to another run of the server: a proxy " \
	"keeps connections; give the address of the server itself"

/* Then the difference, and the prefix. */
#define MEMC_OTHER_POOL                                                        \
	"%.60s is in another pool: %.110s; give all clients one pool, or "     \
	"another prefix, or end them and delete '%s.p' on each server"

/* With the key of the item. */
#define MEMC_IS_FOREIGN                                                        \
	"memcached: the item '%s' is none that dlock wrote: delete it, or "    \
	"choose another 'prefix'"

#endif
