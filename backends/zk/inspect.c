/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 64

/* With the hub locked.  A lock that nobody ever used has an empty line. */
static int read_line(struct zk_hub *h, const char *dir, struct zk_line *line,
		     struct zk_call **children, dlk_time deadline,
		     struct dlk_error *err)
{
	int rc;

	*line = (struct zk_line){ 0 };
	*children = dlki_zk_children(h, dir);
	dlki_zk_wait(h, children, 1, deadline);
	if (*children && (*children)->rc == ZNONODE)
		rc = 0;
	else
		rc = dlki_zk_reason(*children, "listing", err);
	if (rc == 0)
		rc = dlki_zk_line(h, line, dir, *children, deadline, err);
	if (rc != 0)
		dlki_zk_drop(children, 1);
	return rc;
}

static void report(const struct zk_line *line, size_t i,
		   const struct zk_call *node,
		   void (*each)(const struct dlock_party *p, void *arg),
		   void *arg)
{
	const struct zk_party *p = &line->v[i];
	int waiting = dlk_grant(line->places, i, p->place) >= 0;
	struct dlock_party party = {
		.size = sizeof(party),
		.label = node->data ? node->data : "",
		.id = p->node,
		.token = waiting ? 0 : (uint64_t)node->stat.czxid,
		.remaining_ms = -1,
		.shared = p->place.mode == DLK_SHARED,
		.waiting = waiting,
	};

	each(&party, arg);
}

static int report_all(struct zk_hub *h, const char *dir,
		      const struct zk_line *line,
		      void (*each)(const struct dlock_party *p, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_call *calls[BATCH];
	char path[ZK_PATH_SIZE];
	int rc = 0;

	for (size_t at = 0; at < line->n && rc == 0; at += BATCH) {
		size_t n = line->n - at < BATCH ? line->n - at : BATCH;

		for (size_t i = 0; i < n; i++) {
			dlki_zk_path(path, dir, line->v[at + i].node);
			calls[i] = dlki_zk_get(h, path);
		}
		dlki_zk_wait(h, calls, n, deadline);
		for (size_t i = 0; i < n && rc == 0; i++) {
			if (calls[i] && calls[i]->rc == ZNONODE)
				continue; /* it went meanwhile */
			rc = dlki_zk_reason(calls[i], "looking at", err);
			if (rc == 0)
				report(line, at + i, calls[i], each, arg);
		}
		dlki_zk_drop(calls, n);
	}
	return rc;
}

int dlki_zk_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		    void (*each)(const struct dlock_party *p, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_hub *h = ((struct zk_session *)s)->hub;
	struct zk_call *children;
	struct zk_line line;
	char dir[ZK_PATH_SIZE];
	int rc = dlki_zk_enter(h, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_dir(h, claim, dir);
	rc = read_line(h, dir, &line, &children, deadline, err);
	if (rc == 0) {
		rc = report_all(h, dir, &line, each, arg, deadline, err);
		dlki_zk_line_free(&line);
		dlki_zk_drop(&children, 1);
	}
	dlki_zk_leave(h);
	return rc;
}

/* All who hold, in one flight. */
static int delete_holders(struct zk_hub *h, const char *dir,
			  const struct zk_line *line, dlk_time deadline,
			  struct dlk_error *err)
{
	struct zk_call **calls = calloc(line->n + 1, sizeof(struct zk_call *));
	char path[ZK_PATH_SIZE];
	size_t n = 0;
	int rc = 0;

	if (!calls)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	while (n < line->n &&
	       dlk_grant(line->places, n, line->v[n].place) < 0) {
		dlki_zk_path(path, dir, line->v[n].node);
		calls[n++] = dlki_zk_delete(h, path);
	}
	dlki_zk_wait(h, calls, n, deadline);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (!calls[i] || calls[i]->rc != ZNONODE)
			rc = dlki_zk_reason(calls[i], "deleting", err);
	}
	dlki_zk_drop(calls, n);
	free(calls);
	return rc;
}

int dlki_zk_break(struct dlk_session *s, const struct dlk_claim *claim,
		  dlk_time deadline, struct dlk_error *err)
{
	struct zk_hub *h = ((struct zk_session *)s)->hub;
	struct zk_call *children;
	struct zk_line line;
	char dir[ZK_PATH_SIZE];
	int rc = dlki_zk_enter(h, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_dir(h, claim, dir);
	rc = read_line(h, dir, &line, &children, deadline, err);
	if (rc == 0) {
		rc = delete_holders(h, dir, &line, deadline, err);
		dlki_zk_line_free(&line);
		dlki_zk_drop(&children, 1);
	}
	dlki_zk_leave(h);
	return rc;
}
