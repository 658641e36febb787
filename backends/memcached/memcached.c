/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"
#include "polls.h"
#include "uri.h"

static const char *const schemes[] = { "memcached", "memcached+unix", NULL };

/* A server that is too young to grant is waited for here: opening has time,
 * while an attempt may have none. */
static int wait_for_server(struct memc_session *s, dlk_time deadline,
			   struct dlk_error *err)
{
	struct dlk_pooled *pooled = dlk_pool_take(s->pool, deadline, NULL, err);
	dlk_time ready;

	if (!pooled)
		return err->code;
	ready = ((struct memc_conn *)(void *)pooled)->run.grants_from;
	dlk_pool_give(s->pool, pooled, 1);
	if (ready > deadline)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"memcached: the server was started just now");
	if (ready > dlk_now())
		dlki_memc_sleep_until(ready);
	return 0;
}

static void free_session(struct memc_session *s)
{
	dlk_pool_free(s->pool);
	dlk_server_free(s->server);
	pthread_mutex_destroy(&s->home_mu);
	dlki_memc_polls_free(s->polls);
	dlki_memc_clock_free(s->clock);
}

static int memc_open(struct dlk_session *base, dlk_time deadline,
		     struct dlk_error *err)
{
	struct memc_session *s = memc_session(base);
	size_t most = (size_t)dlk_param_int(base->uri, "connections");
	int rc = dlki_memc_uri_check(base->uri, err);
	struct memc_pauses pauses;

	if (rc == 0)
		rc = dlki_memc_uri_lease(&base->ttl_ms, &s->lives, err);
	if (rc != 0)
		return rc;
	base->linger_ms = INT64_C(1000) * MEMC_MORE_S;
	pauses = dlki_memc_uri_pauses(base->uri, base->ttl_ms);
	base->poll_min_ms = pauses.min_ms;
	base->poll_max_ms = pauses.max_ms;
	s->early = pauses.early;
	s->polls = dlki_memc_polls_new();
	if (!s->polls)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	s->clock = dlki_memc_clock_new();
	if (!s->clock) {
		dlki_memc_polls_free(s->polls);
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	}
	pthread_mutex_init(&s->home_mu, NULL);
	s->server = dlki_memc_server_new(s);
	if (s->server)
		s->pool = dlk_pool_new(&dlki_memc_pool_type, s, most, most);
	rc = s->pool ? wait_for_server(s, deadline, err) :
		       dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (rc != 0)
		free_session(s);
	return rc;
}

static void memc_close(struct dlk_session *base, dlk_time deadline)
{
	(void)deadline;
	free_session(memc_session(base));
}

const struct dlock_backend dlki_memcached_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks in a memcached server, polled",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_INSPECT,
	.params = dlki_memc_params,
	.session_size = sizeof(struct memc_session),
	.ticket_size = sizeof(struct memc_ticket),
	.open = memc_open,
	.close = memc_close,
	.attempt = dlki_memc_attempt,
	.renew = dlki_memc_renew,
	.release = dlki_memc_release,
	.inspect = dlki_memc_inspect,
	.break_ = dlki_memc_break,
	.release_all = dlki_memc_release_all,
	.watch_wanted = dlki_memc_watch_wanted,
	.revoke = dlki_memc_revoke,
};
