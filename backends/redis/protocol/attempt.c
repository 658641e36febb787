/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/args.h"
#include "backends/redis/protocol/store.h"

/* How soon a waiter without an ear asks again. */
enum { UNNOTIFIED_MS = 100 };

/* "f x 0 1 dlock:inbox:...": the script's record of a waiter.  Readers are
 * always fair: otherwise they would pass the writers in the queue. */
static struct redis_arg wait_record(const struct redis_store *s,
				    const struct dlki_op *op, char out[200])
{
	const struct dlk_request *request = op->request;
	int is_reader = request->kind == DLK_LOCK &&
			request->mode == DLK_SHARED;
	size_t channel = strlen(s->channel);
	size_t n = 4;

	out[0] = is_reader ? 'f' : s->order;
	out[1] = ' ';
	out[2] = request->mode == DLK_SHARED ? 's' : 'x';
	out[3] = ' ';
	n += dlki_redis_digits(out + n, request->limit);
	out[n++] = ' ';
	n += dlki_redis_digits(out + n, op->id);
	out[n++] = ' ';
	memcpy(out + n, s->channel, channel);
	return (struct redis_arg){ out, n + channel };
}

void dlki_redis_store_attempt(struct redis_store *s, struct dlki_op *op)
{
	const struct dlk_request *request = op->request;
	struct redis_arg ttl = { s->ttl, s->ttl_len };
	char payload[RD_PAYLOAD_SIZE], record[200];
	struct redis_script_call call = {
		.text = request->mode == DLK_SHARED ? RD_TEXT_SHARED :
						      RD_TEXT_EXCLUSIVE,
		.key = request->key,
		.args = {
			{ request->owner, RD_STORE_OWNER },
			ttl,
			dlki_redis_payload(request, ttl, s->label_len, payload),
			wait_record(s, op, record),
		},
		.n_args = 4,
	};

	dlki_redis_store_call(s, op, &call);
}

/* ---- The answer ---------------------------------------------------------- */

/* Cut the clock off "B <ms> <clock>"; 0: no clock is there. */
static uint64_t cut_clock(char *text)
{
	char *at = strrchr(text, ' ');
	uint64_t clock = 0;

	if (text[0] != 'B' || !at || at == text + 1)
		return 0;
	for (const char *p = at + 1; *p; p++) {
		if (*p < '0' || *p > '9' || p - at > 18)
			return 0;
		clock = clock * 10 + (uint64_t)(*p - '0');
	}
	*at = '\0';
	return clock;
}

static void fail_for_good(struct dlki_op *op,
			  const struct redis_attempt_answer *answer)
{
	struct dlk_error err;

	if (answer->type == RD_LIMIT)
		dlk_fail(&err, DLOCK_EINVAL,
			 "semaphore '%s' has %u permits, not %u",
			 op->request->name, (unsigned int)answer->limit,
			 (unsigned int)op->request->limit);
	else if (answer->type == RD_ENDLESS)
		dlk_fail(&err, DLOCK_EPROTO,
			 "'%s': the holder's key has lost its expiry; break "
			 "the lock to free it",
			 op->request->name);
	else
		dlk_fail(&err, DLOCK_EPROTO,
			 "'%s': its key holds something that is not dlock's "
			 "and never expires; remove it, or use another prefix",
			 op->request->name);
	dlki_failed(op, &err, DLKI_RESIDUE_MAYBE);
}

static void end_busy(struct redis_store *s, struct dlki_op *op, int64_t wait_ms,
		     uint64_t clock)
{
	int64_t most = s->terms.lease_ms / 3 > 0 ? s->terms.lease_ms / 3 : 1;

	dlki_want(s->ear.link);
	if (wait_ms == 0 || wait_ms > most)
		wait_ms = most;
	if (!dlki_is_up(s->ear.link) && wait_ms > UNNOTIFIED_MS)
		wait_ms = UNNOTIFIED_MS;
	dlki_busy(op, wait_ms, clock);
}

int dlki_redis_store_attempted(struct redis_store *s, struct dlki_op *op,
			       const struct redis_reply *reply)
{
	struct redis_attempt_answer answer;
	struct redis_reply plain = *reply;
	uint64_t clock = 0;
	char text[64];

	if (reply->type == RD_STRING && reply->len < sizeof(text)) {
		memcpy(text, reply->text, reply->len + 1);
		clock = cut_clock(text);
		plain.text = text;
		if (clock)
			plain.len = strlen(text);
	}
	answer = dlki_redis_attempt_answer(&plain);
	if (answer.type == RD_NONSENSE)
		return 0;
	if (!op)
		return 1;
	if (answer.type == RD_GRANTED)
		dlki_granted(op, answer.token);
	else if (answer.type == RD_BUSY)
		end_busy(s, op, answer.wait_ms, clock);
	else
		fail_for_good(op, &answer);
	return 1;
}
