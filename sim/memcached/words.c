/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void mm_words_split(struct mm_words *w, char *line)
{
	w->n = 0;
	for (line += strspn(line, " "); *line && w->n < MM_WORDS;) {
		size_t len = strcspn(line, " ");
		char *next = line + len + strspn(line + len, " ");

		w->v[w->n++] = (struct mm_text){ line, len };
		line[len] = '\0';
		line = next;
	}
	w->v[w->n] = (struct mm_text){ "", 0 };
}

int mm_word_is(struct mm_text word, const char *text)
{
	return strcmp(word.s, text) == 0;
}

static int ends_here(const char *text, const char *end)
{
	return errno != ERANGE && end != text &&
	       (*end == '\0' || isspace((unsigned char)*end));
}

int mm_read_u64(const char *text, uint64_t *out)
{
	char *end;
	uint64_t n;

	errno = 0;
	*out = 0;
	n = strtoull(text, &end, 10);
	if (!ends_here(text, end) || (n > INT64_MAX && strchr(text, '-')))
		return 0;
	*out = n;
	return 1;
}

int mm_read_u32(const char *text, uint32_t *out)
{
	uint64_t n;
	int rc = mm_read_u64(text, &n);

	*out = (uint32_t)n;
	return rc;
}

int mm_read_i32(const char *text, int32_t *out)
{
	char *end;
	long long n;

	errno = 0;
	*out = 0;
	n = strtoll(text, &end, 10);
	if (!ends_here(text, end))
		return 0;
	*out = (int32_t)(uint32_t)(uint64_t)n;
	return 1;
}
