/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/engine.h"

#include <stdlib.h>

#include "core/base/container.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/loop/links.h"
#include "core/loop/news.h"
#include "core/loop/ops.h"
#include "core/loop/state.h"

static void store_rings(struct dlki_alarm *a, dlk_time now)
{
	struct dlki_engine *e = DLKI_CONTAINER_OF(a, struct dlki_engine,
						  store_alarm);

	if (now >= e->store->due && e->protocol->timer)
		e->protocol->timer(e->store, now);
	dlki_links_called(e);
}

static int allocate(struct dlki_engine *e)
{
	e->store = calloc(1, e->protocol->size);
	if (!e->store || dlki_alarms_reserve(&e->alarms, 1) != 0 ||
	    dlki_news_begin(e) != 0)
		return DLOCK_ENOMEM;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		e->in[set] = malloc(DLKI_INPUT);
		if (!e->in[set])
			return DLOCK_ENOMEM;
	}
	return 0;
}

static void release(struct dlki_engine *e)
{
	for (unsigned int set = 0; set < DLKI_SETS; set++)
		free(e->in[set]);
	dlki_heap_destroy(&e->alarms.heap);
	dlki_news_free(e);
	free(e->refused);
	dlki_endpoint_free(&e->endpoint);
	free(e->store);
	pthread_mutex_destroy(&e->mu);
	free(e);
}

static int open_store(struct dlki_engine *e,
		      const struct dlki_engine_options *options,
		      struct dlk_error *err)
{
	struct dlki_world *w = e->world;
	struct dlki_store *s = e->store;
	int rc;

	s->engine = e;
	s->protocol = e->protocol;
	s->uri = options->uri;
	s->label = options->label ? options->label : "";
	s->given = options->given;
	s->due = DLK_FOREVER;
	if (w->type->chance(w, s->chance, sizeof(s->chance)) != 0 ||
	    w->type->chance(w, &e->seed, sizeof(e->seed)) != 0)
		return dlk_fail(err, DLOCK_ESYSTEM, "no random bytes");
	e->seed |= 1;
	rc = e->protocol->open(s, err);
	dlki_links_called(e);
	if (rc != 0) {
		dlki_links_free(e);
		e->protocol->close(s);
	}
	return rc;
}

struct dlki_engine *dlki_engine_new(const struct dlki_engine_options *options,
				    struct dlk_error *err)
{
	static const struct dlki_news no_news;
	struct dlki_engine *e = calloc(1, sizeof(*e));
	int rc;

	if (!e) {
		dlki_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&e->mu, NULL);
	e->world = options->world;
	e->protocol = options->protocol;
	e->news = options->news ? options->news : &no_news;
	e->arg = options->arg;
	e->tls = options->tls;
	e->connect_ns = options->connect_ms * DLK_MS;
	e->patience_ns = options->patience_ms * DLK_MS;
	e->process = dlki_process();
	e->store_alarm.ring = store_rings;
	TAILQ_INIT(&e->queue);
	TAILQ_INIT(&e->held);
	TAILQ_INIT(&e->ended);
	e->now = e->world->type->now(e->world);
	rc = allocate(e);
	if (rc != 0)
		dlki_nomem(err);
	else
		rc = dlki_endpoint_init(&e->endpoint, &options->place,
					e->protocol->told_by, err);
	if (rc == 0)
		rc = open_store(e, options, err);
	if (rc == 0)
		return e;
	release(e);
	return NULL;
}

/* Every op ends, also an op submitted in done(). */
static void end_all(struct dlki_engine *e)
{
	dlki_resume(e->store);
	while (!TAILQ_EMPTY(&e->queue) || !TAILQ_EMPTY(&e->ended)) {
		if (!TAILQ_EMPTY(&e->queue))
			dlki_cancel(TAILQ_FIRST(&e->queue));
		dlki_ops_deliver(e);
	}
}

void dlki_engine_free(struct dlki_engine *e)
{
	if (!e || e->process != dlki_process())
		return;
	pthread_mutex_lock(&e->mu);
	dlki_lookup_end(&e->lookup);
	dlki_links_free(e);
	end_all(e);
	e->protocol->close(e->store);
	pthread_mutex_unlock(&e->mu);
	release(e);
}

int dlki_lock(struct dlki_engine *e)
{
	if (e->process != dlki_process())
		return DLOCK_EFORKED;
	pthread_mutex_lock(&e->mu);
	return 0;
}

void dlki_unlock(struct dlki_engine *e)
{
	uint64_t due = e->due;

	e->due = 0;
	pthread_mutex_unlock(&e->mu);
	if (due != 0)
		e->wake(e, due);
}

const struct dlki_store *dlki_engine_store(const struct dlki_engine *e)
{
	return e->store;
}

void dlki_engine_why(const struct dlki_engine *e, struct dlk_error *out)
{
	const struct dlki_link *l = e->links[0];
	char peer[DLKI_PEER];

	*out = (struct dlk_error){ 0 };
	if (e->n_links == 0)
		return;
	*out = l->why;
	if (e->endpoint.phase == DLKI_LOOKING)
		dlk_fail(out, DLOCK_EUNREACHABLE,
			 "%s: the name was not resolved in time",
			 e->endpoint.host);
	if (l->state != DLKI_LINK_SECURING)
		return;
	dlki_peer(l, peer);
	dlk_fail(out, DLOCK_EUNREACHABLE, "%s: %s", peer,
		 l->tls->type->stuck(l->tls));
}

int dlki_engine_is_up(const struct dlki_engine *e)
{
	return e->n_links == 0 || dlki_is_up(e->links[0]);
}

dlk_time dlki_engine_way(const struct dlki_engine *e)
{
	return e->n_links == 0 ? 0 : e->links[0]->way;
}
