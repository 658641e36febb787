/* SPDX-License-Identifier: Apache-2.0 */
/* The backend, opening and closing a session, and its news. */
#include "backends/memcached/memcached.h"

#include <errno.h>
#include <time.h>

#define YOUNG "memcached: the server was started just now"

/* ---- News ---------------------------------------------------------------- */

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	struct memc_session *s = arg;

	(void)now;
	dlk_wake(&s->base, id);
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	struct memc_session *s = arg;
	const struct memc_ticket *t = dlki_memc_watched(s, owner);

	(void)now;
	if (t)
		dlk_wanted(&s->base, t->base.id);
}

static void on_warn(void *arg, const char *text)
{
	struct memc_session *s = arg;

	dlk_log(&s->base, 1, "%s", text);
}

static void on_moved(void *arg, const char *text, dlk_time now)
{
	struct memc_session *s = arg;

	(void)now;
	dlki_session_moved(&s->engine, text);
}

static void on_up(void *arg, const struct dlki_terms *terms, dlk_time now)
{
	struct memc_session *s = arg;

	dlki_session_up(&s->engine, terms, now);
}

static void on_down(void *arg, dlk_time now)
{
	struct memc_session *s = arg;

	(void)now;
	dlki_session_down(&s->engine);
}

static const struct dlki_news news = {
	.wake = on_wake,
	.wanted = on_wanted,
	.warn = on_warn,
	.moved = on_moved,
	.up = on_up,
	.down = on_down,
};

/* ---- Open and close ------------------------------------------------------ */

/* A server that is too young to grant is waited for here: opening has time,
 * while an attempt may have none. */
static int wait_for_server(struct memc_session *s, dlk_time deadline,
			   struct dlk_error *err)
{
	struct timespec ts;
	dlk_time ready;

	dlki_session_lock(&s->engine);
	ready = dlki_memc_store_grants_from(
		dlki_engine_store(s->engine.engine));
	dlki_session_unlock(&s->engine);
	if (ready > deadline)
		return dlk_fail(err, DLOCK_EUNREACHABLE, YOUNG);
	ts.tv_sec = ready / 1000000000;
	ts.tv_nsec = ready % 1000000000;
	while (ready > 0 && clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts,
					    NULL) == EINTR)
		continue;
	return 0;
}

static void memc_close(struct dlk_session *base, dlk_time deadline)
{
	(void)deadline; /* only the end of a thread is waited for */
	dlki_session_close(&dlki_memc_session(base)->engine);
}

static int memc_open(struct dlk_session *base, dlk_time deadline,
		     struct dlk_error *err)
{
	struct memc_session *s = dlki_memc_session(base);
	struct dlki_engine_options options = {
		.protocol = &dlki_memc_protocol,
		.news = &news,
		.arg = s,
	};
	struct memc_pauses pauses;
	int rc = dlki_memc_uri_check(base->uri, err);

	if (rc != 0)
		return rc;
	dlki_session_place(&s->engine, base, MEMC_DEFAULT_PORT, &options);
	rc = dlki_session_open(&s->engine, &options, DLKI_BIT(DLKI_ANSWERS),
			       deadline, err);
	if (rc != 0)
		return rc;
	pauses = dlki_memc_uri_pauses(base->uri, base->ttl_ms);
	base->poll_min_ms = pauses.min_ms;
	base->poll_max_ms = pauses.max_ms;
	rc = wait_for_server(s, deadline, err);
	if (rc != 0)
		memc_close(base, deadline);
	return rc;
}

static const char *const schemes[] = { "memcached", "memcached+unix", NULL };

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
