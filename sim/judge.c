/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/world/net.h"

static void fault(struct sim_judge *j, int lock, const struct sim_hold *a,
		  const char *what)
{
	sim_judge_fault(j, "lock %d caller %d token %" PRIu64 ": %s", lock,
			a->caller, a->token, what);
}

/* ---- Promises ------------------------------------------------------------ */

/* Since when has the store declared no loss? */
static int64_t excused_until(const struct sim_judge *j)
{
	return j->lost_at > j->set_forward_at ? j->lost_at : j->set_forward_at;
}

static int counts(const struct sim_judge *j, const struct sim_hold *h)
{
	return h->caller != 0 && h->end_at > j->net->now &&
	       h->asked_at > excused_until(j);
}

static void check(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	int others = 0, shared = 0;

	if (!counts(j, hold))
		return;
	for (int i = 0; i < SIM_CALLERS; i++) {
		const struct sim_hold *other = &j->holds[lock][i];

		if (other->caller == hold->caller || !counts(j, other))
			continue;
		others++;
		shared += other->is_shared && hold->is_shared;
	}
	if (others > shared)
		fault(j, lock, hold, "two holders");
	if (lock == SIM_SEMAPHORE && shared >= SIM_PERMITS)
		fault(j, lock, hold, "too many holders");
}

/* Tokens rise, even if the store has lost all.  But if the clock has been set
 * back, they may fall if the store lost them, too, or within the tenth of a
 * second to which the store knows them: see docs/redis.md. */
static int may_fall(const struct sim_judge *j, uint64_t before, uint64_t token)
{
	return j->set_back_ms > 0 &&
	       (j->lost_at >= 0 || before / 100000 == token / 100000);
}

static void check_token(struct sim_judge *j, int lock,
			const struct sim_hold *hold)
{
	uint64_t before = hold->is_shared ? j->last_exclusive[lock] :
					    j->last[lock];

	if (hold->token <= before && hold->asked_at > excused_until(j) &&
	    !may_fall(j, before, hold->token))
		fault(j, lock, hold, "its token has not risen");
	if (hold->token > j->last[lock])
		j->last[lock] = hold->token;
	if (!hold->is_shared)
		j->last_exclusive[lock] = hold->token;
}

static struct sim_hold *place(struct sim_judge *j, int lock, int caller)
{
	return &j->holds[lock][caller - 1];
}

void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	j->grants++;
	sim_net_note(j->net, "lock %d caller %d holds, token %" PRIu64, lock,
		     hold->caller, hold->token);
	check_token(j, lock, hold);
	*place(j, lock, hold->caller) = *hold;
	check(j, lock, hold);
}

void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t end_at)
{
	struct sim_hold *hold = place(j, lock, caller);

	j->renewals++;
	if (hold->caller == 0 || hold->end_at <= j->net->now)
		fault(j, lock, hold, "renewed when it had ended");
	hold->end_at = end_at;
	check(j, lock, hold);
}

void sim_judge_end(struct sim_judge *j, int lock, int caller)
{
	*place(j, lock, caller) = (struct sim_hold){ 0 };
	sim_net_note(j->net, "lock %d caller %d ends", lock, caller);
}

/* ---- Entries of the store ------------------------------------------------ */

void sim_judge_owner(char out[SIM_OWNER], int caller, unsigned int life,
		     unsigned int claims)
{
	snprintf(out, SIM_OWNER, "%08x%08x%08x%08x", (unsigned int)caller, life,
		 claims, 0u);
}

void sim_judge_over(struct sim_judge *j, int caller, unsigned int life,
		    unsigned int claims)
{
	j->over[caller - 1].life = life;
	j->over[caller - 1].claims = claims;
	sim_net_note(j->net, "caller %d claim %u is over", caller, claims);
}

static void check_owner(struct sim_judge *j, int lock, const char *owner)
{
	unsigned int caller, life, claims;

	if (sscanf(owner, "%8x%8x%8x", &caller, &life, &claims) != 3 ||
	    caller < 1 || caller > SIM_CALLERS)
		sim_judge_fault(j, "lock %d has the owner %.32s", lock, owner);
	else if (j->over[caller - 1].life == life &&
		 claims <= j->over[caller - 1].claims)
		sim_judge_fault(j,
				"lock %d: caller %u holds by claim %u, "
				"which is over",
				lock, caller, claims);
}

/* Bytes may be late by more than the client can wait.  A claim made by such
 * bytes lasts for a lease, or for half a lease more. */
static int is_excused(const struct sim_judge *j)
{
	int64_t lease_ms = (int64_t)j->net->weather.lease_ms;

	return j->net->late_at >= 0 &&
	       j->net->now - j->net->late_at <
		       (2 * lease_ms + j->set_back_ms) * 1000000;
}

void sim_judge_store(struct sim_judge *j)
{
	const struct sim_server *s = &j->net->servers[j->net->master];
	int64_t us = sim_server_us(j->net, s);

	for (int lock = 0; lock < SIM_LOCKS && !is_excused(j); lock++) {
		const struct sim_bytes *value;
		const char *owner;
		char key[24];

		snprintf(key, sizeof(key), "dlock:{%c%d}",
			 lock == SIM_SEMAPHORE ? 's' : 'l', lock);
		value = sim_redis_string(s->redis, key, us);
		if (value && value->len > 34 && sim_bytes_text(value)[1] == ' ')
			check_owner(j, lock, sim_bytes_text(value) + 2);
		memcpy(key + strlen(key), ":s", 3);
		for (size_t i = 0;
		     (owner = sim_redis_alive(s->redis, key, i, us)); i++)
			check_owner(j, lock, owner);
	}
}

void sim_judge_fault(struct sim_judge *j, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (j->faults++ == 0)
		memcpy(j->fault, text, sizeof(text));
	sim_net_note(j->net, "FAULT %s", text);
}
