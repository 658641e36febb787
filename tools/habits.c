/* SPDX-License-Identifier: Apache-2.0 */
#include "habits.h"

#include <stddef.h>
#include <string.h>

static const struct habit {
	const char *name;
	char letter;
	const char *why;
} habits[] = {
	{ "no-fork", 'F',
	  "no -F: dlock stays beside the command, to renew the lease and to "
	  "stop the command when the lock is lost.  Leave -F out; signals for "
	  "dlock reach the command, and `exec dlock run` leaves no shell "
	  "behind" },
	{ "fd", 0, "no --fd: " NO_DESCRIPTORS },
	{ "unlock", 0,
	  "no --unlock: the lock of `dlock run` ends with the command, and "
	  "that of `dlock hold` with its standard input" },
};

const char *habit_of(const char *word, int letter)
{
	size_t len;

	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
		const struct habit *h = &habits[i];

		if (letter != 0 && h->letter == letter)
			return h->why;
		if (letter != 0 || strncmp(word, "--", 2) != 0)
			continue;
		len = strcspn(word + 2, "=");
		if (len == strlen(h->name) && !strncmp(word + 2, h->name, len))
			return h->why;
	}
	return NULL;
}

int is_descriptor(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}
