/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/stage.h"

#include <dlock/async.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "sim/process/sched.h"
#include "sim/process/use.h"

void sim_stage_must(const char *call, int rc)
{
	if (rc != DLOCK_OK)
		sim_unexpected(call, rc);
}

static int make_lock(dlock_lock **out, dlock_client *c,
		     const struct sim_name *name, const char *text)
{
	switch (name->kind) {
	case SIM_MUTUAL:
		return dlock_mutex_new(out, c, text);
	case SIM_READ_WRITE:
		return dlock_rwlock_new(out, c, text);
	default:
		return dlock_semaphore_new(out, c, text, name->permits);
	}
}

dlock_lock *sim_stage_lock_of(const struct sim_play *p, dlock_client *c,
			      size_t name, int loose)
{
	const struct sim_name *n = &p->names[name];
	char text[16];
	dlock_lock *l;
	int rc, tries = 0;

	snprintf(text, sizeof(text), "name%zu", name);
	do {
		rc = make_lock(&l, c, n, text);
	} while (sim_again(p, rc, &tries));
	sim_stage_must("the making of a lock", rc);
	if (loose && n->kind != SIM_PERMITS)
		sim_stage_must("dlock_lock_unbind", dlock_lock_unbind(l));
	return l;
}

dlock_lock *sim_stage_lock(struct sim_play *p, size_t client, size_t name,
			   int loose)
{
	return sim_stage_lock_of(p, p->client[client], name, loose);
}

dlock_lock *sim_stage_reading(struct sim_play *p, size_t client, size_t name)
{
	dlock_lock *l;

	if (!p->terms.options || p->names[name].kind != SIM_READ_WRITE)
		return NULL;
	l = sim_stage_lock(p, client, name, 0);
	sim_stage_must("dlock_lock_use_read_side", dlock_lock_use_read_side(l));
	return l;
}

dlock_lock *sim_stage_upgradeable(struct sim_play *p, dlock_lock *of,
				  size_t name)
{
	dlock_lock *l;
	int rc, tries = 0;

	if (!p->terms.upgrades || p->names[name].kind != SIM_READ_WRITE)
		return NULL;
	do {
		rc = dlock_upgradeable_new(&l, of);
	} while (sim_again(p, rc, &tries));
	sim_stage_must("dlock_upgradeable_new", rc);
	return l;
}

/* Return the last digit of the first port, which has four. */
static char *last_digit(char *uri)
{
	static const char host[] = "127.0.0.1:";

	return strstr(uri, host) + strlen(host) + 3;
}

void sim_stage_uri(const struct sim_play *p, int port,
		   char uri[sizeof(p->terms.uri)])
{
	memcpy(uri, p->terms.uri, sizeof(p->terms.uri));
	if (port >= 0)
		*last_digit(uri) = (char)('1' + port);
}

/* Wait for work, or for a tick.  Returns whether there is work. */
static int await_work(const struct sim_attending *a)
{
	struct pollfd fd = { .fd = dlock_client_fd(a->client),
			     .events = POLLIN };

	if (!a->ticks)
		return poll(&fd, 1, -1) == 1;
	sim_nap(SIM_MS);
	return dlock_due_ms(a->client) == 0;
}

static void *attend(void *arg)
{
	struct sim_attending *a = arg;

	while (!a->ends) {
		int rc = await_work(a) ? dlock_process(a->client, 0) : 0;

		if (rc < 0 && rc != DLOCK_EBUSY)
			sim_unexpected("dlock_process", rc);
	}
	return NULL;
}

static void begin_to_attend(struct sim_play *p, size_t client)
{
	struct sim_attending *a = &p->attending[client];

	*a = (struct sim_attending){ .client = p->client[client],
				     .ticks = p->terms.ticks };
	if (pthread_create(&a->thread, NULL, attend, a) != 0)
		sim_sched_fail("no thread");
}

void sim_stage_unattend(struct sim_play *p, size_t client)
{
	struct sim_attending *a = &p->attending[client];

	if (!a->client)
		return;
	a->ends = 1;
	sim_stage_must("dlock_nudge", dlock_nudge(a->client));
	pthread_join(a->thread, NULL);
	a->client = NULL;
}

int sim_stage_open(struct sim_play *p, size_t client, int port)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	char uri[sizeof(p->terms.uri)];
	int rc, tries = 0;

	sim_stage_uri(p, port, uri);
	o.on_event = sim_ear_event;
	o.no_threads = p->terms.no_threads;
	do {
		rc = dlock_open(&p->client[client], uri, &o);
	} while (sim_again(p, rc, &tries));
	if (rc == DLOCK_OK && o.no_threads)
		begin_to_attend(p, client);
	return rc;
}

static void note_close(const struct dlock_result *r, void *over)
{
	sim_stage_must("a close that was begun", r->code);
	++*(int *)over;
}

void sim_stage_close(const struct sim_play *p, dlock_client *c)
{
	int over = 0;
	int rc = dlock_close_start(c, note_close, &over);

	if (rc == DLOCK_OK) {
		sim_await(p, c, &over);
		return;
	}
	if (!sim_is_scarce(p, rc))
		sim_unexpected("dlock_close_start", rc);
	dlock_close(c);
}
