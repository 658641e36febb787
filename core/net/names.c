/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/names.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

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

/* ---- Answers ------------------------------------------------------------- */

static void copy_list(struct dlki_found *out, const struct addrinfo *list)
{
	for (; list; list = list->ai_next) {
		struct dlki_address *to;

		if (list->ai_addrlen > sizeof(to->to) ||
		    out->n++ >= DLKI_ADDRESSES)
			continue;
		to = &out->v[out->n - 1];
		memcpy(&to->to, list->ai_addr, list->ai_addrlen);
		to->len = list->ai_addrlen;
	}
}

void dlki_answer_get(struct dlki_found *out, const char *host, uint16_t port,
		     int flags)
{
	const struct addrinfo hints = {
		.ai_flags = flags | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list = NULL;
	char text[6];

	memset(out, 0, sizeof(*out));
	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	errno = 0;
	out->rc = getaddrinfo(host, text, &hints, &list);
	out->errnum = errno;
	/* To the C library, a file without a descriptor for it is empty. */
	if (out->rc != 0 && (errno == EMFILE || errno == ENFILE))
		out->rc = EAI_SYSTEM;
	if (out->rc != 0)
		return;
	copy_list(out, list);
	freeaddrinfo(list);
}

int dlki_answer_is_away(int rc)
{
	return rc != 0 && rc != EAI_NONAME && rc != EAI_NODATA;
}

/* Set the error, without gai_strerror(), which speaks the program's
 * language. */
static int failed(const struct dlki_found *found, const char *host,
		  struct dlk_error *err)
{
	const char *why = "the name could not be resolved";

	switch (found->rc) {
	case EAI_MEMORY:
		return dlki_nomem(err);
	case EAI_SYSTEM:
		if (found->errnum == EAGAIN || found->errnum == EPERM ||
		    found->errnum == EMFILE || found->errnum == ENFILE ||
		    found->errnum == ENOMEM)
			return dlki_system(err, found->errnum, host);
		why = dlki_errno_text(found->errnum);
		break;
	case EAI_NONAME:
	case EAI_NODATA:
		why = "no host has this name";
		break;
	case EAI_AGAIN:
		why = "the name service does not answer";
		break;
	default:
		break;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", host, why);
}

int dlki_answer_judge(const struct dlki_found *found, const char *host,
		      struct dlk_error *err)
{
	if (found->rc != 0)
		return failed(found, host, err);
	if (found->n > DLKI_ADDRESSES)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name has %zu addresses; give one "
				"address",
				host, found->n);
	if (found->n == 0)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name has no address", host);
	return 0;
}
