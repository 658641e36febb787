/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/resolver.h"
#include "core/base/container.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* resolve() of a world returns a number of addresses or an error. */
static_assert(EAI_NONAME < 0 && EAI_AGAIN < 0, "errors are negative");

static void copy_list(struct dlki_found *out, const struct addrinfo *list)
{
	for (; list; list = list->ai_next) {
		struct dlki_address *to;

		if (list->ai_addrlen > sizeof(to->to) ||
		    out->n++ >= DLKI_ADDRESSES)
			continue;
		to = &out->v[out->n - 1];
		memset(to, 0, sizeof(*to));
		memcpy(&to->to, list->ai_addr, list->ai_addrlen);
		to->len = list->ai_addrlen;
	}
}

static void print_port(char out[6], uint16_t port)
{
	snprintf(out, 6, "%u", (unsigned int)port);
}

/* ---- The thread's side, with the names' mutex held ----------------------- */

static void answered(struct listener *listener)
{
	struct dlki_lookup *l = DLKI_CONTAINER_OF(listener, struct dlki_lookup,
						  listener);

	l->world->type->kick(l->world, DLKI_ANSWERS);
}

static void listen_to(struct dlki_lookup *l, struct names *all)
{
	char port[6];

	print_port(port, l->port);
	l->errnum = ENOMEM;
	l->name = dlki_names_find_or_add(all, l->host, port);
	if (!l->name)
		return;
	l->before = l->name->answers;
	l->errnum = dlki_names_look_up(l->name);
	if (l->errnum != 0)
		return;
	l->all = all;
	l->name->refs++;
	l->listener.answered = answered;
	LIST_INSERT_HEAD(&l->name->listeners, &l->listener, in_listeners);
}

static void stop_listening(struct dlki_lookup *l)
{
	LIST_REMOVE(&l->listener, in_listeners);
	l->name->refs--;
	dlki_names_forget(l->all);
	l->all = NULL;
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
		.errnum = ENOMEM,
	};
	if (world->type->resolve)
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
		out->answer.rc = n;
	else
		out->n = (size_t)n;
	return n != 0;
}

static int take_from_thread(struct dlki_lookup *l, struct dlki_found *out)
{
	struct names *all = l->all;
	int came;

	pthread_mutex_lock(&all->base.mu);
	came = l->name->answers != l->before;
	if (came) {
		out->answer = l->name->last;
		out->answer.list = NULL;
		if (out->answer.rc == 0)
			copy_list(out, l->name->good);
		stop_listening(l);
	}
	pthread_mutex_unlock(&all->base.mu);
	return came;
}

int dlki_lookup_take(struct dlki_lookup *l, struct dlki_found *out)
{
	int came = 1;

	if (!l->world)
		return 0;
	memset(out, 0, sizeof(*out));
	if (l->world->type->resolve)
		came = take_from_world(l, out);
	else if (l->all)
		came = take_from_thread(l, out);
	else
		out->answer = (struct dlki_answer){ NULL, EAI_SYSTEM,
						    l->errnum };
	if (came)
		l->world = NULL;
	return came;
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
	struct dlki_found found = { .n = 0 };
	struct dlki_answer a;
	char text[6];

	print_port(text, port);
	a = dlki_answer_get(host, text, AI_NUMERICHOST);
	if (a.rc != 0)
		return DLOCK_EINVAL;
	copy_list(&found, a.list);
	free(a.list);
	if (found.n == 0)
		return DLOCK_EINVAL;
	*out = found.v[0];
	return 0;
}
