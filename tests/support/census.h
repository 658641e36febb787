/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A census of this process's threads and descriptors, to find leaks.
 */
#ifndef DLOCK_TESTS_CENSUS_H
#define DLOCK_TESTS_CENSUS_H

#define CENSUS_FDS 4096

struct census {
	int threads;
	int fds;
	unsigned char open[CENSUS_FDS]; /* by descriptor */
};

void census_take(struct census *c);

/* Counts the threads of this process with the name. */
int census_threads(const char *name);

/* Tells whether there are more threads or descriptors than then. */
int census_grown(const struct census *then);

/* Waits until all threads and descriptors made since then are gone; the failure
 * names the rest. */
void census_same(const struct census *then);

#endif
