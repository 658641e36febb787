/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rig of an engine with a store's protocol: the test plays the server.  The
 * suites have `rig_end` as .fini.
 */
#ifndef TESTS_LOOP_STORE_RIG_H
#define TESTS_LOOP_STORE_RIG_H

#include "tests/loop/rig_news.h"

enum { RIG_MAIN = 0 };

/* The owner is RIG_OWNER. */
extern struct dlk_request rig_request;
#define RIG_OWNER "00000000000000000000000000000001"

struct rig_store {
	const struct dlki_protocol *protocol;
	const struct dlk_param *params;
	uint16_t port;
	int64_t patience_ms;
};

/* End the engine before, if there is one; connect, and leave the greeting
 * open. */
void rig_open(const struct rig_store *store, const char *uri);
void rig_end(void);

/* The server closes the connection; and a turn. */
void rig_lose(int sock);

/* Let time pass until socket `sock` is there, which is then connected. */
void rig_connected(int sock);

/* The server sends a byte at a time, with a turn for each. */
void rig_say_slowly(int sock, const char *bytes);

/* Return the bytes sent by the client since the last call. */
const char *rig_heard(int sock);

/* Submit op i, with the other members as the test has set them; rig_submit():
 * and push. */
void rig_queue(int i, enum dlki_verb verb);
void rig_submit(int i, enum dlki_verb verb);

#endif
