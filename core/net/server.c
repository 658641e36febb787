/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/net/resolve.h"

struct address {
	struct sockaddr_storage at;
	socklen_t len; /* 0: none */
};

/* What a session knows of its server. */
struct home {
	char identity[DLK_IDENTITY_SIZE]; /* "": it has none yet */
	struct address address;           /* where it was found */
	int left;                         /* see dlk_server_leave() */
	uint64_t epoch;
};

struct dlk_server {
	/* Constant. */
	const struct dlk_server_type *type;
	void *arg;
	char *place; /* the host, or the path */
	int is_path;
	uint16_t port;
	int one_address; /* no name, that may lead elsewhere */
	char who[112];

	pthread_mutex_t mu; /* protects home; a leaf */
	struct home home;
	_Atomic uint64_t epoch; /* home's, for reading without mu */
};

/* A server that answered. */
struct met {
	void *connection; /* NULL: none */
	char identity[DLK_IDENTITY_SIZE];
	struct address address;
};

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

/* ---- One address --------------------------------------------------------- */

static void close_met(const struct dlk_server *s, struct met *m)
{
	if (m->connection)
		s->type->close(m->connection);
	m->connection = NULL;
}

/* Where a name has several addresses, messages say which of them they mean. */
static void name_address(const struct dlk_server *s, struct dlk_net *n,
			 const struct address *a, int one_of_many)
{
	char text[80];

	if (!one_of_many) {
		snprintf(n->peer, sizeof(n->peer), "%s", s->who);
		return;
	}
	dlk_net_text((const struct sockaddr *)&a->at, a->len, text);
	snprintf(n->peer, sizeof(n->peer), "%.80s (%s)", s->who, text);
}

/* Connect and be greeted; *refused_by as in dlock/backend_net.h. */
static int connect_to(const struct dlk_server *s, struct met *m,
		      int one_of_many, const dlk_flag *stop, dlk_time deadline,
		      int *refused_by, struct dlk_error *err)
{
	struct dlk_net n = DLK_NET_INIT;
	int rc;

	n.stop = stop;
	if (s->is_path) {
		rc = dlk_net_unix(&n, s->place, deadline, err);
	} else {
		name_address(s, &n, &m->address, one_of_many);
		rc = dlk_net_connect(&n, (struct sockaddr *)&m->address.at,
				     m->address.len, deadline, err);
	}
	*refused_by = n.refused_by;
	if (rc != 0)
		return rc;
	*refused_by = 0;
	m->identity[0] = '\0';
	m->connection = s->type->greet(s->arg, &n, m->identity, deadline, err);
	if (!m->connection)
		return err->code;
	if (m->identity[0] == '\0') {
		snprintf(m->identity, sizeof(m->identity), "at ");
		if (!s->is_path)
			dlk_net_text((struct sockaddr *)&m->address.at,
				     m->address.len, m->identity + 3);
	}
	return 0;
}

static int is_home(const struct home *h, const struct met *m)
{
	return strcmp(h->identity, m->identity) == 0;
}

/* ---- All addresses of a name --------------------------------------------- */

struct survey {
	struct dlk_server *s;
	const struct home *home;
	const dlk_flag *stop;
	int many;             /* addresses */
	struct met met;       /* home, or the first that answered */
	char other[80];       /* another server; "": none */
	char silent[80];      /* does not answer; "": none */
	char no_way[80];      /* there is no route to it; "": none */
	struct dlk_error why; /* of the first that failed */
};

static int same_address(const struct address *a, const struct address *b)
{
	return a->len == b->len && memcmp(&a->at, &b->at, a->len) == 0;
}

/* The address could not be reached.  May another server be there? */
static void note_missed(struct survey *y, const struct met *m, int refused_by,
			const struct dlk_error *err)
{
	char *note = y->silent;
	int known = same_address(&y->home->address, &m->address);

	if (y->why.code == 0)
		y->why = *err;
	if (refused_by == ECONNREFUSED)
		return;
	if (!known &&
	    (refused_by == ENETUNREACH || refused_by == EADDRNOTAVAIL ||
	     refused_by == EAFNOSUPPORT))
		note = y->no_way;
	dlk_net_text((const struct sockaddr *)&m->address.at, m->address.len,
		     note);
}

/* 0, or what ends the survey. */
static int try_address(struct survey *y, const struct addrinfo *ai,
		       dlk_time deadline, struct dlk_error *err)
{
	struct met m = { 0 };
	int refused_by;
	int rc;

	memcpy(&m.address.at, ai->ai_addr, ai->ai_addrlen);
	m.address.len = ai->ai_addrlen;
	rc = connect_to(y->s, &m, y->many > 1, y->stop, deadline, &refused_by,
			err);
	if (rc == DLOCK_EUNREACHABLE) {
		note_missed(y, &m, refused_by, err);
		return 0;
	}
	if (rc != 0)
		return rc;
	if (!y->met.connection || is_home(y->home, &m)) {
		close_met(y->s, &y->met);
		y->met = m;
		return 0;
	}
	if (strcmp(m.identity, y->met.identity) != 0)
		dlk_net_text(ai->ai_addr, ai->ai_addrlen, y->other);
	close_met(y->s, &m);
	return 0;
}

/* May the session belong to what answered? */
static int judge_survey(struct survey *y, struct dlk_error *err)
{
	const struct dlk_server *s = y->s;
	int opening = y->home->identity[0] == '\0';
	char here[80], text[400];

	if (!y->met.connection) {
		*err = y->why;
		return err->code;
	}
	if (is_home(y->home, &y->met))
		return 0;
	dlk_net_text((struct sockaddr *)&y->met.address.at, y->met.address.len,
		     here);
	if (y->other[0] && strncmp(y->met.identity, "at ", 3) == 0)
		return dlk_fail(err,
				opening ? DLOCK_EINVAL : DLOCK_EUNREACHABLE,
				"%s: %s and %s do not say whether they are one "
				"server; permit %s, or give one address",
				s->who, here, y->other, s->type->told_by);
	if (y->other[0])
		return dlk_fail(err,
				opening ? DLOCK_EINVAL : DLOCK_EUNREACHABLE,
				"%s: %s and %s are two servers, and locks on "
				"one are not locks on the other; give one "
				"address",
				s->who, here, y->other);
	if (y->silent[0])
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: %s does not answer and may be another "
				"server than %s, which does; give one address",
				s->who, y->silent, here);
	if (y->no_way[0]) {
		snprintf(text, sizeof(text),
			 "%.100s: there is no route to %s; if others reach "
			 "another server there, give the address %s",
			 s->who, y->no_way, here);
		s->type->warn(s->arg, text);
	}
	return 0;
}

static int survey_name(struct survey *y, dlk_time deadline,
		       struct dlk_error *err)
{
	const struct dlk_server *s = y->s;
	struct addrinfo *list, *ai;
	int rc, todo;

	rc = dlki_resolve(&list, s->place, s->port, y->stop, deadline, err);
	if (rc != 0)
		return rc;
	for (ai = list; ai; ai = ai->ai_next)
		y->many++;
	todo = y->many;
	for (ai = list; ai && rc == 0; ai = ai->ai_next) {
		dlk_time ns = deadline - dlk_now();

		rc = try_address(y, ai, deadline - ns + ns / todo, err);
		todo--;
		if (y->met.connection && is_home(y->home, &y->met))
			break;
	}
	dlki_resolve_free(list);
	if (rc == 0)
		rc = judge_survey(y, err);
	if (rc != 0)
		close_met(s, &y->met);
	return rc;
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
	fits = is_home(h, m) || h->epoch == was->epoch;
	moves = fits && h->identity[0] && !is_home(h, m);
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
		close_met(s, m);
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
	rc = connect_to(s, m, 0, stop, until, &refused_by, err);
	if (s->one_address || (rc == 0 && is_home(h, m)))
		return rc;
	close_met(s, m);
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

	if (rc == 1) {
		struct survey y = { .s = s, .home = &h, .stop = stop };

		rc = survey_name(&y, deadline, err);
		m = y.met;
	}
	return rc == 0 ? adopt(s, &h, &m, epoch, err) : NULL;
}
