/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a machine was during a trial: on an overloaded machine, the load
 * alone may explain lateness.
 */
#ifndef DLOCK_LAB_LOAD_H
#define DLOCK_LAB_LOAD_H

#include <stdint.h>

struct lab_load {
	int64_t begun;
	int64_t waited_us; /* < 0: the kernel does not count */
};

struct lab_load lab_load_begin(void);

/* Return for how much of the time since, in percent, a runnable thread waited
 * for a CPU, a disk or memory. */
int lab_load_percent(const struct lab_load *since);

#endif
