/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/meet.h"

#include <stdio.h>
#include <string.h>

void dlki_meet_close(const struct dlk_server *s, struct met *m)
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

int dlki_meet(const struct dlk_server *s, struct met *m, int one_of_many,
	      const dlk_flag *stop, dlk_time deadline, int *refused_by,
	      struct dlk_error *err)
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

int dlki_meet_is_home(const struct home *h, const struct met *m)
{
	return strcmp(h->identity, m->identity) == 0;
}
