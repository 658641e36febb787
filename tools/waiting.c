/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"
#include "boottime.h"
#include "message.h"
#include "participants.h"
#include "since.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The first look comes after FIRST_MS, and each pause is twice the pause
 * before. */
#define FIRST_MS 1000
#define LAST_MS 60000
#define LOOK_MS 1000 /* for the store's answer */

/* Write ", held by LABEL for 12 s and 2 others"; no text if unknown. */
static void describe(char *out, size_t size, const struct participants *p)
{
	const struct participant *first = NULL;
	char age[SINCE_SIZE] = "", others[40] = "";
	size_t n = participants_holders(p);

	for (size_t i = 0; i < p->count && !first; i++)
		if (!p->list[i].waiting)
			first = &p->list[i];
	if (!first)
		return;
	if (first->since_ms)
		since_age(age, first->since_ms);
	if (n > 1)
		snprintf(others, sizeof(others), " and %zu other%s", n - 1,
			 n > 2 ? "s" : "");
	snprintf(out, size, ", held by %s%s%s%s", first->label,
		 *age ? " for " : "", age, others);
}

static void tell(struct waiting *w, const char *holders)
{
	int64_t waited = (boottime_now() - w->began) / (1000 * MS);

	pthread_mutex_lock(&w->mu);
	if (!w->over && *holders)
		say("waiting for \"%s\"%s", w->name, holders);
	else if (!w->over)
		say("waiting for \"%s\" for %" PRId64 " s", w->name, waited);
	pthread_mutex_unlock(&w->mu);
}

static void look(struct waiting *w)
{
	struct participants p = { 0 };
	char holders[700] = "";

	if (w->can_ask && participants_ask(&p, w->lock, LOOK_MS) == DLOCK_OK)
		describe(holders, sizeof(holders), &p);
	participants_free(&p);
	tell(w, holders);
}

static void *watch(void *arg)
{
	struct waiting *w = arg;
	struct pollfd fd = { .fd = w->done, .events = POLLIN };

	for (int pause_ms = FIRST_MS; poll(&fd, 1, pause_ms) == 0;) {
		look(w);
		pause_ms *= 2;
		if (pause_ms > LAST_MS)
			pause_ms = LAST_MS;
	}
	return NULL;
}

void waiting_begin(struct waiting *w, dlock_lock *lock, const char *name,
		   const dlock_client *client)
{
	w->lock = lock;
	w->name = name;
	w->can_ask = (dlock_caps(client) & DLOCK_CAP_INSPECT) != 0;
	w->began = boottime_now();
	w->done = eventfd(0, EFD_CLOEXEC);
	if (w->done < 0)
		return;
	pthread_mutex_init(&w->mu, NULL);
	w->started = pthread_create(&w->thread, NULL, watch, w) == 0;
	if (w->started)
		return;
	pthread_mutex_destroy(&w->mu);
	close(w->done);
}

void waiting_over(struct waiting *w)
{
	if (!w->started)
		return;
	pthread_mutex_lock(&w->mu);
	w->over = 1;
	pthread_mutex_unlock(&w->mu);
	eventfd_write(w->done, 1);
}

void waiting_end(struct waiting *w)
{
	if (!w->started)
		return;
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->mu);
	close(w->done);
	w->started = 0;
}
