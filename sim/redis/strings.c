/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/redis/call.h"
#include "sim/redis/commands.h"

static struct rm_text text_of(const struct rm_value *v)
{
	return (struct rm_text){ sim_bytes_text(&v->string), v->string.len };
}

static int get(const struct rm_call *call)
{
	struct rm_value *v;

	if (!rm_find_typed(call, call->argv[1], RM_STRING, &v))
		return 0;
	if (v)
		rm_reply_text(call->out, text_of(v));
	else
		rm_reply_nil(call->out);
	return 1;
}

void rm_get(const struct rm_call *call)
{
	(void)get(call);
}

/* ---- SET ----------------------------------------------------------------- */

struct set_options {
	int nx, xx, get, keep;
	int64_t expiry_ms; /* or RM_NO_EXPIRY */
};

/* Read the time behind "PX" and the like.  1, or the reply with the error. */
static int read_time(const struct rm_call *call, size_t at, int64_t *expiry_ms)
{
	int is_s = rm_is(call->argv[at], "EX") || rm_is(call->argv[at], "EXAT");
	int is_at = call->argv[at].len == 4;
	int64_t n;

	if (!rm_integer_arg(call, at + 1, &n))
		return 0;
	if (n <= 0 || (is_s && n > INT64_MAX / 1000) ||
	    (!is_at && (is_s ? n * 1000 : n) > INT64_MAX - rm_now_ms(call))) {
		rm_reply_error(call->out,
			       "ERR invalid expire time in 'set' command");
		return 0;
	}
	*expiry_ms = (is_s ? n * 1000 : n) + (is_at ? 0 : rm_now_ms(call));
	return 1;
}

/* Where the time stands comes out in *time_at; 0: nowhere. */
static int read_options(const struct rm_call *call, struct set_options *o,
			size_t *time_at)
{
	*time_at = 0;
	for (size_t i = 3; i < call->argc; i++) {
		struct rm_text word = call->argv[i];

		if (rm_is(word, "NX") && !o->xx) {
			o->nx = 1;
		} else if (rm_is(word, "XX") && !o->nx) {
			o->xx = 1;
		} else if (rm_is(word, "GET")) {
			o->get = 1;
		} else if (rm_is(word, "KEEPTTL") && *time_at == 0) {
			o->keep = 1;
		} else if ((rm_is(word, "PX") || rm_is(word, "PXAT") ||
			    rm_is(word, "EX") || rm_is(word, "EXAT")) &&
			   *time_at == 0 && !o->keep && i + 1 < call->argc) {
			*time_at = i++;
		} else {
			return 0;
		}
	}
	return 1;
}

void rm_set(const struct rm_call *call)
{
	struct set_options o = { .expiry_ms = RM_NO_EXPIRY };
	struct rm_value *v;
	size_t time_at;

	if (!read_options(call, &o, &time_at)) {
		rm_reply_syntax(call);
		return;
	}
	if (time_at > 0 && !read_time(call, time_at, &o.expiry_ms))
		return;
	if (o.get && !get(call))
		return;
	v = rm_db_find(rm_db_of(call), call->argv[1], rm_now_ms(call));
	if ((o.nx && v) || (o.xx && !v)) {
		if (!o.get)
			rm_reply_nil(call->out);
		return;
	}
	if (v && o.keep)
		o.expiry_ms = v->expiry_ms;
	v = rm_db_put(rm_db_of(call), call->argv[1], RM_STRING);
	v->expiry_ms = o.expiry_ms;
	sim_bytes_add(&v->string, call->argv[2].s, call->argv[2].len);
	if (!o.get)
		rm_reply_status(call->out, "OK");
}

/* ---- Others -------------------------------------------------------------- */

void rm_setrange(const struct rm_call *call)
{
	struct rm_text bytes = call->argv[3];
	struct rm_value *v;
	size_t offset;
	int64_t n;
	char *at;

	if (!rm_integer_arg(call, 2, &n))
		return;
	if (n < 0 || n > INT64_C(512) * 1024 * 1024) {
		rm_reply_error(call->out, n < 0 ? "ERR offset is out of range" :
						  "ERR string exceeds maximum "
						  "allowed size (512MB)");
		return;
	}
	if (!rm_find_typed(call, call->argv[1], RM_STRING, &v))
		return;
	offset = (size_t)n;
	if (bytes.len > 0) {
		if (!v)
			v = rm_db_put(rm_db_of(call), call->argv[1], RM_STRING);
		at = sim_bytes_resize(&v->string,
				      offset + bytes.len > v->string.len ?
					      offset + bytes.len :
					      v->string.len);
		memcpy(at + offset, bytes.s, bytes.len);
	}
	rm_reply_integer(call->out, v ? (int64_t)v->string.len : 0);
}
