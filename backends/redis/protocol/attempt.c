/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"
#include "core/base/error.h"

/* The pause of a waiter without an ear. */
enum { UNNOTIFIED_MS = 100 };

static enum redis_script script_of(const struct redis_store *s,
				   const struct dlk_request *request)
{
	if (s->plain)
		return RD_ATTEMPT_PLAIN;
	return request->mode == DLK_SHARED ? RD_ATTEMPT_SHARED :
					     RD_ATTEMPT_EXCLUSIVE;
}

void dlki_redis_store_attempt(struct redis_store *s, struct dlki_op *op)
{
	const struct dlk_request *request = op->request;
	char payload[RD_PAYLOAD_SIZE], record[RD_RECORD_SIZE];
	const struct redis_arg args[] = {
		{ request->owner, RD_OWNER_LEN },
		s->ttl,
		dlki_redis_payload(request, s->ttl, payload),
		dlki_redis_wait_record(s->order, request, op->id, s->channel,
				       record),
	};
	const struct redis_script_call call = { script_of(s, request), args,
						4 };

	if (dlki_redis_store_may_ask(s, op))
		dlki_redis_store_call(s, op, &call);
}

/* ---- The answer ---------------------------------------------------------- */

static void fail_for_good(struct dlki_op *op,
			  const struct redis_attempt_answer *answer)
{
	const char *name = op->request->name;
	struct dlk_error err;

	if (answer->type == RD_LIMIT)
		dlki_other_limit(&err, op->request, answer->limit);
	else if (answer->type == RD_ENDLESS)
		dlk_fail(&err, DLOCK_EPROTO,
			 "'%s': the holder's key has lost its expiry; break "
			 "the lock to free it",
			 name);
	else
		dlk_fail(&err, DLOCK_EPROTO,
			 "'%s': its key holds something that is not dlock's "
			 "and never expires; remove it, or use another prefix",
			 name);
	dlki_failed(op, &err, DLKI_RESIDUE_MAYBE);
}

static int digit_value(char digit)
{
	return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

/* Return the pause before the next look, `most_ms` at most.  Waiters that came
 * at the same time would look at the same time, and so would waiters that a
 * restart of the server has made look.  So the first pause is shorter by up to
 * a half, and each later pause by up to a sixteenth, by the owner's random
 * digits. */
static int64_t next_look_ms(const struct dlki_op *op, int64_t most_ms)
{
	const char *random = op->request->owner;
	int part = 16 * digit_value(random[0]) + digit_value(random[1]);

	return most_ms - most_ms * part / (op->again ? 256 * 16 : 256 * 2);
}

/* End the op as BUSY.  With key=plain there is no ear: foreign clients publish
 * no grants. */
static void end_busy(struct redis_store *s, struct dlki_op *op,
		     const struct redis_attempt_answer *answer)
{
	int64_t most = s->agreed.lease_ms / 3 > 0 ? s->agreed.lease_ms / 3 : 1;
	int64_t wait_ms = answer->wait_ms;

	if (s->plain) {
		dlki_busy(op, wait_ms, 0);
		return;
	}
	dlki_want(s->ear.link);
	if (wait_ms == 0 || wait_ms > most)
		wait_ms = next_look_ms(op, most);
	if (!dlki_is_up(s->ear.link) && wait_ms > UNNOTIFIED_MS)
		wait_ms = UNNOTIFIED_MS;
	dlki_busy(op, wait_ms, answer->clock_us);
}

enum redis_taken dlki_redis_store_attempted(struct redis_store *s,
					    const struct redis_answer *a)
{
	struct redis_attempt_answer answer =
		dlki_redis_attempt_answer(a->reply);

	if (answer.type == RD_NONSENSE)
		return RD_SENSELESS;
	if (!a->op)
		return RD_TAKEN;
	if (answer.type == RD_GRANTED)
		dlki_granted(a->op, answer.token);
	else if (answer.type == RD_BUSY)
		end_busy(s, a->op, &answer);
	else
		fail_for_good(a->op, &answer);
	return RD_TAKEN;
}
