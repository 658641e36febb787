/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs inspect, list and break. */
#include "fake/store.h"

int fakei_inspect(struct dlk_session *base, const struct dlk_request *c,
		  void (*each)(const struct dlock_participant *p, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_INSPECT, NULL, 0, deadline, &place);
	rc = fakei_travel(s, &step, deadline, err);
	if (rc == 1)
		fakei_expire(s->fake, c->key);
	for (struct entry *e = *fakei_bucket(s->fake, c->key); e && rc == 1;
	     e = e->next) {
		struct dlock_participant p = {
			.size = sizeof(p),
			.label = e->label[0] ? e->label : NULL,
			.id = e->label[0] ? e->owner : NULL,
			.token = e->token,
			.remaining_ms = -1,
			.shared = e->mode == DLK_SHARED,
			.waiting = !e->granted,
			.since_ms = (int64_t)(e->token / 1000),
		};

		if (fakei_same(e, s->fake, c->key))
			each(&p, arg);
	}
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}

int fakei_list(struct dlk_session *base,
	       void (*each)(const struct dlock_lock_info *e, void *arg),
	       void *arg, dlk_time deadline, struct dlk_error *err)
{
	static const char *const kinds[] = { "lock", "semaphore" };
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_LIST, NULL, 0, deadline, &place);
	rc = fakei_travel(s, &step, deadline, err);
	for (size_t i = 0; i < BUCKETS && rc == 1; i++) {
		for (struct entry *e = fakei_table[i]; e; e = e->next) {
			struct dlock_lock_info out = {
				.size = sizeof(out),
				.name = e->name,
				.kind = kinds[e->kind],
				.permits = e->limit,
			};

			if (e->fake == s->fake)
				each(&out, arg);
		}
	}
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}

int fakei_break(struct dlk_session *base, const struct dlk_request *c,
		dlk_time deadline, struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_BREAK, NULL, 0, deadline, &place);
	rc = fakei_travel(s, &step, deadline, err);
	for (struct entry **p = fakei_bucket(s->fake, c->key); *p && rc >= 0;) {
		struct entry *e = *p;

		if (!fakei_same(e, s->fake, c->key) || !e->granted) {
			p = &e->next;
			continue;
		}
		if (e->session)
			dlk_lost(e->session, e->id, "broken");
		fakei_drop(p);
	}
	if (rc >= 0)
		fakei_wake_line(s->fake, c->key);
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}
