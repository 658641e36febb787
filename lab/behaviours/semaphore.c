/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scene.h"

static void run(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_PERMIT, LAB_PERMIT,
						LAB_PERMIT, LAB_PERMIT };

	lab_crowd(t, modes, 4, 2, 0, lab_of(t, 400, 1500));
}

const struct lab_behaviour lab_behaviour_semaphore = {
	.id = "semaphore",
	.title = "semaphore",
	.guarantee = "no more hold than there are permits",
	.place = 70,
	.caps = DLOCK_CAP_COUNT,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run,
};
