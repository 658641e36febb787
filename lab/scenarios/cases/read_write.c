/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

/* After a violation the holder is unknown, and a holder that asks again would
 * be noted as another. */
static void may(struct lab_trial *t, struct lab_worker *p, enum lab_mode mode,
		const char *otherwise)
{
	struct lab_reply r;

	if (t->broken)
		return;
	r = lab_take_as(p, mode, 0, LAB_ANSWER_MS);
	lab_expect(t, r.rc == DLOCK_OK, "%s: %s", otherwise, r.text);
}

static void may_not(struct lab_trial *t, struct lab_worker *p,
		    enum lab_mode mode, const char *when)
{
	struct lab_reply r;

	if (t->broken)
		return;
	r = lab_take_as(p, mode, 0, 0);
	lab_expect(t, r.rc == DLOCK_EBUSY, "%s: \"%s\", not busy", when,
		   r.rc == DLOCK_OK ? "granted" : r.text);
}

/* Check that readers share.  A crowd would do with turns, too. */
static void share(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", 0);
	struct lab_worker *b = lab_join(t, "B", 0);
	struct lab_worker *c = lab_join(t, "C", 0);

	may(t, a, LAB_READ, "a free lock was not granted");
	may(t, b, LAB_READ, "B could not read while A did");
	may_not(t, c, LAB_WRITE, "C asked to write while A and B read");
	lab_give(a);
	may_not(t, c, LAB_WRITE, "C asked to write while B read");
	lab_give(b);
	may(t, c, LAB_WRITE, "it was not free when all had read");
	may_not(t, a, LAB_READ, "A asked to read while C wrote");
	lab_give(c);
	lab_leave(a);
	lab_leave(b);
	lab_leave(c);
}

static void run_read_write(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_WRITE, LAB_READ, LAB_READ,
						LAB_WRITE };

	share(t);
	lab_crowd(t, modes, 4, 0, 0, lab_of(t, 400, 1500));
}

/* The conform case: rwlock_*. */
const struct lab_scenario lab_scenario_read_write = {
	.id = "read-write",
	.title = "read-write lock",
	.guarantee = "readers share, a writer excludes everybody",
	.place = 60,
	.caps = DLOCK_CAP_SHARED,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_read_write,
};
