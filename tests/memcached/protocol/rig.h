/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with the memcached protocol in a scripted world: the test plays the
 * server, which was started at RIG_BORN and counts 100 s at the greeting.
 */
#ifndef TESTS_MEMCACHED_PROTOCOL_RIG_H
#define TESTS_MEMCACHED_PROTOCOL_RIG_H

#include "tests/loop/store_rig.h"

#define RIG_KEY "dlock.1700000000.lnn"
#define RIG_BASE UINT64_C(1700000003000000)
#define RIG_OTHER "0000000000000000000000000000000f"
#define RIG_WITNESS "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"

/* The text of an item at the gate: of an owner, after the ADDth add. */
#define RIG_ITEM(owner, add) "dlock1 " owner " 0." add " 1 me"

#define OURS RIG_ITEM(RIG_OWNER, "1")
#define THEIRS RIG_ITEM(RIG_OTHER, "1")

/* No item; of rig_got(). */
#define NONE rig_got(NULL, 0)

/* Requests: the first of an attempt, the gets of the gate and of the mark, and
 * the greeting up to the question for the meta protocol. */
#define ADD "add " RIG_KEY " 0 13 48\r\n" OURS "\r\n"
#define MG "mg " RIG_KEY " v c t\r\n"
#define MG_MARK "mg " RIG_KEY ".m v c t\r\n"
#define GREETING                                                               \
	"stats\r\nadd dlock.0 0 0 32\r\n" RIG_WITNESS "\r\ngets dlock.0\r\n"

/* Connect, and leave the greeting open; of the URI, "&poll=50ms". */
void rig_begin(const char *query);

/* The same with user and password, "me" and "secret". */
void rig_begin_login(const char *query);

/* ... and answer the greeting; `meta`: the server speaks the meta protocol. */
void rig_begin_up(const char *query, int meta);
void rig_up(void); /* ... with the meta protocol: the .init of most suites */

/* The answer to `stats`, of this run and another: with a clock that shows so
 * many seconds.  Static. */
const char *rig_stats(uint64_t born_s, unsigned int uptime_s);

/* The answer to the greeting's requests. */
void rig_welcome(int sock, unsigned int uptime_s, int meta);

/* Return the answer to a get in the rig's protocol; NULL: there is no item.
 * Static, for the next few calls. */
const char *rig_got(const char *text, unsigned int cas);

/* The server says all of these, up to NULL. */
void rig_say_all(const char *first, ...);

/* The server grants op 0, or the attempt under way: the item has the cas 5. */
void rig_grant(void);

/* Op 0 is granted, and ops 1 and 2 are of the same claim. */
void rig_hold(void);

/* Is the connection to RIG_MAIN open? */
int rig_is_open(void);

/* Op i has failed, with `why` in the message. */
void rig_expect_failed(int i, const char *why);

/* The client has sent these bytes since the last call, and no others. */
void rig_expect(const char *bytes);

#endif
