/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is closed while it opens, or with much to give up. */
#include "support.h"

#include <dlock/async.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/outcome.h"

enum { HOLDS = 3000, WAY_MS = 2 }; /* there, and back */

static void name_locks(dlock_client *c, dlock_lock **l)
{
	for (int i = 0; i < HOLDS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%d", i);
		CHECK_OK(i % 10 ? dlock_mutex_new(&l[i], c, name) :
				  dlock_semaphore_new(&l[i], c, name, 1));
	}
}

/* In turn, the releases would take longer than a close may. */
EITHER_WAY(memcached_closing, many_holds_are_freed)
{
	dlock_lock **l = calloc(HOLDS, sizeof(dlock_lock *));
	dlock_hold **h = calloc(HOLDS, sizeof(dlock_hold *));
	dlock_client *c = NULL;
	char uri[128];
	int64_t begun;
	int left = 0;

	CHECK(l && h);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?protocol=%s",
		 lab_proxy_port(s.proxy), s.protocol);
	CHECK_OK(dlock_open(&c, uri, NULL));
	name_locks(c, l);
	for (int i = 0; i < HOLDS; i++) {
		h[i] = take(l[i]);
		dlock_lock_free(l[i]);
	}
	lab_proxy_delay(s.proxy, LAB_UP, WAY_MS);
	lab_proxy_delay(s.proxy, LAB_DOWN, WAY_MS);
	begun = now_ms();
	dlock_close(c);
	CHECK_INT(now_ms() - begun, <=, 2000 + slack_ms());
	name_locks(direct(&s, ""), l);
	for (int i = 0; i < HOLDS; i++) {
		drop_hold(h[i]);
		h[i] = NULL;
		left += dlock_acquire(l[i], 0, &h[i]) == DLOCK_EBUSY;
		dlock_release(h[i]);
		dlock_lock_free(l[i]);
	}
	CHECK_INT(left, ==, 0);
	free(h);
	free(l);
}

/* Opening waits until the server is 4 s old. */
CASE(memcached_closing, ends_an_open_at_a_young_server)
{
	struct scene s = scene_new("meta", NULL);
	struct outcome o = { 0 };
	dlock_client *c = NULL;
	int64_t begun;
	char uri[80];

	CHECK_INT(lab_server_kill(s.server), ==, 0);
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?connect=30s",
		 s.server->port);
	CHECK_OK(dlock_open_start(uri, NULL, &c, outcome_note, &o));
	nap_ms(300);
	begun = now_ms();
	dlock_close(c);
	CHECK_INT(now_ms() - begun, <=, 500 + slack_ms());
	CHECK_INT(o.rc, ==, DLOCK_ECANCELED);
}
