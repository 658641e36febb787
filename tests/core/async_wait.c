/* SPDX-License-Identifier: Apache-2.0 */
/* dlock_wait() beside a thread in a callback. */
#include "core/fixture.h"

#include <dlock/async.h>
#include <stdatomic.h>

#include "support/wait.h"

static atomic_int is_inside, may_end;

static void takes_long(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(r->code);
	is_inside = 1;
	for (int i = 0; i < 3000 && !may_end; i++)
		nap_ms(1);
	OK(dlock_release(r->hold));
}

static void *processes(void *arg)
{
	OK(dlock_wait(client, patience_ms()));
	return arg;
}

CASE(async, a_wait_beside_a_long_callback_ends_in_time)
{
	pthread_t id;

	given_mutex("fake:");
	OK(dlock_lock_unbind(lock));
	OK(dlock_acquire_start(lock, -1, takes_long, NULL, NULL));
	cr_assert_eq(pthread_create(&id, NULL, processes, NULL), 0);
	EVENTUALLY(is_inside);
	OK(dlock_nudge(client));
	REFUSED(dlock_wait(client, 20), DLOCK_EBUSY, "in time");
	may_end = 1;
	pthread_join(id, NULL);
}
