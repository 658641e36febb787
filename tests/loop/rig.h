/* SPDX-License-Identifier: Apache-2.0 */
/* The rig of an engine with the lines protocol. */
#ifndef TESTS_LOOP_RIG_H
#define TESTS_LOOP_RIG_H

#include "tests/loop/lines.h"
#include "tests/loop/rig_news.h"

static const dlk_time never = DLK_FOREVER;

/* Of the next engine; NULL: plain connections. */
extern struct dlki_tls_context *rig_tls;

/* With the lines protocol, in the place of the engine before; `label` as in
 * lines.h.  127.0.0.1:7000 and so on. */
void rig_init(const char *label, size_t n_addresses);

/* ... with a name for the test's world to resolve, or a path. */
void rig_init_host(const char *label, const char *host, const char *path);

/* ... and with the first connection greeted: socket 0. */
void rig_init_up(const char *label);
void rig_up(void); /* ... without a label: the .init of several suites */
/* ... may be called again, and is the .fini of the suites. */
void rig_free(void);

/* The server accepts, refuses or closes at this socket; and a turn. */
void rig_connect(int sock);
void rig_refuse(int sock, int error);
void rig_end(int sock);

/* Submit op i; and push. */
void rig_queue(int i, enum dlki_verb verb, dlk_time deadline);
void rig_submit(int i, enum dlki_verb verb, dlk_time deadline);
void rig_push(void);

#endif
