/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/names.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 64 /* kept; of more, some are forgotten */

static struct dlki_common *_Atomic current;

struct names *dlki_names_here(void)
{
	return (struct names *)dlki_common_here(&current, sizeof(struct names));
}

/* ---- Names, with mu held ------------------------------------------------- */

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
		free(name);
	}
}

struct name *dlki_names_find_or_add(struct names *all, const char *host,
				    uint16_t port)
{
	size_t len = strlen(host) + 1;
	struct name *name = all->first;

	while (name && (strcmp(name->host, host) != 0 || name->port != port))
		name = name->next;
	if (name)
		return name;
	name = calloc(1, sizeof(*name) + len);
	if (!name)
		return NULL;
	memcpy(name->host, host, len);
	name->port = port;
	name->all = all;
	name->next = all->first;
	all->first = name;
	all->n++;
	return name;
}

static void record_answer(struct name *name, const struct dlki_found *found)
{
	struct listener *l;

	name->looking = 0;
	name->answers++;
	name->rc = found->rc;
	name->errnum = found->errnum;
	if (found->rc == 0)
		name->good = *found;
	LIST_FOREACH(l, &name->listeners, in_listeners)
		l->answered(l);
}

/* ---- The thread ---------------------------------------------------------- */

static void *resolve_name(void *arg)
{
	struct name *name = arg;
	struct names *all = name->all;
	struct dlki_found found;

	dlki_answer_get(&found, name->host, name->port, 0);
	pthread_mutex_lock(&all->base.mu);
	record_answer(name, &found);
	name->refs--;
	dlki_names_forget(all);
	pthread_cond_broadcast(&all->base.changed);
	pthread_mutex_unlock(&all->base.mu);
	return NULL;
}

static void start_thread(struct name *name)
{
	struct dlki_found none = { .rc = EAI_SYSTEM };
	pthread_t thread;

	none.errnum = dlk_thread(&thread, "dlock-resolve", resolve_name, name);
	if (none.errnum != 0) {
		record_answer(name, &none);
		return;
	}
	pthread_detach(thread);
	name->refs++;
	name->looking = 1;
	name->since = dlk_now();
}

void dlki_names_look_up(struct name *name)
{
	if (!name->looking)
		start_thread(name);
}

/* ---- Users --------------------------------------------------------------- */

void dlki_names_begin(void)
{
	struct names *all = dlki_names_here();

	if (!all)
		return;
	pthread_mutex_lock(&all->base.mu);
	all->base.users++;
	pthread_mutex_unlock(&all->base.mu);
}

void dlki_names_end(void)
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
