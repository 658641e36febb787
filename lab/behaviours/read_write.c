/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scene.h"

static void run(struct lab_trial *t)
{
	static const enum lab_mode modes[4] = { LAB_WRITE, LAB_READ, LAB_READ,
						LAB_WRITE };

	lab_crowd(t, modes, 4, 0, 0, lab_of(t, 400, 1500));
}

const struct lab_behaviour lab_behaviour_read_write = {
	.id = "read-write",
	.title = "read-write lock",
	.guarantee = "readers share, a writer excludes everybody",
	.place = 60,
	.caps = DLOCK_CAP_SHARED,
	.needs = LAB_NEEDS_LIBRARY,
	.run = run,
};
