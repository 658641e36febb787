/* SPDX-License-Identifier: Apache-2.0 */
/* Options that flock(1) has and dlock has not: why, and what to do instead. */
#ifndef DLOCK_TOOLS_HABITS_H
#define DLOCK_TOOLS_HABITS_H

/* What to say to somebody who gives the option `word`, of which getopt_long()
 * has found the letter `letter` to be unknown, or 0; NULL: flock(1) has none
 * such. */
const char *habit_of(const char *word, int letter);

/* Is that the number of a descriptor, where dlock wants a name or a URI? */
int is_descriptor(const char *word);

#define NO_DESCRIPTORS                                                         \
	"dlock locks names, not descriptors: `dlock hold NAME` holds a lock "  \
	"in the middle of a script"

#endif
