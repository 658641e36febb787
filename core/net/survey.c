/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/survey.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/net/resolve.h"

struct survey {
	struct dlk_server *s;
	const struct home *home;
	const struct addrinfo *list;
	const dlk_flag *stop;
	int many;             /* addresses */
	struct met met;       /* home, or the first that answered */
	char other[80];       /* another server; "": none */
	char silent[80];      /* does not answer; "": none */
	char refusing[80];    /* refuses connections; "": none */
	char no_way[80];      /* there is no route to it; "": none */
	struct dlk_error why; /* of the first that failed */
};

static int is_loopback(const struct sockaddr *at)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)at;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)at;

	if (at->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	return at->sa_family == AF_INET &&
	       ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Is `one` an address of a name like localhost, which is this host once by each
 * family?  Most servers listen at one of the two. */
static int is_of_this_host(const struct addrinfo *list,
			   const struct addrinfo *one)
{
	for (; list; list = list->ai_next) {
		if (!is_loopback(list->ai_addr))
			return 0;
		if (list->ai_family == one->ai_family &&
		    memcmp(list->ai_addr, one->ai_addr, one->ai_addrlen) != 0)
			return 0;
	}
	return 1;
}

/* `one` could not be reached.  May another server be there? */
static void note_missed(struct survey *y, const struct addrinfo *one,
			int refused_by, const struct dlk_error *err)
{
	const struct address *home = &y->home->address;
	int known = home->len == one->ai_addrlen &&
		    memcmp(&home->at, one->ai_addr, home->len) == 0;
	char *note = y->silent;

	if (y->why.code == 0)
		y->why = *err;
	if (refused_by == ECONNREFUSED && is_of_this_host(y->list, one))
		return;
	if (refused_by == ECONNREFUSED)
		note = y->refusing;
	else if (!known &&
		 (refused_by == ENETUNREACH || refused_by == EADDRNOTAVAIL ||
		  refused_by == EAFNOSUPPORT))
		note = y->no_way;
	dlk_net_text(one->ai_addr, one->ai_addrlen, note);
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
		note_missed(y, ai, refused_by, err);
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
	if (y->silent[0] || y->refusing[0])
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: %s %s and may be another server than %s, "
				"which answers; give one address",
				s->who, y->silent[0] ? y->silent : y->refusing,
				y->silent[0] ? "does not answer" :
					       "refuses connections",
				here);
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
	y.list = list;
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
