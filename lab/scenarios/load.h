/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a machine was meanwhile: what is late on one that is too busy may be
 * late for that reason alone.
 */
#ifndef DLOCK_LAB_LOAD_H
#define DLOCK_LAB_LOAD_H

#include <stdint.h>

struct lab_load {
	int64_t begun;
	int64_t waited_us; /* < 0: the kernel does not count it */
};

struct lab_load lab_load_begin(void);

/* For how much of the time since, in percent, something that could have run
 * waited for a CPU, a disk or memory. */
int lab_load_percent(const struct lab_load *since);

#endif
