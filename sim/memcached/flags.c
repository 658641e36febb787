/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/flags.h"

#include <inttypes.h>
#include <string.h>

#define BAD_TOKEN "CLIENT_ERROR bad token in command line format"

enum { OPAQUE_MAX = 32, WORDS_MAX = 19 };

static const char *read_end(const struct mm_call *call, const char *text,
			    uint32_t *out)
{
	int32_t exptime;

	if (!mm_read_i32(text, &exptime))
		return BAD_TOKEN;
	*out = mm_end_of(call->conn->server, exptime);
	return NULL;
}

/* A flag with a value.  `f->first` is left alone. */
static const char *read_valued(const struct mm_call *call, struct mm_text word,
			       struct mm_flags *f)
{
	const char *value = word.s + 1;

	switch (*word.s) {
	case 'N':
		f->makes = 1;
		return read_end(call, value, &f->made_end_s);
	case 'T':
		f->has_end = 1;
		return read_end(call, value, &f->end_s);
	case 'R':
		return read_end(call, value, &f->recache_s);
	case 'F':
		return mm_read_u32(value, &f->client) ? NULL : MM_BAD_FORMAT;
	case 'C':
		f->has_cas = 1;
		return mm_read_u64(value, &f->cas) ? NULL : BAD_TOKEN;
	case 'M':
		f->mode = *value;
		return word.len == 2 ?
			       NULL :
			       "CLIENT_ERROR incorrect length for M token";
	case 'J':
		return mm_read_u64(value, &f->initial) ?
			       NULL :
			       "CLIENT_ERROR invalid numeric initial value";
	default:
		return mm_read_u64(value, &f->delta) ?
			       NULL :
			       "CLIENT_ERROR invalid numeric delta value";
	}
}

static void read_plain(char flag, struct mm_flags *f)
{
	f->is_silent |= flag == 'q';
	f->is_look |= flag == 'u';
	f->has_value |= flag == 'v';
	f->is_stale |= flag == 'I';
}

/* The first unknown or repeated flag ends the reading; of other errors the last
 * is told. */
const char *mm_flags_read(const struct mm_call *call, size_t first,
			  struct mm_flags *out)
{
	const struct mm_words *w = &call->words;
	char seen[128] = { 0 };
	const char *error = NULL;

	*out = (struct mm_flags){ .first = first, .delta = 1 };
	for (size_t i = first; i < w->n; i++) {
		unsigned char flag = (unsigned char)*w->v[i].s;
		const char *rc = NULL;

		if (flag >= 127 || seen[flag])
			return "CLIENT_ERROR duplicate flag";
		seen[flag] = 1;
		if (strchr("NTRFCMJD", flag))
			rc = read_valued(call, w->v[i], out);
		else if (strchr("lOPLkstcfvhuqI", flag))
			read_plain((char)flag, out);
		else
			return "CLIENT_ERROR invalid flag";
		error = rc ? rc : error;
	}
	return error;
}

int mm_flags_opaque_fits(const struct mm_call *call,
			 const struct mm_flags *flags)
{
	for (size_t i = flags->first; i < call->words.n; i++) {
		if (*call->words.v[i].s == 'O' &&
		    call->words.v[i].len > OPAQUE_MAX)
			return 0;
	}
	return 1;
}

void mm_flags_echo(struct sim_bytes *out, struct mm_text word,
		   struct mm_text key)
{
	if (*word.s == 'O')
		sim_bytes_printf(out, " %s", word.s);
	else if (*word.s == 'k')
		sim_bytes_printf(out, " k%s", key.s);
}

int mm_flags_may_follow(const struct mm_call *call, const char *too_long)
{
	if (call->words.n < 2)
		mm_reply_error(call, "ERROR");
	else if (call->words.v[1].len > MM_KEY_MAX)
		mm_reply_error(call, MM_BAD_FORMAT);
	else if (call->words.n > WORDS_MAX)
		mm_reply_error(call, too_long);
	else
		return 1;
	return 0;
}

void mm_flags_put_line(const struct mm_call *call, const char *status,
		       const struct mm_flags *flags)
{
	struct sim_bytes *out = &call->conn->out;

	sim_bytes_text_add(out, status);
	for (size_t i = flags->first; i < call->words.n; i++)
		mm_flags_echo(out, call->words.v[i], call->words.v[1]);
	sim_bytes_text_add(out, "\r\n");
}

void mm_put_left(struct sim_bytes *out, const struct mm_items *all,
		 uint32_t end_s)
{
	if (end_s == 0)
		sim_bytes_text_add(out, " t-1");
	else
		sim_bytes_printf(out, " t%" PRIu32, end_s - all->now_s);
}
