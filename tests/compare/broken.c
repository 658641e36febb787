/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/broken.h"

#include <dlock/backend.h>
#include <stdio.h>
#include <stdlib.h>

#include "dlock_config.h"

extern const struct dlock_backend dlki_file_backend;

static void add(struct dlock_backend *b)
{
	if (dlock_backend_register(b) == DLOCK_OK)
		return;
	fprintf(stderr, "%s\n", dlock_errmsg());
	abort();
}

static enum dlk_verdict steal(struct dlk_ticket *t, dlk_time deadline,
			      struct dlk_error *err)
{
	enum dlk_verdict v = dlki_file_backend.attempt(t, deadline, err);

	if (v == DLK_BUSY)
		dlki_file_backend.break_(t->session, &t->request, deadline,
					 err);
	return v;
}

static enum dlk_verdict alone(struct dlk_ticket *t, dlk_time deadline,
			      struct dlk_error *err)
{
	if (t->request.kind == DLK_LOCK)
		t->request.mode = DLK_EXCLUSIVE;
	else if (t->request.kind == DLK_SEMAPHORE)
		t->request.limit = 1;
	return dlki_file_backend.attempt(t, deadline, err);
}

#if DLOCK_HAVE_REDIS
extern const struct dlock_backend dlki_redis_backend;

static enum dlk_verdict late_attempt(struct dlk_ticket *t, dlk_time deadline,
				     struct dlk_error *err)
{
	enum dlk_verdict v = dlki_redis_backend.attempt(t, deadline, err);

	t->since = dlk_now();
	return v;
}

static void late_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		       enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		       struct dlk_error *err)
{
	dlki_redis_backend.renew(s, t, verdict, n, deadline, err);
	for (size_t i = 0; i < n; i++)
		t[i]->since = dlk_now();
}

static void add_late(void)
{
	static const char *const schemes[] = { "late", NULL };
	static struct dlock_backend late;

	late = dlki_redis_backend;
	late.schemes = schemes;
	late.attempt = late_attempt;
	late.renew = late_renew;
	add(&late);
}
#else
static void add_late(void)
{
}
#endif

void broken_register(void)
{
	static const char *const steals[] = { "steal", NULL };
	static const char *const unfairs[] = { "unfair", NULL };
	static const char *const alones[] = { "alone", NULL };
	static struct dlock_backend thief, liar, loner;

	thief = dlki_file_backend;
	thief.schemes = steals;
	thief.attempt = steal;
	add(&thief);
	loner = dlki_file_backend;
	loner.schemes = alones;
	loner.attempt = alone;
	add(&loner);
	liar = dlki_file_backend;
	liar.schemes = unfairs;
	liar.caps |= DLOCK_CAP_FAIR;
	add(&liar);
	add_late();
}
