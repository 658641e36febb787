/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/survey.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/net/resolve.h"

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
	rc = dlki_meet(y->s, &m, y->many > 1, y->stop, deadline, &refused_by,
		       err);
	if (rc == DLOCK_EUNREACHABLE) {
		note_missed(y, &m, refused_by, err);
		return 0;
	}
	if (rc != 0)
		return rc;
	if (!y->met.connection || dlki_meet_is_home(y->home, &m)) {
		dlki_meet_close(y->s, &y->met);
		y->met = m;
		return 0;
	}
	if (strcmp(m.identity, y->met.identity) != 0)
		dlk_net_text(ai->ai_addr, ai->ai_addrlen, y->other);
	dlki_meet_close(y->s, &m);
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
	if (dlki_meet_is_home(y->home, &y->met))
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

int dlki_survey(struct dlk_server *s, const struct home *home, struct met *out,
		const dlk_flag *stop, dlk_time deadline, struct dlk_error *err)
{
	struct survey y = { .s = s, .home = home, .stop = stop };
	struct addrinfo *list;
	int rc, todo;

	rc = dlki_resolve(&list, s->place, s->port, stop, deadline, err);
	if (rc != 0)
		return rc;
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
		y.many++;
	todo = y.many;
	for (const struct addrinfo *ai = list; todo > 0 && rc == 0;
	     ai = ai->ai_next, todo--) {
		dlk_time ns = deadline - dlk_now();

		rc = try_address(&y, ai, deadline - ns + ns / todo, err);
		if (y.met.connection && dlki_meet_is_home(home, &y.met))
			break;
	}
	dlki_resolve_free(list);
	if (rc == 0)
		rc = judge_survey(&y, err);
	if (rc != 0)
		dlki_meet_close(s, &y.met);
	*out = y.met;
	return rc;
}
