/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/stress/names.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/net/resolver.h"
#include "core/world/real.h"
#include "support/wait.h"
#include "unit/names.h"

enum { LOOKERS = 3 };

static pthread_t threads[LOOKERS];
static atomic_int stopped;
static atomic_long begun, taken;

static void *look_up(void *arg)
{
	struct dlki_lookup lookup;
	struct dlki_found found;
	struct dlk_error err;
	struct dlki_world *world = dlki_real_new(&err);

	(void)arg;
	CHECK(world != NULL);
	for (int i = 0; !atomic_load(&stopped); i++) {
		dlk_time end = dlk_now() + i % 300 * 1000;

		dlki_lookup_begin(&lookup, world, "slow.test", 1);
		while (dlk_now() < end)
			continue;
		if (i % 2 && dlki_lookup_take(&lookup, &found)) {
			CHECK(found.rc == 0 && found.n == 1);
			taken++;
		}
		dlki_lookup_end(&lookup);
		begun++;
		nap_us(500);
	}
	dlki_real_free(world);
	return NULL;
}

void names_start(void)
{
	names_go_on();
	for (int i = 0; i < LOOKERS; i++)
		CHECK(pthread_create(&threads[i], NULL, look_up, NULL) == 0);
}

void names_stop(void)
{
	atomic_store(&stopped, 1);
	for (int i = 0; i < LOOKERS; i++)
		pthread_join(threads[i], NULL);
}

int names_have_shown_both(void)
{
	return taken > 0 && begun > taken;
}
