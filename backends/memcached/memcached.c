/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "clock.h"
#include "polls.h"

#define LEAST_TTL_MS 500

static const char *const schemes[] = { "memcached", "memcached+unix", NULL };

static const struct dlk_param params[] = {
	{ .name = "protocol",
	  .type = DLK_CHOICE,
	  .def = "auto",
	  .choices = "auto|text|meta",
	  .text = "The protocol; auto uses meta if the server has it, from "
		  "1.6.13 on." },
	{ .name = "poll",
	  .type = DLK_DURATION,
	  .def = "100ms",
	  .min = 5,
	  .max = 60000,
	  .text = "The longest pause between two polls of a waiter; the "
		  "shortest is a fifth of it, but for the first ones, which "
		  "come after about 1, 2, 4 ... ms.  retry_min and retry_max "
		  "take precedence, from the first poll on." },
	{ .name = "connections",
	  .type = DLK_NUMBER,
	  .def = "16",
	  .min = 1,
	  .max = 256,
	  .text = "The most connections at a time." },
	{ .name = "token_base",
	  .type = DLK_NUMBER,
	  .def = "0",
	  .min = 0,
	  .max = INT64_C(1) << 53,
	  .text = "When the names of the locks moved here from another store, "
		  "in microseconds since 1970: tokens are larger.  The same "
		  "for all clients." },
	{ 0 }
};

static int check_uri(const struct dlk_uri *uri, struct dlk_error *err)
{
	int on_unix = strcmp(uri->scheme, "memcached+unix") == 0;

	if (uri->n_hosts > 1)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: one server, not %zu: when one of "
				"several fails, clients that notice it at "
				"different times have two holders; give each "
				"lock's clients the same single server",
				uri->n_hosts);
	if (on_unix && uri->n_hosts > 0 && uri->hosts[0].name[0])
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached+unix: write "
				"memcached+unix:///path/of/socket");
	if (on_unix && (!uri->path || !uri->path[1]))
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached+unix: no path; write "
				"memcached+unix:///path/of/socket");
	if (!on_unix && (uri->n_hosts == 0 || !uri->hosts[0].name[0]))
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: no host; write "
				"memcached://host:port/");
	if (!on_unix && uri->path && uri->path[0] && uri->path[1])
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: a server has no parts; leave out "
				"the path '%.100s'",
				uri->path);
	return 0;
}

/*
 * The server counts in whole seconds, by a timer that may be late and then
 * counts two at once: an item of n seconds lives for more than n - 2 and at
 * most n of them.  It gets one more, which is how far clock.c can tell; and as
 * it lives that long anyway, the lease is rounded up to a whole second.  The
 * common parameter's limit keeps it far below the 30 days from which on
 * memcached takes a number for a date.
 */
static int set_lease(struct memc_session *s, struct dlk_error *err)
{
	int64_t ttl_s = (s->base.ttl_ms + 999) / 1000;

	if (s->base.ttl_ms < LEAST_TTL_MS)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: parameter 'ttl': %lld ms; the "
				"server counts in seconds, %d ms is the least",
				(long long)s->base.ttl_ms, LEAST_TTL_MS);
	s->base.ttl_ms = ttl_s * 1000;
	s->base.linger_ms = INT64_C(1000) * MEMC_MORE_S;
	s->exptime_s = ttl_s + MEMC_MORE_S;
	s->mark_s = 3 * s->exptime_s;
	if (s->mark_s < MEMC_LEAST_MARK_S)
		s->mark_s = MEMC_LEAST_MARK_S;
	return 0;
}

/* A waiting writer polls often enough to keep its place at the gate.  A range
 * that the URI gives holds from the first look on. */
static void set_poll(struct memc_session *memc)
{
	struct dlk_session *s = &memc->base;
	int64_t most_ms = s->ttl_ms / 4;
	int given_min = dlk_param_given(s->uri, "retry_min");
	int given_max = dlk_param_given(s->uri, "retry_max");

	if (!given_max)
		s->poll_max_ms = dlk_param_int(s->uri, "poll");
	if (!given_min)
		s->poll_min_ms = s->poll_max_ms / 5;
	if (s->poll_max_ms > most_ms)
		s->poll_max_ms = most_ms;
	if (s->poll_min_ms > s->poll_max_ms)
		s->poll_min_ms = s->poll_max_ms;
	if (s->poll_min_ms < 1)
		s->poll_min_ms = 1;
	if (!given_min && !given_max)
		memc->early = dlki_memc_polls_early(s->poll_min_ms);
}

/* A server that is too young to grant is waited for here: opening has time,
 * while an attempt may have none. */
static int wait_for_server(struct memc_session *s, dlk_time deadline,
			   struct dlk_error *err)
{
	struct dlk_pooled *pooled = dlk_pool_take(s->pool, deadline, NULL, err);
	dlk_time ready;

	if (!pooled)
		return err->code;
	ready = ((struct memc_conn *)(void *)pooled)->grants_from;
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
	int rc = check_uri(base->uri, err);

	if (rc == 0)
		rc = set_lease(s, err);
	if (rc != 0)
		return rc;
	set_poll(s);
	s->prefix = dlk_param_text(base->uri, "prefix");
	s->token_base_us = (uint64_t)dlk_param_int(base->uri, "token_base");
	s->protocol = (enum memc_protocol)dlk_param_int(base->uri, "protocol");
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
	.params = params,
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
