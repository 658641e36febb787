/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/session.h"

#include <assert.h>
#include <stdio.h>

#include "core/base/container.h"
#include "core/loop/call.h"
#include "core/net/tls_uri.h"
#include "core/world/real.h"

/* A request has as long as the core grants: until then no connection is taken
 * for dead. */
static int64_t patience_ms(const struct dlk_uri *uri)
{
	int64_t ms = dlk_param_int(uri, "connect");

	if (ms > dlk_param_int(uri, "close"))
		ms = dlk_param_int(uri, "close");
	if (ms < dlk_param_int(uri, "ask"))
		ms = dlk_param_int(uri, "ask");
	return ms;
}

void dlki_session_place(struct dlki_session *s, struct dlk_session *base,
			uint16_t default_port,
			struct dlki_engine_options *options)
{
	const struct dlk_uri *uri = base->uri;
	const struct dlk_host *host = uri->hosts;

	s->base = base;
	if (uri->n_hosts == 0 || !host->name[0]) {
		options->place.path = uri->path;
		snprintf(s->server, sizeof(s->server), "%.110s", uri->path);
		return;
	}
	options->place.host = host->name;
	options->place.port = host->port ? host->port : default_port;
	dlki_address_text_of(options->place.host, options->place.port,
			     s->server);
}

int dlki_session_secure(struct dlki_session *s,
			struct dlki_engine_options *options,
			struct dlk_error *err)
{
	const char *warning;
	int rc = dlki_tls_open(&s->tls, &warning, s->base->uri, err);

	if (rc == 0 && warning)
		dlk_log(s->base, 1, "%s: %s", s->server, warning);
	options->tls = s->tls;
	return rc;
}

/* ---- Open and close ------------------------------------------------------ */

static int start(struct dlki_session *s, struct dlki_engine_options *options,
		 struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base->uri;
	int rc;

	options->uri = uri;
	options->label = s->base->label;
	options->connect_ms = dlk_param_int(uri, "connect");
	options->patience_ms = patience_ms(uri);
	s->world = dlki_real_new(err);
	if (!s->world)
		return err->code;
	s->world->resolves = s->base->attendant != NULL;
	options->world = s->world;
	s->engine = dlki_engine_new(options, err);
	if (!s->engine)
		return err->code;
	rc = dlki_drive_begin(s->engine, s->base->attendant, err);
	if (rc == 0)
		return 0;
	dlki_engine_free(s->engine);
	s->engine = NULL;
	return rc;
}

static void rouse(struct dlki_rouser *r)
{
	dlki_drive_rouse(
		DLKI_CONTAINER_OF(r, struct dlki_session, rouser)->engine);
}

int dlki_session_begin(struct dlki_session *s,
		       struct dlki_engine_options *options,
		       struct dlk_error *err)
{
	int rc;

	dlki_waiter_init(&s->greeting);
	s->opening = 1;
	s->rouser = (struct dlki_rouser){ .rouse = rouse };
	rc = start(s, options, err);
	if (rc == 0)
		dlki_rouser_join(&s->rouser);
	else
		dlki_session_close(s);
	return rc;
}

void dlki_session_start(struct dlki_session *s)
{
	dlki_session_lock(s);
	dlki_drive_start(s->engine);
	dlki_session_unlock(s);
}

int dlki_session_greeted(struct dlki_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	int up;

	dlki_session_lock(s);
	(void)dlki_drive(s->engine, &s->greeting, deadline);
	s->opening = 0;
	up = dlki_engine_is_up(s->engine);
	if (!up)
		dlki_engine_why(s->engine, err);
	dlki_session_unlock(s);
	if (!up && err->code == 0)
		dlk_fail(err, DLOCK_EUNREACHABLE, "%s: not connected in time",
			 s->server);
	return up ? 0 : err->code;
}

int dlki_session_open(struct dlki_session *s,
		      struct dlki_engine_options *options, dlk_time deadline,
		      struct dlk_error *err)
{
	int rc = dlki_session_begin(s, options, err);

	if (rc != 0)
		return rc;
	rc = dlki_session_greeted(s, deadline, err);
	if (rc != 0)
		dlki_session_close(s);
	return rc;
}

void dlki_session_close(struct dlki_session *s)
{
	assert(LIST_EMPTY(&s->calls));
	dlki_rouser_leave(&s->rouser);
	if (s->engine) {
		dlki_drive_end(s->engine);
		dlki_engine_free(s->engine);
	}
	dlki_real_free(s->world);
	dlki_tls_context_free(s->tls);
	s->engine = NULL;
	s->world = NULL;
	s->tls = NULL;
}

/* ---- News ---------------------------------------------------------------- */

void dlki_session_up(void *arg, const struct dlki_agreed *agreed, dlk_time now)
{
	struct dlki_session *s = arg;
	dlk_time way = dlki_engine_way(s->engine);

	dlk_answered(s->base, now - way, now);
	dlki_opcalls_reached(s, now + way);
	if (!s->opening)
		return;
	s->base->ttl_ms = agreed->lease_ms;
	s->base->margin_ms = agreed->margin_ms;
	s->base->linger_ms = agreed->linger_ms;
	s->base->check_ms = agreed->check_ms;
	s->base->caps &= agreed->caps;
	dlki_waiter_done(s->engine, &s->greeting);
}

void dlki_session_down(void *arg, dlk_time now)
{
	struct dlki_session *s = arg;

	(void)now;
	if (s->opening)
		dlki_waiter_done(s->engine, &s->greeting);
	dlki_opcalls_unreachable(s);
}

void dlki_session_moved(void *arg, const char *text, dlk_time now)
{
	struct dlki_session *s = arg;

	(void)now;
	dlki_session_warn(s, text);
	dlk_verify_all(s->base);
}

void dlki_session_warn(void *arg, const char *text)
{
	const struct dlki_session *s = arg;

	dlk_log(s->base, 1, "%s", text);
}
