/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/names.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/patience.h"
#include "core/net/resolve.h"

/* A caller with old addresses waits for new ones at most this long, or a
 * quarter of the time left. */
#define PATIENCE_NS (250 * DLK_MS)

#define NAMES_MOST 64 /* kept; of more, some are forgotten */

static struct dlki_common *_Atomic current;

struct names *dlki_names_here(void)
{
	return (struct names *)dlki_common_here(&current, sizeof(struct names));
}

/* ---- Names, with mu held ------------------------------------------------- */

static void name_free(struct name *name)
{
	free(name->good);
	free(name);
}

void dlki_names_forget(struct names *all)
{
	struct name **at = &all->first;

	while (*at) {
		struct name *name = *at;

		if (name->refs > 0 ||
		    (all->base.users > 0 && all->n <= NAMES_MOST)) {
			at = &name->next;
			continue;
		}
		*at = name->next;
		all->n--;
		name_free(name);
	}
}

struct name *dlki_names_find_or_add(struct names *all, const char *host,
				    const char *port)
{
	size_t len = strlen(host) + 1;
	struct name *name = all->first;

	while (name &&
	       (strcmp(name->host, host) != 0 || strcmp(name->port, port) != 0))
		name = name->next;
	if (name)
		return name;
	name = calloc(1, sizeof(*name) + len);
	if (!name)
		return NULL;
	memcpy(name->host, host, len);
	memcpy(name->port, port, strlen(port) + 1);
	name->all = all;
	name->next = all->first;
	all->first = name;
	all->n++;
	return name;
}

static void record_answer(struct name *name, struct dlki_answer a)
{
	struct listener *l;

	name->looking = 0;
	name->answers++;
	name->last = a;
	if (a.rc == 0) {
		free(name->good);
		name->good = a.list;
	}
	LIST_FOREACH(l, &name->listeners, in_listeners)
		l->answered(l);
}

/* ---- The thread ---------------------------------------------------------- */

static void *resolve_name(void *arg)
{
	struct name *name = arg;
	struct names *all = name->all;
	struct dlki_answer a = dlki_answer_get(name->host, name->port, 0);

	pthread_mutex_lock(&all->base.mu);
	record_answer(name, a);
	name->refs--;
	dlki_names_forget(all);
	pthread_cond_broadcast(&all->base.changed);
	pthread_mutex_unlock(&all->base.mu);
	return NULL;
}

static int start_thread(struct name *name)
{
	pthread_t thread;
	int rc = dlk_thread(&thread, "dlock-resolve", resolve_name, name);

	if (rc != 0)
		return rc;
	pthread_detach(thread);
	name->refs++;
	name->looking = 1;
	name->since = dlk_now();
	return 0;
}

int dlki_names_look_up(struct name *name)
{
	return name->looking ? 0 : start_thread(name);
}

/* ---- Waiting for an answer ----------------------------------------------- */

/* Return until when a caller should wait for the thread. */
static dlk_time worth_until(const struct name *name, dlk_time deadline)
{
	dlk_time now = dlk_now();
	dlk_time quarter = deadline > now ? (deadline - now) / 4 : 0;
	dlk_time until;

	if (!name->good)
		return deadline;
	until = name->since + PATIENCE_NS;
	if (until > now + quarter)
		until = now + quarter;
	return until < deadline ? until : deadline;
}

/* Does the thread have an answer by `until`? */
static int await_answer(struct names *all, const struct name *name,
			dlk_time until)
{
	uint64_t before = name->answers;

	while (name->answers == before && dlk_now() < dlk_deadline(until))
		dlk_cond_wait(&all->base.changed, &all->base.mu,
			      dlki_wait_slice(until));
	return name->answers != before;
}

static int resolve_by_thread(struct names *all, struct name *name,
			     struct dlki_answer *out, dlk_time deadline,
			     struct dlk_error *err)
{
	int rc = dlki_names_look_up(name);
	int answered = 0;

	if (rc == 0)
		answered = await_answer(all, name, worth_until(name, deadline));
	if (answered && !(dlki_answer_is_away(name->last.rc) && name->good)) {
		*out = name->last;
	} else if (name->good) {
		*out = (struct dlki_answer){ .list = name->good };
	} else if (rc != 0) {
		return dlki_system(err, rc, "thread to resolve a name");
	} else {
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name was not resolved in time",
				name->host);
	}
	if (out->rc == 0)
		out->list = dlki_answer_copy(out->list);
	return out->rc == 0 && !out->list ? dlki_nomem(err) : 0;
}

/* Have a thread resolve the name, unless a thread already does.  *out is the
 * answer, or if none came by the deadline, the last good answer.  0, or an
 * error code if there is neither. */
static int ask(struct dlki_answer *out, const char *host, const char *port,
	       dlk_time deadline, struct dlk_error *err)
{
	struct names *all = dlki_names_here();
	struct name *name;
	int rc;

	if (!all)
		return dlki_nomem(err);
	pthread_mutex_lock(&all->base.mu);
	name = dlki_names_find_or_add(all, host, port);
	if (name) {
		name->refs++;
		rc = resolve_by_thread(all, name, out, deadline, err);
		name->refs--;
		dlki_names_forget(all);
	} else {
		rc = dlki_nomem(err);
	}
	pthread_mutex_unlock(&all->base.mu);
	return rc;
}

/* ---- For callers that wait ----------------------------------------------- */

void dlki_resolve_free(struct addrinfo *list)
{
	free(list);
}

int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 dlk_time deadline, struct dlk_error *err)
{
	struct dlki_answer a;
	char text[6];
	int rc;

	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	a = dlki_answer_get(host, text, AI_NUMERICHOST);
	if (a.rc == EAI_NONAME) {
		rc = ask(&a, host, text, deadline, err);
		if (rc != 0)
			return rc;
	}
	if (a.rc != 0)
		return dlki_answer_failed(&a, host, err);
	*out = a.list;
	return 0;
}

void dlki_resolve_begin(void)
{
	struct names *all = dlki_names_here();

	if (!all)
		return;
	pthread_mutex_lock(&all->base.mu);
	all->base.users++;
	pthread_mutex_unlock(&all->base.mu);
}

void dlki_resolve_end(void)
{
	struct names *all = dlki_names_here();

	if (!all)
		return;
	pthread_mutex_lock(&all->base.mu);
	if (all->base.users > 0)
		all->base.users--;
	dlki_names_forget(all);
	pthread_mutex_unlock(&all->base.mu);
}
