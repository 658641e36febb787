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

void rm_get(const struct rm_call *call)
{
	struct rm_value *v;

	if (!rm_find_typed(call, call->argv[1], RM_STRING, &v))
		return;
	if (v)
		rm_reply_text(call->out, text_of(v));
	else
		rm_reply_nil(call->out);
}

/* ---- SET ----------------------------------------------------------------- */

/* Read "PX MS" or "PXAT MS" behind the value.  1, or the reply with the
 * error. */
static int read_expiry(const struct rm_call *call, int64_t *expiry_ms)
{
	int is_at = call->argc == 5 && rm_is(call->argv[3], "PXAT");

	*expiry_ms = RM_NO_EXPIRY;
	if (call->argc == 3)
		return 1;
	if (call->argc != 5 || (!is_at && !rm_is(call->argv[3], "PX"))) {
		rm_reply_syntax(call);
		return 0;
	}
	if (!rm_integer_arg(call, 4, expiry_ms))
		return 0;
	if (*expiry_ms <= 0 ||
	    (!is_at && *expiry_ms > INT64_MAX - rm_now_ms(call))) {
		rm_reply_error(call->out,
			       "ERR invalid expire time in 'set' command");
		return 0;
	}
	*expiry_ms += is_at ? 0 : rm_now_ms(call);
	return 1;
}

void rm_set(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t expiry_ms;

	if (!read_expiry(call, &expiry_ms))
		return;
	v = rm_db_put(rm_db_of(call), call->argv[1], RM_STRING);
	v->expiry_ms = expiry_ms;
	sim_bytes_add(&v->string, call->argv[2].s, call->argv[2].len);
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
