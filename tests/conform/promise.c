/* SPDX-License-Identifier: Apache-2.0 */
/* The store's declarations: capabilities, tables and statistics. */
#include <stdlib.h>
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"

static int try_open(struct conform *t, uint32_t require)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	int rc;

	opts.require = require;
	rc = dlock_open(&c, t->uri, &opts);
	CHECK_INT(c != NULL, ==, rc == DLOCK_OK);
	if (rc == DLOCK_OK)
		CHECK_INT(dlock_caps(c) & require, ==, require);
	dlock_close(c);
	return rc;
}

void case_promise_required(struct conform *t)
{
	for (int i = 0; i < 32; i++) {
		uint32_t bit = (uint32_t)1 << i;
		int rc = try_open(t, bit);

		CHECK_RC(rc, t->caps & bit ? DLOCK_OK : DLOCK_ENOTSUP);
		if (rc == DLOCK_OK)
			continue;
		if (dlock_cap_name(bit))
			CHECK_TEXT(dlock_errmsg(), dlock_cap_name(bit));
	}
	CHECK_OK(try_open(t, t->caps));
	CHECK_RC(try_open(t, UINT32_MAX), DLOCK_ENOTSUP);
}

/* Each declared capability has a case that can find the capability broken. */
void case_promise_covered(struct conform *t)
{
	uint32_t tested = 0;

	for (size_t i = 0; i < n_conform_cases; i++)
		tested |= conform_cases[i].needs;
	for (uint32_t bit = 1; bit; bit <<= 1) {
		if (!(t->caps & bit))
			continue;
		CHECK(dlock_cap_name(bit));
		if (!(tested & bit))
			FAIL("no case tests %s", dlock_cap_name(bit));
	}
}

struct found {
	const char *scheme;
	uint32_t caps;
	int n;
};

static void note_store(const struct dlock_store *s, void *arg)
{
	struct found *f = arg;

	CHECK(s->size >= sizeof(*s));
	CHECK(s->scheme && s->summary && s->summary[0]);
	CHECK_INT(s->missing != NULL, ==, s->caps == 0);
	if (strcmp(s->scheme, f->scheme) != 0)
		return;
	CHECK(!s->missing);
	f->caps = s->caps;
	f->n++;
}

static void note_param(const struct dlock_store_param *p, void *arg)
{
	CHECK(p->size >= sizeof(*p));
	CHECK(p->name && p->type && p->range && p->def && p->text);
	CHECK(p->text[0]);
	++*(int *)arg;
}

void case_promise_table(struct conform *t)
{
	size_t n = strcspn(t->uri, ":");
	char *scheme = strndup(t->uri, n);
	struct found f = { .scheme = scheme };
	int params = 0;

	CHECK(strncmp(dlock_uri(t->client), t->uri, n) == 0);
	dlock_each_store(note_store, &f);
	CHECK_INT(f.n, ==, 1);
	CHECK_INT(t->caps & ~f.caps, ==, 0);
	CHECK_OK(dlock_each_param(scheme, note_param, &params));
	CHECK_INT(params, >=, 8);
	CHECK_RC(dlock_each_param("nosuch", note_param, &params), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "nosuch");
	/* Capabilities that imply others. */
	if (t->caps & DLOCK_CAP_FENCE_DURABLE)
		CHECK(t->caps & DLOCK_CAP_FENCE);
	CHECK(!dlock_cap_name(0));
	CHECK(!dlock_cap_name(DLOCK_CAP_FENCE | DLOCK_CAP_LIST));
	free(scheme);
}

/* A client does each operation once: every counter has the exact value. */
void case_stats_count(struct conform *t)
{
	struct dlock_stats s;
	struct worker *p;
	dlock_client *c;
	dlock_hold *h;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	c = p->client;
	ASK_OK(p, ACQUIRE, patience_ms());
	ASK_OK(p, ACQUIRE, patience_ms());
	s = stats_of(c);
	CHECK_INT(s.asked, ==, 1);
	CHECK_INT(s.granted, ==, 1);
	CHECK_INT(s.holds, ==, 1);
	CHECK_INT(s.released, ==, 0);
	CHECK_INT(s.attempts, >=, 1);
	ASK_OK(p, RELEASE, 0);
	ASK_OK(p, RELEASE, 0);
	h = take(t->lock);
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	CHECK_INT(stats_of(c).waiters, ==, 1);
	give(h);
	HEAR_OK(p);
	s = stats_of(c);
	CHECK_INT(s.asked, ==, 3);
	CHECK_INT(s.granted, ==, 2);
	CHECK_INT(s.busy, ==, 1);
	CHECK_INT(s.released, ==, 1);
	CHECK_INT(s.holds, ==, 1);
	CHECK_INT(s.waiters, ==, 0);
	CHECK_INT(s.lost, ==, 0);
	CHECK_INT(s.attempts, >=, s.asked);
	s.size = sizeof(s.size) - 1;
	CHECK_RC(dlock_get_stats(c, &s), DLOCK_EINVAL);
	CHECK_RC(dlock_get_stats(NULL, &s), DLOCK_EINVAL);
	CHECK_RC(dlock_get_stats(c, NULL), DLOCK_EINVAL);
}
