/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

#include <stdlib.h>
#include <string.h>

static const char *kind_of(const char *key)
{
	switch (key[0]) {
	case 'm':
		return "mutex";
	case 'r':
		return "rwlock";
	case 's':
		return "semaphore";
	default:
		return NULL;
	}
}

/* The users of a semaphore say how many permits there are; where there are
 * none, who made the directory did. */
static uint32_t permits(const struct zk_call *line, uint32_t otherwise)
{
	struct zk_party p;

	for (size_t i = 0; i < line->n; i++) {
		if (dlki_zk_parse(line->names[i], &p) && p.place.limit > 0)
			return p.place.limit;
	}
	return otherwise;
}

static int report(struct zk_hub *h, const char *key,
		  void (*each)(const struct dlock_entry *e, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlock_entry e = { .size = sizeof(e), .kind = kind_of(key) };
	struct zk_call *calls[2];
	char path[ZK_PATH_SIZE], *end = NULL;
	unsigned long limit = 0;
	int rc = 0;

	if (!e.kind || strlen(key) > 64)
		return 0;
	dlki_zk_path(path, h->base, key);
	calls[0] = dlki_zk_get(h, path);
	calls[1] = dlki_zk_children(h, path);
	dlki_zk_wait(h, calls, 2, deadline);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = dlki_zk_reason(calls[i], "listing", err);
	if (rc == DLOCK_EPROTO)
		rc = 0; /* it went meanwhile */
	else if (rc == 0 && calls[0]->data)
		limit = strtoul(calls[0]->data, &end, 10);
	if (end && end != calls[0]->data && *end == ' ') {
		e.name = end + 1;
		if (key[0] == 's')
			e.permits = permits(calls[1], (uint32_t)limit);
		each(&e, arg);
	}
	dlki_zk_drop(calls, 2);
	return rc;
}

int dlki_zk_list(struct dlk_session *s,
		 void (*each)(const struct dlock_entry *e, void *arg),
		 void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_hub *h = ((struct zk_session *)s)->hub;
	struct zk_call *keys;
	int rc = dlki_zk_enter(h, deadline, err);

	if (rc != 0)
		return rc;
	keys = dlki_zk_children(h, h->base);
	dlki_zk_wait(h, &keys, 1, deadline);
	if (!keys || keys->rc != ZNONODE)
		rc = dlki_zk_reason(keys, "listing", err);
	for (size_t i = 0; rc == 0 && i < keys->n; i++)
		rc = report(h, keys->names[i], each, arg, deadline, err);
	dlki_zk_drop(&keys, 1);
	dlki_zk_leave(h);
	return rc;
}
