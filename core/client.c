/* SPDX-License-Identifier: Apache-2.0 */
#include "core/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/registry.h"
#include "core/uri.h"

int dlki_client_ours(const struct dlock_client *client, struct dlk_error *err)
{
	if (client->process == dlki_process())
		return 0;
	return dlk_fail(err, DLOCK_EFORKED,
			"the client was opened before fork(); open one here");
}

int dlki_client_begin(struct dlock_client *client, struct dlk_error *err)
{
	int rc = dlki_client_ours(client, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&client->mu);
	if (client->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	else
		client->calls++;
	pthread_mutex_unlock(&client->mu);
	return rc;
}

void dlki_client_end(struct dlock_client *client)
{
	pthread_mutex_lock(&client->mu);
	client->calls--;
	if (client->closing)
		pthread_cond_broadcast(&client->changed);
	dlki_client_unlock(client);
}

static void destroy(struct dlock_client *client)
{
	dlki_owners_destroy(&client->owners);
	dlki_uri_free(client->uri);
	pthread_cond_destroy(&client->changed);
	pthread_mutex_destroy(&client->mu);
	dlki_heap_destroy(&client->lease.work);
	dlki_heap_destroy(&client->lease.clean);
	dlki_heap_destroy(&client->lease.expiry);
	free(client->slots.v);
	free(client->session);
	free(client->label);
	free(client);
}

void dlki_client_unlock(struct dlock_client *client)
{
	int last = client->refs == 0;

	pthread_mutex_unlock(&client->mu);
	if (last)
		destroy(client);
}

static int require(uint32_t want, uint32_t have, const char *scheme,
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
	if (!c->session || !c->label) {
		free(c->session);
		free(c->label);
		free(c);
		return dlki_nomem(err);
	}
	rc = dlki_owners_init(&c->owners, err);
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
	c->on_log = o->on_log;
	c->arg = o->arg;
	c->refs = 1;
	c->ask_ms = dlk_param_int(uri, "ask");
	c->close_ms = dlk_param_int(uri, "close");
	c->max_hold_ms = dlk_param_int(uri, "max_hold");
	pthread_mutex_init(&c->mu, NULL);
	dlki_cond_init(&c->changed);
	*out = c;
	return 0;
}

static int connect_store(struct dlock_client *c, uint32_t wanted,
			 struct dlk_error *err)
{
	struct dlk_session *s = c->session;
	int64_t connect_ms = dlk_param_int(c->uri, "connect");
	int rc;

	rc = require(wanted, c->backend->caps, c->uri->scheme, err);
	if (rc != 0)
		return rc;
	/* A request may not outlast dlock_close(), which waits for it. */
	c->request_ms = connect_ms;
	if (c->request_ms > c->close_ms)
		c->request_ms = c->close_ms > c->ask_ms ? c->close_ms :
							  c->ask_ms;
	s->backend = c->backend;
	s->uri = c->uri;
	s->label = c->label;
	s->caps = c->backend->caps;
	s->ttl_ms = dlk_param_int(c->uri, "ttl");
	s->poll_min_ms = dlk_param_int(c->uri, "retry_min");
	s->poll_max_ms = dlk_param_int(c->uri, "retry_max");
	s->core = c;
	rc = c->backend->open(s, dlki_after_ms(dlk_now(), connect_ms), err);
	if (rc != 0)
		return dlki_reason(err, rc, c->uri->scheme);
	rc = require(wanted, s->caps, c->uri->scheme, err);
	if (rc == 0 && (s->ttl_ms > 0 || s->check_ms > 0) && !c->backend->renew)
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "%s: the backend has leases "
			      "but no 'renew'",
			      c->uri->scheme);
	if (rc == 0)
		rc = dlki_lease_start(c, err);
	if (rc == 0) {
		rc = dlki_events_start(c, err);
		if (rc != 0) {
			pthread_mutex_lock(&c->mu);
			dlki_lease_halt(c);
			pthread_mutex_unlock(&c->mu);
			dlki_lease_stop(c);
		}
	}
	if (rc != 0)
		c->backend->close(s, dlki_after_ms(dlk_now(), c->close_ms));
	return rc;
}

static int open_client(struct dlock_client **out, const char *text,
		       const dlock_options *opts, struct dlk_error *err)
{
	char scheme[DLKI_SCHEME_MAX + 1];
	const struct dlock_backend *backend;
	struct dlock_client *c = NULL;
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
	rc = client_new(&c, backend, &own, uri, err);
	if (rc != 0) {
		dlki_uri_free(uri);
		return rc;
	}
	rc = connect_store(c, own.require, err);
	if (rc != 0) {
		destroy(c);
		return rc;
	}
	*out = c;
	return 0;
}

int dlock_open(dlock_client **out, const char *uri, const dlock_options *opts)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc;

	if (!out)
		rc = dlk_fail(&err, DLOCK_EINVAL, "dlock_open: out is NULL");
	else if (!uri)
		rc = dlk_fail(&err, DLOCK_EINVAL, "dlock_open: uri is NULL");
	else
		rc = open_client(out, uri, opts, &err);
	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

/* With no thread left that asks, renews or tells: end all promises, then tell
 * the store of all that was held or left over, as long as there is time.  It
 * may give a lock to others long before we hear its answer. */
static void release_all(struct dlock_client *c, dlk_time deadline)
{
	struct dlk_error err = { 0 };

	for (uint32_t i = 0; i < c->slots.n; i++) {
		if (c->slots.v[i].claim)
			dlki_claim_lose(c->slots.v[i].claim,
					"the client was closed");
	}
	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].claim;

		if (!claim)
			continue;
		dlki_claim_ref(claim);
		pthread_mutex_unlock(&c->mu);
		c->backend->release(claim->ticket, deadline, &err);
		pthread_mutex_lock(&c->mu);
		dlki_claim_gone(claim);
		dlki_claim_unref(claim);
	}
}

/* From here on no call begins; wait for those that are under way. */
static void end_calls(struct dlock_client *c)
{
	pthread_mutex_lock(&c->mu);
	c->closing = 1;
	c->events.closing_since = dlk_now();
	dlki_lease_halt(c);
	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].claim;

		if (claim && claim->cond_ready)
			pthread_cond_broadcast(&claim->cond);
	}
	dlki_joint_cancel(c);
	while (c->calls > 0)
		dlki_wait(&c->changed, &c->mu, DLK_FOREVER);
	pthread_mutex_unlock(&c->mu);
}

void dlock_close(dlock_client *client)
{
	struct dlki_border border = dlki_enter();
	dlk_time deadline;

	if (!client || dlki_client_ours(client, NULL) != 0)
		goto out;
	if (dlki_events_here(client)) {
		dlki_log(client, DLKI_ERROR,
			 "dlock_close() in an event callback does nothing");
		goto out;
	}
	end_calls(client);
	dlki_lease_stop(client);
	dlki_events_stop(client);
	pthread_mutex_lock(&client->mu);
	/* A callback's time, which calls may have waited for as well, is not
	 * the store's. */
	deadline = dlki_after_ms(client->events.closing_since +
					 client->events.closing_ns,
				 client->close_ms);
	release_all(client, deadline);
	pthread_mutex_unlock(&client->mu);
	client->backend->close(client->session, deadline);
	pthread_mutex_lock(&client->mu);
	client->dead = 1;
	client->refs--;
	dlki_client_unlock(client);
out:
	dlki_leave(border);
}

uint32_t dlock_caps(const dlock_client *client)
{
	return client ? client->session->caps : 0;
}

int64_t dlock_ttl_ms(const dlock_client *client)
{
	return client ? client->session->ttl_ms : 0;
}

const char *dlock_uri(const dlock_client *client)
{
	return client ? client->uri->shown : NULL;
}
