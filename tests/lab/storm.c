/* SPDX-License-Identifier: Apache-2.0 */
#include "storm.h"
#include "lab/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <time.h>

Test(storm, interrupts_what_can_be_interrupted, .timeout = 120)
{
	int interrupted = 0;

	cr_assert_eq(storm_start(500), 0);
	for (int i = 0; i < 50; i++) {
		errno = 0;
		interrupted += poll(NULL, 0, 10000) < 0 && errno == EINTR;
	}
	cr_expect_geq(storm_stop(), 50);
	cr_expect_eq(interrupted, 50);
	/* The storm is over. */
	cr_expect_eq(poll(NULL, 0, 20), 0);
}

Test(storm, the_lab_sleeps_through_it, .timeout = 120)
{
	int64_t begin = lab_now();

	cr_assert_eq(storm_start(500), 0);
	lab_nap_ms(30);
	storm_stop();
	cr_expect_geq(lab_now() - begin, 30 * LAB_MS);
}
