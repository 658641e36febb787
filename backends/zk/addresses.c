/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/addresses.h"
#include "backends/zk/session.h"

#include <dlock/backend.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dlki_zk_addresses_forget(struct zk_session *s)
{
	s->addresses = (struct zk_addresses){ 0 };
}

void dlki_zk_address_of_next_server(struct zk_session *s)
{
	s->hosts.misses++;
	s->hosts.at = (s->hosts.at + 1) % s->hosts.n;
	dlki_zk_addresses_forget(s);
}

int dlki_zk_addresses_left(const struct zk_session *s)
{
	return s->addresses.tried < s->addresses.found.n;
}

static int resolve(struct zk_session *s, struct dlk_error *err)
{
	struct zk_addresses *a = &s->addresses;
	const char *host = s->hosts.host[s->hosts.at];
	const char *port = strrchr(host, ':');
	char name[256];
	uint32_t draw = 0;
	int rc = dlk_random(&draw, sizeof(draw), err);

	if (rc != 0)
		return rc;
	snprintf(name, sizeof(name), "%.*s", (int)(port - host), host);
	rc = dlki_resolve(&a->found, name,
			  (uint16_t)strtoul(port + 1, NULL, 10),
			  s->attendant != NULL, dlk_now() + s->hosts.connect_ns,
			  err);
	if (rc != 0)
		return rc;
	a->first = draw % a->found.n;
	return 0;
}

int dlki_zk_address_next(struct zk_session *s, char out[ZK_ADDRESS_SIZE],
			 struct dlk_error *err)
{
	struct zk_addresses *a = &s->addresses;
	char host[ZK_ADDRESS_SIZE - 8], port[8];
	const struct dlki_address *to;
	int rc = 0;

	if (!dlki_zk_addresses_left(s)) {
		dlki_zk_addresses_forget(s);
		rc = resolve(s, err);
	}
	if (rc != 0)
		return rc;
	to = &a->found.v[(a->first + a->tried++) % a->found.n];
	rc = getnameinfo(&to->to.any, to->len, host, sizeof(host), port,
			 sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	if (rc != 0)
		return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s",
				s->hosts.host[s->hosts.at], gai_strerror(rc));
	snprintf(out, ZK_ADDRESS_SIZE, "%s:%s", host, port);
	return 0;
}
