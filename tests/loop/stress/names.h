/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads look "slow.test" of unit/names.h up, and take the answer or end the
 * look-up as the answer comes.
 */
#ifndef TESTS_LOOP_STRESS_NAMES_H
#define TESTS_LOOP_STRESS_NAMES_H

void names_start(void);
void names_stop(void);

/* Were some answers taken, and some look-ups ended without? */
int names_have_shown_both(void);

#endif
