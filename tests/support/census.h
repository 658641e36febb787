/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process has: to prove that nothing is left behind.
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

/* How many threads of this process have the name? */
int census_threads(const char *name);

/* Is there more now than then? */
int census_grown(const struct census *then);

/* Wait until nothing is left that was not there then, or fail, naming it. */
void census_same(const struct census *then);

#endif
