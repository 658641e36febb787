/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/resolver.h"

#include <assert.h>
#include <netdb.h>
#include <string.h>

#include "core/base/container.h"
#include "core/base/patience.h"

/* A caller with old addresses waits for new ones at most this long, or a
 * quarter of the time left. */
#define PATIENCE_NS (250 * DLK_MS)

/* resolve() of a world returns a number of addresses or an error. */
static_assert(EAI_NONAME < 0 && EAI_AGAIN < 0, "errors are negative");

/* ---- With the names' mutex held ------------------------------------------ */

static void answered(struct listener *listener)
{
	struct dlki_lookup *l = DLKI_CONTAINER_OF(listener, struct dlki_lookup,
						  listener);

	l->world->type->kick(l->world, DLKI_ANSWERS);
}

static void listen_to(struct dlki_lookup *l, struct names *all)
{
	l->name = dlki_names_find_or_add(all, l->host, l->port);
	if (!l->name)
		return;
	l->all = all;
	l->before = l->name->answers;
	l->name->refs++;
	l->listener.answered = answered;
	LIST_INSERT_HEAD(&l->name->listeners, &l->listener, in_listeners);
	dlki_names_look_up(l->name);
}

static void stop_listening(struct dlki_lookup *l)
{
	LIST_REMOVE(&l->listener, in_listeners);
	l->name->refs--;
	dlki_names_forget(l->all);
	l->all = NULL;
}

static int has_answer(const struct dlki_lookup *l)
{
	return l->name->answers != l->before;
}

/* ---- The owner's side ---------------------------------------------------- */

void dlki_lookup_begin(struct dlki_lookup *l, struct dlki_world *world,
		       const char *host, uint16_t port)
{
	struct names *all;

	*l = (struct dlki_lookup){
		.world = world,
		.host = host,
		.port = port,
	};
	if (world->type->resolve || world->resolves)
		return;
	all = dlki_names_here();
	if (!all)
		return;
	pthread_mutex_lock(&all->base.mu);
	listen_to(l, all);
	dlki_names_forget(all);
	pthread_mutex_unlock(&all->base.mu);
}

static int take_from_world(struct dlki_lookup *l, struct dlki_found *out)
{
	int n = l->world->type->resolve(l->world, l->host, l->port, out->v,
					DLKI_ADDRESSES);

	if (n < 0)
		out->rc = n;
	else
		out->n = (size_t)n;
	return n != 0;
}

/* `last`: without an answer of the name service, take the last addresses. */
static int take_from_thread(struct dlki_lookup *l, struct dlki_found *out,
			    int last)
{
	struct names *all = l->all;
	const struct name *name = l->name;
	int came;

	pthread_mutex_lock(&all->base.mu);
	came = has_answer(l);
	if (came) {
		out->rc = name->rc;
		out->errnum = name->errnum;
	}
	if (last && name->good.n > 0 &&
	    (!came || dlki_answer_is_away(name->rc))) {
		out->rc = 0;
		came = 1;
	}
	if (came && out->rc == 0)
		*out = name->good;
	if (came)
		stop_listening(l);
	pthread_mutex_unlock(&all->base.mu);
	return came;
}

static int take(struct dlki_lookup *l, struct dlki_found *out, int last)
{
	int came = 1;

	if (!l->world)
		return 0;
	memset(out, 0, sizeof(*out));
	if (l->world->type->resolve)
		came = take_from_world(l, out);
	else if (l->world->resolves)
		dlki_answer_get(out, l->host, l->port, 0);
	else if (l->all)
		came = take_from_thread(l, out, last);
	else
		out->rc = EAI_MEMORY;
	if (came)
		l->world = NULL;
	return came;
}

int dlki_lookup_take(struct dlki_lookup *l, struct dlki_found *out)
{
	return take(l, out, 0);
}

void dlki_lookup_end(struct dlki_lookup *l)
{
	struct names *all = l->all;

	if (all) {
		pthread_mutex_lock(&all->base.mu);
		stop_listening(l);
		pthread_mutex_unlock(&all->base.mu);
	}
	l->world = NULL;
}

int dlki_lookup_literal(const char *host, uint16_t port,
			struct dlki_address *out)
{
	struct dlki_found found;

	dlki_answer_get(&found, host, port, AI_NUMERICHOST);
	if (found.n == 0)
		return DLOCK_EINVAL;
	*out = found.v[0];
	return 0;
}

/* ---- For a caller that waits --------------------------------------------- */

/* Return until when the caller should wait. */
static dlk_time worth_until(const struct name *name, dlk_time deadline)
{
	dlk_time now = dlk_now();
	dlk_time quarter = deadline > now ? (deadline - now) / 4 : 0;
	dlk_time until;

	if (name->good.n == 0)
		return deadline;
	until = name->since + PATIENCE_NS;
	if (until > now + quarter)
		until = now + quarter;
	return until < deadline ? until : deadline;
}

static void await_answer(const struct dlki_lookup *l, dlk_time deadline)
{
	struct names *all = l->all;
	dlk_time until;

	if (!all)
		return;
	pthread_mutex_lock(&all->base.mu);
	until = worth_until(l->name, deadline);
	while (!has_answer(l) && dlk_now() < dlk_deadline(until))
		dlk_cond_wait(&all->base.changed, &all->base.mu,
			      dlki_wait_slice(until));
	pthread_mutex_unlock(&all->base.mu);
}

/* The caller sleeps on the names' condition. */
static void no_kick(struct dlki_world *world, enum dlki_set set)
{
	(void)world;
	(void)set;
}

int dlki_resolve(struct dlki_found *out, const char *host, uint16_t port,
		 int here, dlk_time deadline, struct dlk_error *err)
{
	static const struct dlki_world_type sleeps = { .kick = no_kick };
	struct dlki_world world = { .type = &sleeps };
	struct dlki_lookup l;

	dlki_answer_get(out, host, port, here ? 0 : AI_NUMERICHOST);
	if (!here && out->rc == EAI_NONAME) {
		dlki_lookup_begin(&l, &world, host, port);
		await_answer(&l, deadline);
		if (!take(&l, out, 1)) {
			dlki_lookup_end(&l);
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"%s: the name was not resolved in time",
					host);
		}
	}
	return dlki_answer_judge(out, host, err);
}
