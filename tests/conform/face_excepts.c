/* SPDX-License-Identifier: Apache-2.0 */
/* The faces by name, and the cases that do not run over a face. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conform/face.h"

int face_is(const char *name)
{
	const char *face = getenv("CONFORM_FACE");

	return strcmp(face ? face : "blocking", name) == 0;
}

int face_is_async(void)
{
	return face_is("async");
}

int face_exists(const char *name)
{
	return strcmp(name, "blocking") == 0 || strcmp(name, "async") == 0 ||
	       strcmp(name, "no-threads") == 0;
}

/* ---- The exceptions ------------------------------------------------------ */

static const char own[] = "the case makes asynchronous calls of its own";
static const char none[] = "the threads are others over this face";

#define THREADS "holds belong to no thread"
#define WAITS "the program waits, not the library"

static const struct {
	const char *pattern, *why;
} exceptions[] = {
	{ "async_*", own },
	{ "begun_*", own },
	{ "callback_*", own },
	{ "loop_*", own },
	{ "many_*", own },
	{ "no_threads_*", own },
	{ "threads_are_shared", none },
	{ "signals_blocked", none },
	{ "fork_*", "the processing thread is not in the child" },
	{ "mutex_reentry", THREADS },
	{ "mutex_foreign_release", THREADS },
	{ "mutex_unbound", "all handles are unbound" },
	{ "held_by_this_thread", THREADS },
	{ "held_on_both_sides", THREADS },
	{ "exclusion_of_sides_despite_deaths", THREADS },
	{ "rwlock_read_again", THREADS },
	{ "rwlock_upgrade", THREADS },
	{ "rwlock_downgrade", THREADS },
	{ "rwlock_downgrade_token", THREADS },
	{ "rwlock_both_sides", THREADS },
	{ "upgrade_again", THREADS },
	{ "upgrade_to_plain_reader", THREADS },
	{ "upgrade_deadlock", THREADS },
	{ "revoke_of_a_reader", THREADS },
	{ "multi_again", THREADS },
	{ "list_kinds", THREADS },
	{ "descriptors_close_on_exec", THREADS },
	{ "stats_count", THREADS },
	{ "death_of_thread", THREADS },
	{ "lease_lost_reentry", THREADS },
	{ "signals_*", WAITS },
	{ "thread_cancelled", WAITS },
	{ "errno_kept", WAITS },
};

const char *face_excepts(const char *name)
{
	size_t n = sizeof(exceptions) / sizeof(exceptions[0]);

	if (face_is("blocking"))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if ((face_is_async() || exceptions[i].why == own ||
		     exceptions[i].why == none) &&
		    fnmatch(exceptions[i].pattern, name, 0) == 0)
			return exceptions[i].why;
	}
	return NULL;
}
