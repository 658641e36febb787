/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/ensemble.h"
#include "lab/clock.h"
#include "lab/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_MS 60000

/* Every node must know every other's ports before it starts. */
static int plan(struct lab_ensemble *e, const struct lab_zk_options *options)
{
	char lines[LAB_NODES * 64] = "";
	size_t used = 0;

	if (options)
		e->options = *options;
	for (size_t i = 0; i < LAB_NODES; i++) {
		int quorum = lab_reserve_port(&e->reserved[2 * i]);
		int election = lab_reserve_port(&e->reserved[2 * i + 1]);

		if (quorum < 0 || election < 0)
			return -1;
		used += (size_t)snprintf(lines + used, sizeof(lines) - used,
					 "server.%zu=" LAB_LOOPBACK ":%d:%d\n",
					 i + 1, quorum, election);
	}
	if (asprintf(&e->config, "%s%s", lines,
		     e->options.config ? e->options.config : "") < 0) {
		e->config = NULL;
		return lab_fail("out of memory");
	}
	e->options.config = e->config;
	return 0;
}

static int bring_up(struct lab_ensemble *e)
{
	for (int i = 0; i < LAB_NODES; i++) {
		e->options.id = i + 1;
		e->node[i] = lab_zk_start(&e->options);
		if (!e->node[i])
			return -1;
	}
	return lab_ensemble_wait(e, READY_MS);
}

struct lab_ensemble *lab_ensemble_start(const struct lab_zk_options *options)
{
	struct lab_ensemble *e = calloc(1, sizeof(*e));

	if (!e) {
		lab_fail("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(e->reserved) / sizeof(*e->reserved); i++)
		e->reserved[i] = -1;
	if (plan(e, options) < 0 || bring_up(e) < 0) {
		lab_ensemble_free(e);
		return NULL;
	}
	return e;
}

static int all_serve(void *arg)
{
	struct lab_ensemble *e = arg;

	if (!lab_server_waits())
		return lab_fail("interrupted");
	for (int i = 0; i < LAB_NODES; i++) {
		if (!*lab_zk_mode(e->node[i]))
			return 0;
	}
	return 1;
}

int lab_ensemble_wait(struct lab_ensemble *e, int64_t timeout_ms)
{
	int rc = lab_wait_until(lab_after_ms(timeout_ms), all_serve, e);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	lab_fail("the ensemble does not serve after %" PRId64 " ms",
		 timeout_ms);
	lab_fail_tail(e->node[0]->log);
	return -1;
}

static int find(struct lab_ensemble *e, const char *mode)
{
	for (int i = 0; i < LAB_NODES; i++) {
		if (strcmp(lab_zk_mode(e->node[i]), mode) == 0)
			return i;
	}
	return lab_fail("the ensemble has no %s", mode);
}

int lab_ensemble_leader(struct lab_ensemble *e)
{
	return find(e, "leader");
}

int lab_ensemble_follower(struct lab_ensemble *e)
{
	return find(e, "follower");
}

void lab_ensemble_free(struct lab_ensemble *e)
{
	if (!e)
		return;
	for (int i = 0; i < LAB_NODES; i++)
		lab_server_free(e->node[i]);
	for (size_t i = 0; i < sizeof(e->reserved) / sizeof(*e->reserved);
	     i++) {
		if (e->reserved[i] >= 0)
			close(e->reserved[i]);
	}
	free(e->config);
	free(e);
}
