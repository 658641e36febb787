/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/attending.h"

#include <dlock/async.h>
#include <poll.h>
#include <pthread.h>

#include "support/check.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static struct attending {
	dlock_client *client;
	pthread_t thread;
	_Atomic int ends;
} all_attending[64];

static void *attend(void *arg)
{
	struct attending *a = arg;
	struct pollfd p = { .fd = dlock_client_fd(a->client),
			    .events = POLLIN };

	CHECK_INT(p.fd, >=, 0);
	while (!a->ends) {
		if (poll(&p, 1, -1) == 1)
			CHECK_INT(dlock_process(a->client, 0), >=, 0);
	}
	return NULL;
}

static struct attending *attending_of(const dlock_client *c)
{
	for (size_t i = 0; i < sizeof(all_attending) / sizeof(all_attending[0]);
	     i++) {
		if (all_attending[i].client == c)
			return &all_attending[i];
	}
	return NULL;
}

void attending_begin(dlock_client *c)
{
	struct attending *a;

	pthread_mutex_lock(&mu);
	a = attending_of(NULL);
	if (!a)
		FAIL("too many clients");
	a->client = c;
	a->ends = 0;
	pthread_mutex_unlock(&mu);
	CHECK_INT(pthread_create(&a->thread, NULL, attend, a), ==, 0);
}

void attending_end(dlock_client *c)
{
	struct attending *a;

	pthread_mutex_lock(&mu);
	a = attending_of(c);
	pthread_mutex_unlock(&mu);
	if (!a)
		return;
	a->ends = 1;
	if (dlock_nudge(c) == DLOCK_OK)
		pthread_join(a->thread, NULL);
	pthread_mutex_lock(&mu);
	a->client = NULL;
	pthread_mutex_unlock(&mu);
}
