/* SPDX-License-Identifier: Apache-2.0 */
#include "support/diary.h"

#include <stdio.h>
#include <string.h>

#include "support/wait.h"

void diary_event(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	struct diary *d = arg;

	pthread_mutex_lock(&d->mu);
	if (d->n < DIARY_PAGES) {
		d->page[d->n].hold = hold;
		d->page[d->n].event = event;
		d->page[d->n].at = dlk_now();
		d->page[d->n].check = dlock_check(hold);
		snprintf(d->page[d->n].why, sizeof(d->page[0].why), "%s", why);
		d->n++;
	}
	pthread_mutex_unlock(&d->mu);
	if (event == DLOCK_AT_RISK) {
		d->risks++;
	} else if (event == DLOCK_SAFE) {
		d->safes++;
	} else if (event == DLOCK_LOST) {
		if (d->losses == 0)
			d->lost_ms = now_ms();
		d->losses++;
	}
}

static void write_log(const struct dlock_log_line *line, void *arg)
{
	struct diary *d = arg;
	size_t used;

	pthread_mutex_lock(&d->mu);
	used = strlen(d->log);
	snprintf(d->log + used, sizeof(d->log) - used, "%d %s\n", line->level,
		 line->text);
	pthread_mutex_unlock(&d->mu);
}

dlock_options diary_options(struct diary *d)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	if (d) {
		o.on_event = diary_event;
		o.on_log = write_log;
		o.arg = d;
	}
	return o;
}

int diary_times(struct diary *d, const char *part)
{
	const char *at = d->log;
	int n = 0;

	pthread_mutex_lock(&d->mu);
	while ((at = strstr(at, part)) != NULL) {
		at += strlen(part);
		n++;
	}
	pthread_mutex_unlock(&d->mu);
	return n;
}

int diary_says(struct diary *d, const char *part)
{
	return diary_times(d, part) > 0;
}
