/* SPDX-License-Identifier: Apache-2.0 */
#include "caps.h"
#include "exits.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BETWEEN ", \t"
#define NAME_SIZE 32

/* All of them; ends in NULL. */
static void known(const char *names[CAP_BITS + 2])
{
	size_t n = 0;

	names[n++] = "NONE";
	for (int bit = 0; bit < CAP_BITS; bit++) {
		const char *name = dlock_cap_name(1u << bit);

		if (name)
			names[n++] = name;
	}
	names[n] = NULL;
}

static int refuse(const char *name, const char *from)
{
	const char *names[CAP_BITS + 2], *meant;
	char upper[NAME_SIZE];
	size_t i;

	known(names);
	for (i = 0; name[i]; i++)
		upper[i] = name[i] >= 'a' && name[i] <= 'z' ?
				   (char)(name[i] - 'a' + 'A') :
				   name[i];
	upper[i] = '\0';
	meant = nearest(upper, names);
	if (meant)
		return fail(LEAVE_USAGE,
			    "%s: there is no capability \"%s\": did you mean "
			    "%s?",
			    from, name, meant);
	return fail(LEAVE_USAGE,
		    "%s: there is no capability \"%s\": `dlock backends` "
		    "prints those of each store",
		    from, name);
}

/* Return the bit of a name; 0 for an unknown name. */
static uint32_t bit_of(const char *name)
{
	for (int bit = 0; bit < CAP_BITS; bit++) {
		const char *one = dlock_cap_name(1u << bit);

		if (one && !strcasecmp(one, name))
			return 1u << bit;
	}
	return 0;
}

int caps_parse(const char *text, const char *from, uint32_t *out)
{
	int none = 0;

	*out = 0;
	text += strspn(text, BETWEEN);
	if (!*text)
		return fail(LEAVE_USAGE,
			    "%s names no capability: \"none\" requires nothing",
			    from);
	while (*text) {
		size_t n = strcspn(text, BETWEEN);
		char name[NAME_SIZE];
		uint32_t bit;

		snprintf(name, sizeof(name), "%.*s", n > 255 ? 255 : (int)n,
			 text);
		bit = bit_of(name);
		if (!bit && strcasecmp(name, "none") != 0)
			return refuse(name, from);
		*out |= bit;
		none |= !bit;
		text += n;
		text += strspn(text, BETWEEN);
	}
	if (none && *out)
		return fail(LEAVE_USAGE,
			    "%s: \"none\" stands alone, or not at all", from);
	return 0;
}

char *caps_text(uint32_t caps)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	const char *gap = "";

	if (!f)
		return NULL;
	for (int bit = 0; bit < CAP_BITS; bit++) {
		const char *name = dlock_cap_name(caps & 1u << bit);

		if (!(caps & 1u << bit) || !name)
			continue;
		fprintf(f, "%s%s", gap, name);
		gap = " ";
	}
	if (fclose(f) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}
