/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/net/meet.h"
#include "core/net/survey.h"

struct dlk_server *dlk_server_new(const struct dlk_server_type *type, void *arg,
				  const char *path, const char *host,
				  uint16_t port)
{
	struct dlk_server *s = calloc(1, sizeof(*s));
	struct in6_addr any;

	if (!s)
		return NULL;
	s->place = strdup(path ? path : host);
	if (!s->place) {
		free(s);
		return NULL;
	}
	s->type = type;
	s->arg = arg;
	s->is_path = path != NULL;
	s->port = port;
	s->one_address = path || strchr(host, ':') ||
			 inet_pton(AF_INET, host, &any) == 1;
	if (path)
		snprintf(s->who, sizeof(s->who), "%.110s", path);
	else if (strchr(host, ':'))
		snprintf(s->who, sizeof(s->who), "[%.100s]:%u", host,
			 (unsigned int)port);
	else
		snprintf(s->who, sizeof(s->who), "%.100s:%u", host,
			 (unsigned int)port);
	pthread_mutex_init(&s->mu, NULL);
	return s;
}

void dlk_server_free(struct dlk_server *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->mu);
	free(s->place);
	free(s);
}

uint64_t dlk_server_epoch(const struct dlk_server *s)
{
	return atomic_load_explicit(&s->epoch, memory_order_acquire);
}

void dlk_server_leave(struct dlk_server *s, uint64_t epoch)
{
	pthread_mutex_lock(&s->mu);
	if (s->home.epoch == epoch)
		s->home.left = 1;
	pthread_mutex_unlock(&s->mu);
}

static struct home home_of(struct dlk_server *s)
{
	struct home h;

	pthread_mutex_lock(&s->mu);
	h = s->home;
	pthread_mutex_unlock(&s->mu);
	return h;
}

/* ---- The session's ------------------------------------------------------- */

/* The server that was met is the session's from now on, unless another one was
 * found in the meantime.  Returns the connection. */
static void *adopt(struct dlk_server *s, const struct home *was, struct met *m,
		   uint64_t *epoch, struct dlk_error *err)
{
	struct home *h = &s->home;
	int fits, moves;
	char text[240];

	pthread_mutex_lock(&s->mu);
	fits = dlki_meet_is_home(h, m) || h->epoch == was->epoch;
	moves = fits && h->identity[0] && !dlki_meet_is_home(h, m);
	if (fits) {
		memcpy(h->identity, m->identity, sizeof(h->identity));
		h->address = m->address;
		h->left = 0;
		h->epoch += (uint64_t)moves;
		atomic_store_explicit(&s->epoch, h->epoch,
				      memory_order_release);
	}
	*epoch = h->epoch;
	pthread_mutex_unlock(&s->mu);
	if (!fits) {
		dlki_meet_close(s, m);
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "%s: it became another server meanwhile", s->who);
		return NULL;
	}
	if (moves) {
		snprintf(text, sizeof(text),
			 "%s is another server, or was restarted: every hold "
			 "is checked",
			 s->who);
		s->type->moved(s->arg, text);
	}
	return m->connection;
}

/* Where it was found last.  1: go on with the survey. */
static int try_last_address(struct dlk_server *s, const struct home *h,
			    struct met *m, const dlk_flag *stop,
			    dlk_time deadline, struct dlk_error *err)
{
	dlk_time until = deadline;
	int refused_by;
	int rc;

	if (h->identity[0] == '\0' || (h->left && !s->one_address)) {
		if (!s->is_path)
			return 1;
	} else if (!s->one_address) {
		until -= (deadline - dlk_now()) / 2;
	}
	m->address = h->address;
	rc = dlki_meet(s, m, 0, stop, until, &refused_by, err);
	if (s->one_address || (rc == 0 && dlki_meet_is_home(h, m)))
		return rc;
	dlki_meet_close(s, m);
	if (rc != 0 && rc != DLOCK_EUNREACHABLE)
		return rc;
	if (dlk_now() < deadline)
		return 1;
	return rc != 0 ? rc :
			 dlk_fail(err, DLOCK_EUNREACHABLE,
				  "%s: another server answers, and no time was "
				  "left to look for the previous one",
				  s->who);
}

void *dlk_server_connect(struct dlk_server *s, const dlk_flag *stop,
			 uint64_t *epoch, dlk_time deadline,
			 struct dlk_error *err)
{
	const struct home h = home_of(s);
	struct met m = { 0 };
	int rc = try_last_address(s, &h, &m, stop, deadline, err);

	if (rc == 1)
		rc = dlki_survey(s, &h, &m, stop, deadline, err);
	return rc == 0 ? adopt(s, &h, &m, epoch, err) : NULL;
}
