/* SPDX-License-Identifier: Apache-2.0 */
#include "core/client.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/attendant.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/keep.h"
#include "core/opening.h"
#include "core/registry.h"
#include "core/store.h"
#include "core/net/names.h"
#include "core/uri/uri.h"

static int require_caps(uint32_t want, uint32_t have, const char *scheme,
			struct dlk_error *err)
{
	char names[160] = "";
	size_t used = 0;

	for (uint32_t bit = 1; bit != 0; bit <<= 1) {
		const char *name = dlock_cap_name(bit);

		if (!(want & ~have & bit))
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%s", used ? ", " : "",
					 name ? name : "an unknown capability");
		if (used >= sizeof(names))
			break;
	}
	if (used == 0)
		return 0;
	return dlk_fail(err, DLOCK_ENOTSUP,
			"%s: cannot promise what is "
			"required: %s; see `dlock backends`",
			scheme, names);
}

static int take_options(dlock_options *own, const dlock_options *given,
			struct dlk_error *err)
{
	*own = (dlock_options)DLOCK_OPTIONS_INIT;
	if (!given)
		return 0;
	if (given->size < offsetof(dlock_options, password) ||
	    given->size > 4096)
		return dlk_fail(err, DLOCK_EINVAL,
				"dlock_options.size is %zu: "
				"start from DLOCK_OPTIONS_INIT",
				given->size);
	memcpy(own, given,
	       given->size < sizeof(*own) ? given->size : sizeof(*own));
	return 0;
}

/* The program's threads see to everything, and tell the program. */
static int have_no_threads(struct dlock_client *c, struct dlk_error *err)
{
	int fd = dlki_due_fd(&c->asyncs.due);
	int rc = fd < 0 ? errno : dlki_attendant_new(&c->attendant, fd);

	if (rc == 0)
		rc = dlki_pump_attend(c);
	if (rc != 0)
		return dlki_system(err, rc, "a client without threads");
	c->events.by_process = 1;
	dlki_log_by_process(&c->log, &c->asyncs.due);
	return 0;
}

static char *make_label(const char *given, const struct dlk_uri *uri)
{
	const char *label = given ? given : dlk_param_text(uri, "label");
	char host[65] = "";
	char *text;

	if (label)
		return strdup(label);
	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	if (asprintf(&text, "%s:%ld", host, (long)getpid()) < 0)
		return NULL;
	return text;
}

static void init_asyncs(struct dlki_asyncs *all)
{
	dlki_due_init(&all->due);
	TAILQ_INIT(&all->releases);
	TAILQ_INIT(&all->woken);
	TAILQ_INIT(&all->acquires);
	TAILQ_INIT(&all->asking);
	TAILQ_INIT(&all->paused);
	TAILQ_INIT(&all->over);
}

static int client_new(struct dlock_client **out,
		      const struct dlock_backend *backend,
		      const dlock_options *o, struct dlk_uri *uri,
		      struct dlk_error *err)
{
	struct dlock_client *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return dlki_nomem(err);
	c->session = calloc(1, backend->session_size);
	c->label = make_label(o->label, uri);
	rc = c->session && c->label ? dlki_owners_init(&c->owners, err) :
				      dlki_nomem(err);
	if (rc != 0) {
		free(c->session);
		free(c->label);
		free(c);
		return rc;
	}
	c->process = dlki_process();
	c->backend = backend;
	c->uri = uri;
	c->on_event = o->on_event;
	c->arg = o->arg;
	c->require = o->require;
	c->once = o->once;
	c->refs = 1;
	init_asyncs(&c->asyncs);
	dlki_ask_init(&c->ask, uri);
	dlki_rousers_init(&c->rousers);
	c->close_ms = dlk_param_int(uri, "close");
	c->max_hold_ms = dlk_param_int(uri, "max_hold");
	pthread_mutex_init(&c->mu, NULL);
	dlk_cond_init(&c->changed);
	dlki_pump_init(&c->pump, dlki_keep_give_up);
	dlki_log_init(&c->log, o->on_log, o->arg, c->label, uri->shown);
	dlki_names_begin();
	if (o->no_threads)
		rc = have_no_threads(c, err);
	if (rc == 0) {
		*out = c;
	} else {
		c->uri = NULL; /* the caller's still */
		dlki_client_destroy(c);
	}
	return rc;
}

/* The URI's parameters for claims that outlive a hold. */
static int set_up_passing(struct dlock_client *c, struct dlk_error *err)
{
	struct dlk_session *s = c->session;

	c->keep_ms = dlk_param_int(c->uri, "keep");
	c->passes = (uint32_t)dlk_param_int(c->uri, "passes");
	c->watches = (s->caps & DLOCK_CAP_WANTED) != 0;
	c->can_watch = DLKI_HAS(c->backend, watch_wanted) &&
		       (c->watches || !(c->backend->caps & DLOCK_CAP_WANTED));
	if (!c->watches && (c->keep_ms > 0 || c->passes > 0))
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: the store cannot tell when another client "
				"wants a lock, so that %s= is not possible",
				c->uri->scheme,
				c->keep_ms > 0 ? "keep" : "passes");
	if (s->ttl_ms > 0 && c->keep_ms > s->ttl_ms / 2)
		return dlk_fail(err, DLOCK_EINVAL,
				"keep=%lldms is more than half of the lease of "
				"%lldms: make keep= shorter or ttl= longer",
				(long long)c->keep_ms, (long long)s->ttl_ms);
	if (c->passes > 0)
		s->caps &= ~(uint32_t)DLOCK_CAP_FAIR;
	return 0;
}

/* A local store has no answer to wait for. */
static int set_up_release(struct dlock_client *c, struct dlk_error *err)
{
	int async = dlk_param_int(c->uri, "release") != 0;

	c->sends_releases = async && DLKI_HAS(c->backend, release_begin);
	if (async && !c->sends_releases && c->session->caps & DLOCK_CAP_REMOTE)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: the store cannot tell the answer to a "
				"release later, so that release=async is not "
				"possible",
				c->uri->scheme);
	return 0;
}

static int connect_store(struct dlock_client *c, struct dlk_error *err)
{
	uint32_t wanted = c->require;
	struct dlk_session *s = c->session;
	int64_t connect_ms = dlk_param_int(c->uri, "connect");
	int64_t ask_ms = dlki_ask_ms(&c->ask);
	int rc;

	/* A request must not outlast dlock_close(), which waits for the
	 * answer. */
	c->request_ms = connect_ms;
	if (c->request_ms > c->close_ms)
		c->request_ms = c->close_ms > ask_ms ? c->close_ms : ask_ms;
	rc = dlki_opening(c, c->once, err);
	if (rc != 0)
		return rc;
	rc = set_up_passing(c, err);
	if (rc == 0)
		rc = set_up_release(c, err);
	if (rc == 0)
		rc = require_caps(wanted, s->caps, c->uri->scheme, err);
	if (rc == 0 && (s->ttl_ms > 0 || s->check_ms > 0) && !c->backend->renew)
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "%s: the backend has leases "
			      "but no 'renew'",
			      c->uri->scheme);
	if (rc == 0)
		rc = dlki_threads_start(c, err);
	if (rc == 0) {
		rc = dlki_events_start(c, err);
		if (rc != 0) {
			pthread_mutex_lock(&c->mu);
			c->schedule.stop = 1;
			pthread_mutex_unlock(&c->mu);
			dlki_threads_stop(c);
		}
	}
	if (rc != 0) {
		dlki_pump_stop(c);
		DLKI_STORE(c, c->backend->close(c->session,
						dlki_after_ms(dlk_now(),
							      c->close_ms)));
	}
	return rc;
}

int dlki_client_make(struct dlock_client **out, const char *text,
		     const dlock_options *opts, struct dlk_error *err)
{
	char scheme[DLKI_SCHEME_MAX + 1];
	const struct dlock_backend *backend;
	struct dlk_uri *uri;
	dlock_options own;
	int rc;

	rc = take_options(&own, opts, err);
	if (rc == 0)
		rc = dlki_uri_scheme(text, scheme, err);
	if (rc == 0)
		rc = dlki_registry_find(&backend, scheme, err);
	if (rc == 0)
		rc = dlki_uri_parse(&uri, text, backend->params, own.password,
				    err);
	if (rc != 0)
		return rc;
	if (own.no_threads)
		own.require |= DLOCK_CAP_NO_THREADS;
	rc = require_caps(own.require, backend->caps, uri->scheme, err);
	if (rc == 0)
		rc = client_new(out, backend, &own, uri, err);
	if (rc != 0)
		dlki_uri_free(uri);
	return rc;
}

int dlki_client_connect(struct dlock_client *c, struct dlk_error *err)
{
	int rc = connect_store(c, err);

	if (rc == 0)
		atomic_store(&c->opened, 1);
	return rc;
}

static int open_client(struct dlock_client **out, const char *uri,
		       const dlock_options *opts, struct dlk_error *err)
{
	struct dlock_client *c;
	int rc = dlki_client_make(&c, uri, opts, err);

	if (rc != 0)
		return rc;
	rc = dlki_client_connect(c, err);
	if (rc != 0) {
		dlki_log_end(&c->log);
		dlki_client_destroy(c);
		return rc;
	}
	*out = c;
	return 0;
}

int dlock_open(dlock_client **out, const char *uri, const dlock_options *opts)
{
	struct dlki_scope s = dlki_enter();
	int rc;

	if (!out)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "dlock_open: out is NULL");
	else if (!uri)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "dlock_open: uri is NULL");
	else
		rc = open_client(out, uri, opts, &s.err);
	return dlki_leave_with(&s, rc);
}

/* Until the client is open, the session changes. */
static const struct dlk_session *session_of(const dlock_client *client)
{
	return client && atomic_load(&client->opened) ? client->session : NULL;
}

uint32_t dlock_caps(const dlock_client *client)
{
	const struct dlk_session *s = session_of(client);

	return s ? s->caps : 0;
}

int64_t dlock_ttl_ms(const dlock_client *client)
{
	const struct dlk_session *s = session_of(client);

	return s ? s->ttl_ms : 0;
}

int64_t dlock_linger_ms(const dlock_client *client)
{
	const struct dlk_session *s = session_of(client);

	return s ? s->linger_ms : 0;
}

const char *dlock_uri(const dlock_client *client)
{
	return client ? client->uri->shown : NULL;
}
