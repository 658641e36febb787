/* SPDX-License-Identifier: Apache-2.0 */
/* What is told about the others. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

static void keep_label(const struct dlock_participant *p, void *arg)
{
	snprintf(arg, 256, "%s", p->label);
}

/* A label that is too long ends before a character, not within it. */
EITHER_WAY(memcached_inspect, label_is_whole_characters)
{
	static const char *const last[] = { "\u00e9", "\u20ac", "\U0001f512" };
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *theirs = mutex(direct(&s, ""), "x");

	for (int spare = 1; spare <= 4; spare++) {
		for (int i = 0; i < 3; i++) {
			dlock_options o = DLOCK_OPTIONS_INIT;
			dlock_client *c = NULL;
			dlock_lock *l = NULL;
			char label[160], seen[256] = "", uri[64];
			dlock_hold *h;
			size_t at;

			memset(label, 'l', sizeof(label));
			snprintf(label + 128 - spare, 32, "%s", last[i]);
			o.label = label;
			snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/",
				 s.server->port);
			CHECK_OK(dlock_open(&c, uri, &o));
			CHECK_OK(dlock_mutex_new(&l, c, "x"));
			h = take(l);
			CHECK_OK(dlock_inspect(theirs, keep_label, seen,
					       patience_ms()));
			CHECK(!dlki_text_flaw(seen, strlen(seen), &at));
			CHECK_INT(strlen(seen), ==,
				  strlen(label) <= 128 ? (int)strlen(label) :
							 128 - spare);
			give(h);
			dlock_lock_free(l);
			dlock_close(c);
		}
	}
	scene_end(&s);
}

static void keep_participant(const struct dlock_participant *p, void *seen)
{
	*(struct dlock_participant *)seen = *p;
}

/* Its tokens count from the server's start: they are no times. */
EITHER_WAY(memcached_inspect, does_not_know_since_when)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *l = mutex(direct(&s, ""), "x");
	struct dlock_participant seen = { .since_ms = -1 };
	dlock_hold *h = take(l);

	CHECK_OK(dlock_inspect(l, keep_participant, &seen, patience_ms()));
	CHECK(seen.token == dlock_token(h));
	CHECK_INT(seen.since_ms, ==, 0);
	give(h);
}
