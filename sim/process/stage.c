/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/stage.h"

#include <stdio.h>
#include <string.h>

#include "sim/process/sched.h"

void sim_stage_must(const char *call, int rc)
{
	if (rc != DLOCK_OK)
		sim_sched_fail("%s returned %d: %s", call, rc, dlock_errmsg());
}

dlock_lock *sim_stage_lock(struct sim_play *p, size_t client, size_t name,
			   int loose)
{
	const struct sim_name *n = &p->names[name];
	dlock_client *c = p->client[client];
	char text[16];
	dlock_lock *l;

	snprintf(text, sizeof(text), "name%zu", name);
	switch (n->kind) {
	case SIM_MUTUAL:
		sim_stage_must("dlock_mutex_new", dlock_mutex_new(&l, c, text));
		break;
	case SIM_READ_WRITE:
		sim_stage_must("dlock_rwlock_new",
			       dlock_rwlock_new(&l, c, text));
		break;
	default:
		sim_stage_must("dlock_semaphore_new",
			       dlock_semaphore_new(&l, c, text, n->permits));
	}
	if (loose && n->kind != SIM_PERMITS)
		sim_stage_must("dlock_lock_unbind", dlock_lock_unbind(l));
	return l;
}

dlock_lock *sim_stage_upgradeable(struct sim_play *p, dlock_lock *of,
				  size_t name)
{
	dlock_lock *l = NULL;

	if (p->terms.upgrades && p->names[name].kind == SIM_READ_WRITE)
		sim_stage_must("dlock_upgradeable_new",
			       dlock_upgradeable_new(&l, of));
	return l;
}

/* Return the last digit of the first port, which has four. */
static char *last_digit(char *uri)
{
	static const char host[] = "127.0.0.1:";

	return strstr(uri, host) + strlen(host) + 3;
}

int sim_stage_open(struct sim_play *p, size_t client, int port)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	char uri[sizeof(p->terms.uri)];

	memcpy(uri, p->terms.uri, sizeof(uri));
	if (port >= 0)
		*last_digit(uri) = (char)('1' + port);
	o.on_event = sim_judge_event;
	return dlock_open(&p->client[client], uri, &o);
}
