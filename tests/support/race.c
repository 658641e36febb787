/* SPDX-License-Identifier: Apache-2.0 */
#include "race.h"

#include <stdio.h>
#include <stdlib.h>

#include "fake.h"

int64_t race_ms = 2000;

static int n_passed, n_failed;

int race_begin(int argc, char **argv)
{
	if (argc > 1)
		race_ms = atol(argv[1]) * 1000;
	return fake_register();
}

void race_check(int good, const char *name, const char *what)
{
	if (good) {
		n_passed++;
		return;
	}
	n_failed++;
	printf("FAILED %s: %s\n", name, what);
}

int race_end(void)
{
	race_check(fake_complaint() == NULL, "rules of backend.h",
		   fake_complaint() ? fake_complaint() : "");
	printf("%d passed, %d failed, 0 skipped\n", n_passed, n_failed);
	return n_failed != 0;
}

void race_wrong(atomic_ulong *count, const char *name, const char *call, int rc)
{
	if (atomic_fetch_add(count, 1) == 0)
		printf("%s: %s: %s: %s\n", name, call, dlock_errname(rc),
		       rc < 0 ? dlock_errmsg() : "");
}

int race_may_end(int rc)
{
	return rc == DLOCK_OK || rc == DLOCK_EBUSY || rc == DLOCK_ECANCELED ||
	       rc == DLOCK_ELOST || rc == DLOCK_EUNREACHABLE;
}

unsigned int race_draw(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

void race_harm(struct fake *fake, uint64_t id, unsigned int *seed)
{
	if (race_draw(seed, 4) == 0)
		fake_lose(fake, id);
	if (race_draw(seed, 64) == 0)
		fake_lose_all(fake);
	if (race_draw(seed, 16) == 0)
		FAKE_SCRIPT(fake,
			    race_draw(seed, 2) ? FAKE_ATTEMPT : FAKE_RELEASE,
			    .fault = FAKE_CUT);
}

void race_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	if (pthread_create(thread, NULL, run, arg) != 0)
		abort();
}
