/* SPDX-License-Identifier: Apache-2.0 */
/* Options that flock(1) has and dlock has not: why, and what to do instead. */
#ifndef DLOCK_TOOLS_HABITS_H
#define DLOCK_TOOLS_HABITS_H

/* Return the advice for a user of the option `word`, or NULL if flock(1) has no
 * such option.  `letter` is the letter that getopt_long() did not know, or
 * 0. */
const char *habit_of(const char *word, int letter);

/* Is that the number of a descriptor, where dlock wants a name or a URI? */
int is_descriptor(const char *word);

#define NO_DESCRIPTORS                                                         \
	"dlock locks names, not descriptors: `dlock hold NAME` holds a lock "  \
	"in the middle of a script"

#endif
