/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a machine was meanwhile: what is late on one that is too busy may be
 * late for that reason alone.
 */
#ifndef DLOCK_LAB_STRAIN_H
#define DLOCK_LAB_STRAIN_H

#include <stdint.h>

struct lab_strain {
	int64_t begun;
	int64_t waited_us; /* < 0: the kernel does not count it */
};

struct lab_strain lab_strain_begin(void);

/* For how much of the time since, in percent, something that could have run
 * waited for a CPU, a disk or memory. */
int lab_strain_percent(const struct lab_strain *since);

#endif
