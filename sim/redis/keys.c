/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

void rm_del(const struct rm_call *call)
{
	int64_t n = 0;

	for (size_t i = 1; i < call->argc; i++)
		n += rm_db_remove(rm_db_of(call), call->argv[i],
				  rm_now_ms(call));
	rm_reply_integer(call->out, n);
}

void rm_exists(const struct rm_call *call)
{
	int64_t n = 0;

	for (size_t i = 1; i < call->argc; i++)
		n += rm_db_find(rm_db_of(call), call->argv[i],
				rm_now_ms(call)) != NULL;
	rm_reply_integer(call->out, n);
}

/* ---- Expiry -------------------------------------------------------------- */

void rm_pexpire(const struct rm_call *call)
{
	struct rm_value *v;
	int64_t when;

	if (!rm_integer_arg(call, 2, &when))
		return;
	if (__builtin_add_overflow(when, rm_now_ms(call), &when)) {
		rm_reply_error(call->out, "ERR invalid expire time in "
					  "'pexpire' command");
		return;
	}
	v = rm_db_find(rm_db_of(call), call->argv[1], rm_now_ms(call));
	if (v && when <= rm_now_ms(call))
		rm_db_remove(rm_db_of(call), call->argv[1], rm_now_ms(call));
	else if (v)
		v->expiry_ms = when;
	rm_reply_integer(call->out, v != NULL);
}

void rm_persist(const struct rm_call *call)
{
	struct rm_value *v = rm_db_find(rm_db_of(call), call->argv[1],
					rm_now_ms(call));
	int had = v && v->expiry_ms != RM_NO_EXPIRY;

	if (v)
		v->expiry_ms = RM_NO_EXPIRY;
	rm_reply_integer(call->out, had);
}

/* -2: no such key; -1: no expiry. */
void rm_pttl(const struct rm_call *call)
{
	const struct rm_value *v = rm_db_find(rm_db_of(call), call->argv[1],
					      rm_now_ms(call));

	if (!v || v->expiry_ms == RM_NO_EXPIRY)
		rm_reply_integer(call->out, v ? -1 : -2);
	else
		rm_reply_integer(call->out, v->expiry_ms - rm_now_ms(call));
}

/* ---- All of them --------------------------------------------------------- */

void rm_keys(const struct rm_call *call)
{
	struct rm_db *db = rm_db_of(call);
	size_t n = 0;

	rm_db_expire(db, rm_now_ms(call));
	for (size_t i = 0; i < db->keys.n; i++)
		n += rm_matches(call->argv[1], db->keys.entries[i].key) != 0;
	rm_reply_array(call->out, n);
	for (size_t i = 0; i < db->keys.n; i++) {
		if (rm_matches(call->argv[1], db->keys.entries[i].key))
			rm_reply_text(call->out, db->keys.entries[i].key);
	}
}

void rm_flushall(const struct rm_call *call)
{
	sim_redis_flush(call->server);
	rm_reply_status(call->out, "OK");
}
