/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads look a name up, and take the answer or end the look-up as the answer
 * comes.  In this program "stress.test" is 127.0.0.1.
 */
#ifndef TESTS_LOOP_STRESS_NAMES_H
#define TESTS_LOOP_STRESS_NAMES_H

void names_start(void);
void names_stop(void);

/* Were some answers taken, and some look-ups ended without? */
int names_have_shown_both(void);

#endif
