/* SPDX-License-Identifier: Apache-2.0 */
/* A server of a session: news, opening and closing. */
#include "backends/memcached/memcached.h"

#include "core/base/container.h"

/* ---- News ---------------------------------------------------------------- */

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	const struct dlki_session *s = arg;

	(void)now;
	dlk_wake(s->base, id);
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	const struct dlki_session *s = arg;
	const struct memc_ticket *t = dlki_memc_watched(
		DLKI_CONTAINER_OF(s, struct memc_server, engine), owner);

	(void)now;
	if (t)
		dlk_wanted(s->base, t->base.id);
}

static const struct dlki_news news = {
	.wake = on_wake,
	.wanted = on_wanted,
	.warn = dlki_session_warn,
	.moved = dlki_session_moved,
	.up = dlki_session_up,
	.down = dlki_session_down,
};

/* ---- Open and close ------------------------------------------------------ */

/* Wait for a server that is too young to grant: opening has time, while an
 * attempt may have none. */
static int wait_for_server(struct memc_server *s, dlk_time deadline,
			   struct dlk_error *err)
{
	struct dlki_engine *e = s->engine.engine;
	dlk_time ready;

	dlki_session_lock(&s->engine);
	ready = dlki_memc_store_grants_from(dlki_engine_store(e));
	if (ready <= dlk_deadline(deadline) && dlk_now() < ready)
		dlki_drive_sleep(e, ready);
	dlki_session_unlock(&s->engine);
	if (dlk_now() < ready)
		return dlk_fail(err, DLOCK_EUNREACHABLE, MEMC_IS_YOUNG,
				s->engine.server);
	return 0;
}

int dlki_memc_server_begin(struct memc_server *s, struct dlk_error *err)
{
	struct dlki_engine_options options = {
		.protocol = &dlki_memc_protocol,
		.news = &news,
		.arg = &s->engine,
		.given = &s->given,
	};
	int rc = 0;

	s->given.digest = s->digest;
	dlki_session_place(&s->engine, &s->base, MEMC_DEFAULT_PORT, &options);
	if (dlki_memc_uri_is_tls(s->base.uri))
		rc = dlki_session_secure(&s->engine, &options, err);
	if (rc != 0)
		return rc;
	return dlki_session_begin(&s->engine, &options, err);
}

int dlki_memc_server_await(struct memc_server *s, dlk_time deadline,
			   struct dlk_error *err)
{
	int rc = dlki_session_greeted(&s->engine, deadline, err);

	return rc != 0 ? rc : wait_for_server(s, deadline, err);
}
