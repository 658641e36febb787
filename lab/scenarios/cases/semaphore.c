/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

#define PERMITS 2

/* Check that all permits can be held at once.  A crowd would do with fewer. */
static void exhaust(struct lab_trial *t)
{
	static const char *const names[PERMITS + 1] = { "A", "B", "C" };
	struct lab_worker *p[PERMITS + 1];
	struct lab_reply r;

	for (int i = 0; i <= PERMITS; i++)
		p[i] = lab_join(t, names[i], 0);
	for (int i = 0; i < PERMITS; i++) {
		r = lab_take_as(p[i], LAB_PERMIT, PERMITS, LAB_ANSWER_MS);
		lab_expect(t, r.rc == DLOCK_OK,
			   "permit %d of %d could not be had: %s", i + 1,
			   PERMITS, r.text);
	}
	r = lab_take_as(p[PERMITS], LAB_PERMIT, PERMITS, 0);
	lab_expect(t, r.rc == DLOCK_EBUSY,
		   "asked while all were held: \"%s\", not busy",
		   r.rc == DLOCK_OK ? "granted" : r.text);
	for (int i = 0; i < PERMITS; i++)
		lab_give(p[i]);
	for (int i = 0; i <= PERMITS; i++)
		lab_leave(p[i]);
}

static void run_semaphore(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_PERMIT, LAB_PERMIT,
						LAB_PERMIT, LAB_PERMIT };

	exhaust(t);
	lab_crowd(t, modes, 4, PERMITS, 0, lab_of(t, 400, 1500));
}

/* The conform case: semaphore_permits. */
const struct lab_scenario lab_scenario_semaphore = {
	.id = "semaphore",
	.title = "semaphore",
	.guarantee = "as many hold as there are permits, and no more",
	.place = 70,
	.caps = DLOCK_CAP_COUNT,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run_semaphore,
};
