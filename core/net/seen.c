/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/endpoint.h"

#include <errno.h>
#include <stdio.h>

static int is_loopback(const struct dlki_address *a)
{
	if (a->to.any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a->to.in6.sin6_addr);
	return a->to.any.sa_family == AF_INET &&
	       ntohl(a->to.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Is the name like localhost, this host once by each family?  Most servers
 * listen at either address only. */
static int is_this_host(const struct dlki_endpoint *p,
			const struct dlki_address *missed)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct dlki_address *a = &p->list[i];

		if (!is_loopback(a))
			return 0;
		if (a->to.any.sa_family == missed->to.any.sa_family &&
		    !dlki_address_is_same(a, missed))
			return 0;
	}
	return 1;
}

/* Over IPv4, EADDRNOTAVAIL means that this host has no port left: others reach
 * the address.  Over IPv6, this host may have no address. */
static int has_no_route(const struct dlki_met *m)
{
	return m->refused_by == ENETUNREACH || m->refused_by == EAFNOSUPPORT ||
	       (m->refused_by == EADDRNOTAVAIL &&
		m->at.to.any.sa_family == AF_INET6);
}

/* Note an address where another server may be. */
void dlki_seen_missed(struct dlki_endpoint *p, const struct dlki_met *m,
		      const struct dlk_error *why)
{
	char *note = p->silent;

	if (p->why.code == 0)
		p->why = *why;
	if (m->refused_by == ECONNREFUSED && is_this_host(p, &m->at))
		return;
	if (m->refused_by == ECONNREFUSED)
		note = p->refusing;
	else if (has_no_route(m) && !dlki_address_is_same(&p->home_at, &m->at))
		note = p->no_way;
	dlki_address_text(&m->at, note);
}

void dlki_seen_met(struct dlki_endpoint *p, const struct dlki_met *m)
{
	if (!p->met.is_judged)
		p->met = *m;
	else if (strcmp(p->met.identity, m->identity) != 0)
		dlki_address_text(&m->at, p->other);
}

static int refuse_two(const struct dlki_endpoint *p, const char *here,
		      struct dlk_error *err)
{
	int code = p->home[0] ? DLOCK_EUNREACHABLE : DLOCK_EINVAL;

	if (strncmp(p->met.identity, "at ", 3) == 0)
		return dlk_fail(err, code,
				"%s: %s and %s do not say whether they are one "
				"server; permit %s, or give one address",
				p->who, here, p->other, p->told_by);
	return dlk_fail(err, code,
			"%s: %s and %s are two servers, and locks on one are "
			"not locks on the other; give one address",
			p->who, here, p->other);
}

int dlki_seen_judge(struct dlki_endpoint *p, struct dlk_error *err)
{
	const char *unseen = p->silent[0] ? p->silent : p->refusing;
	char here[DLKI_ADDRESS_TEXT];

	if (!p->met.is_judged) {
		*err = p->why;
		return err->code;
	}
	dlki_address_text(&p->met.at, here);
	if (p->other[0])
		return refuse_two(p, here, err);
	if (unseen[0])
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: %s %s and may be another server than %s, "
				"which answers; give one address",
				p->who, unseen,
				p->silent[0] ? "does not answer" :
					       "refuses connections",
				here);
	if (p->no_way[0])
		snprintf(p->warning, sizeof(p->warning),
			 "%.100s: there is no route to %s; if others reach "
			 "another server there, give the address %s",
			 p->who, p->no_way, here);
	return 0;
}
