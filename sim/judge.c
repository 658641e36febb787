/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/net.h"
#include "sim/world/timer.h"

static void fault(struct sim_judge *j, int lock, const struct sim_hold *a,
		  const char *what)
{
	sim_judge_fault(j, "lock %d caller %d token %" PRIu64 ": %s", lock,
			a->caller, a->token, what);
}

/* ---- Promises ------------------------------------------------------------ */

/* The store told the token to the breaker; the breaker's op may go on. */
static uint64_t told_by(const char *about)
{
	return about ? strtoull(about, NULL, 10) : 0;
}

static uint64_t may_be_broken(const struct sim_judge *j, int lock)
{
	uint64_t most = j->broken[lock].to_come;

	for (int i = 0; i < SIM_CALLERS; i++) {
		uint64_t told = told_by(j->breaks[i].about);

		if (j->breaks[i].lock == lock && told > most)
			most = told;
	}
	return most;
}

static int counts(const struct sim_judge *j, int lock, const struct sim_hold *h)
{
	return h->caller != 0 && !h->is_misled && !h->is_broken &&
	       h->end_at > j->net->now &&
	       h->asked_at > sim_judge_excused_until(j) &&
	       h->token > may_be_broken(j, lock);
}

/* Is one of them the upgrade of the other? */
static int is_upgrade_of(const struct sim_hold *a, const struct sim_hold *b)
{
	return (a->beside != 0 && a->beside == b->token) ||
	       (b->beside != 0 && b->beside == a->token);
}

static void check(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	uint32_t permits = hold->permits;
	int others = 0, shared = 0;

	if (!counts(j, lock, hold))
		return;
	for (int i = 0; i < SIM_CALLERS; i++) {
		const struct sim_hold *other = &j->holds[lock][i];

		if (other->caller == 0 || other->caller == hold->caller ||
		    !counts(j, lock, other) || is_upgrade_of(hold, other))
			continue;
		others++;
		permits += other->permits;
		shared += other->is_shared && hold->is_shared;
	}
	if (others > shared)
		fault(j, lock, hold, "two holders");
	if (lock == SIM_SEMAPHORE && permits > sim_judge_permits(j, hold))
		fault(j, lock, hold, "too many permits");
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

	if (hold->token <= before &&
	    hold->asked_at > sim_judge_excused_until(j) &&
	    hold->token > may_be_broken(j, lock) &&
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

/* Can a break have met some of the claim's entries, but not the last? */
static int is_met_by_break(const struct sim_judge *j, int lock,
			   const struct sim_hold *hold)
{
	int is_met = j->broken[lock].ended_at > hold->asked_at;

	for (int i = 0; i < SIM_CALLERS; i++)
		is_met |= j->breaks[i].about && j->breaks[i].lock == lock;
	return is_met && j->has_entry_of_permit && hold->permits > 1;
}

static int is_used(const struct sim_judge *j)
{
	for (int i = 0; i < SIM_CALLERS; i++) {
		if (counts(j, SIM_SEMAPHORE, &j->holds[SIM_SEMAPHORE][i]))
			return 1;
	}
	return 0;
}

void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	struct sim_hold *mine;

	j->grants++;
	if (lock == SIM_SEMAPHORE && !is_used(j))
		j->permits.used_from = j->net->now;
	sim_net_note(j->net, "lock %d caller %d holds, token %" PRIu64, lock,
		     hold->caller, hold->token);
	check_token(j, lock, hold);
	mine = place(j, lock, hold->caller);
	*mine = *hold;
	mine->is_broken = is_met_by_break(j, lock, hold);
	check(j, lock, mine);
}

/* Note that the hold stood when the store read a request of `since`.  After a
 * break tokens may fall, and a hold asked for later stands. */
static void check_stands(struct sim_judge *j, int lock,
			 const struct sim_hold *hold, int64_t since)
{
	const struct sim_broken *broken = &j->broken[lock];

	if (hold->token <= broken->token && hold->asked_at <= broken->at &&
	    since > broken->at && broken->at > sim_judge_excused_until(j))
		fault(j, lock, hold, "stands, but had been broken");
}

void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t since,
		     int64_t end_at)
{
	struct sim_hold *hold = place(j, lock, caller);

	j->renewals++;
	if (hold->caller == 0 || hold->end_at <= j->net->now)
		fault(j, lock, hold, "renewed when it had ended");
	check_stands(j, lock, hold, since);
	hold->end_at = end_at;
	check(j, lock, hold);
}

void sim_judge_share(struct sim_judge *j, int lock, int caller)
{
	place(j, lock, caller)->is_shared = 1;
}

void sim_judge_lost(struct sim_judge *j, int lock, int caller)
{
	const struct sim_hold *hold = place(j, lock, caller);

	if (counts(j, lock, hold))
		fault(j, lock, hold, "lost, but nobody took it");
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
	const unsigned int parts[4] = { (unsigned int)caller, life, claims };

	for (unsigned int i = 0; i < 32; i++) {
		unsigned int digit = parts[i / 8] >> (28 - 4 * (i % 8)) & 15;

		out[i] = "0123456789abcdef"[digit];
	}
	out[32] = '\0';
}

void sim_judge_over(struct sim_judge *j, int caller, unsigned int life,
		    unsigned int claims)
{
	j->over[caller - 1].life = life;
	j->over[caller - 1].claims = claims;
	sim_net_note(j->net, "caller %d claim %u is over", caller, claims);
}

/* Read eight digits of an owner; UINT_MAX if there are no digits. */
static unsigned int owner_part(const char *owner, size_t n)
{
	char part[9], *end;
	unsigned long value;

	if (strlen(owner) < 8 * (n + 1))
		return UINT_MAX;
	memcpy(part, owner + 8 * n, 8);
	part[8] = '\0';
	value = strtoul(part, &end, 16);
	return *end ? UINT_MAX : (unsigned int)value;
}

static void check_owner(struct sim_judge *j, int lock, const char *owner)
{
	unsigned int caller = owner_part(owner, 0);
	unsigned int life = owner_part(owner, 1);
	unsigned int claims = owner_part(owner, 2);

	if (caller < 1 || caller > SIM_CALLERS || life == UINT_MAX ||
	    claims == UINT_MAX)
		sim_judge_fault(j, "lock %d has the owner %.32s", lock, owner);
	else if (j->over[caller - 1].life == life &&
		 claims <= j->over[caller - 1].claims)
		sim_judge_fault(j,
				"lock %d: caller %u holds by claim %u, "
				"which is over",
				lock, caller, claims);
}

int64_t sim_judge_linger_ms(const struct sim_judge *j)
{
	int64_t ms = j->linger_ms;

	for (size_t i = 0; i < j->net->n_servers; i++)
		ms += j->net->servers[i].slept_us / 1000;
	return ms;
}

/* Bytes may be late by more than the client can wait.  A claim made by such
 * bytes lasts for a lease, or for half a lease more; or longer, until a server
 * that was stopped counts the seconds again.  A store that lingers counts a
 * lease in whole seconds, by a timer that may be late. */
static int is_excused(const struct sim_judge *j)
{
	const struct sim_net *n = j->net;
	const struct sim_server *s = &n->servers[n->master];
	int64_t lease = (int64_t)n->weather.lease_ms;
	int64_t ms = j->set_back_ms + sim_judge_linger_ms(j);

	if (j->linger_ms > 0) {
		lease = (lease + 999) / 1000 * 1000;
		ms += SIM_LATE_MS;
	}
	ms += 2 * lease;

	if (s->caught_up_at == SIM_NEVER && !sim_model_goes_by_wall(s->model))
		return 1;
	return n->late_at >= 0 && n->now - n->late_at < ms * 1000000;
}

/* Get the n-th entry of a lock in the store.  0: no such entry. */
static int entry(const struct sim_judge *j, int lock, int is_shared, size_t n,
		 struct sim_entry *out)
{
	const struct sim_server *s = &j->net->servers[j->net->master];
	const char key[] = { lock == SIM_SEMAPHORE ? 's' : 'l',
			     (char)('0' + lock), '\0' };

	return sim_model_entry(s->model, key, is_shared, n,
			       sim_server_time(j->net, s), out);
}

void sim_judge_store(struct sim_judge *j)
{
	const struct sim_net *n = j->net;
	const struct sim_server *other = &n->servers[1];
	struct sim_entry e;

	if (n->weather.has_stranger &&
	    sim_model_is_used(other->model, sim_server_time(n, other)))
		sim_judge_fault(j, "a client asks the other server");
	for (int lock = 0; lock < SIM_LOCKS && !is_excused(j); lock++) {
		for (size_t i = 0; entry(j, lock, 0, i, &e); i++)
			check_owner(j, lock, e.owner);
		for (size_t i = 0; entry(j, lock, 1, i, &e); i++)
			check_owner(j, lock, e.owner);
	}
}

void sim_judge_shared(struct sim_judge *j, int lock, int caller, int64_t since,
		      const char *owner)
{
	const struct sim_hold *hold = place(j, lock, caller);
	struct sim_entry e;
	size_t i = 0;

	check_stands(j, lock, hold, since);
	if (!counts(j, lock, hold))
		return;
	if (entry(j, lock, 0, 0, &e) &&
	    strncmp(e.owner, owner, SIM_OWNER - 1) == 0)
		fault(j, lock, hold, "shared, but exclusive in the store");
	while (entry(j, lock, 1, i, &e)) {
		if (strncmp(e.owner, owner, SIM_OWNER - 1) == 0)
			return;
		i++;
	}
	fault(j, lock, hold, "shared, but not in the store");
}

/* ---- Breaks -------------------------------------------------------------- */

void sim_judge_break(struct sim_judge *j, int caller, int lock,
		     const char *about)
{
	j->breaks[caller - 1].lock = lock;
	j->breaks[caller - 1].about = about;
	j->breaks[caller - 1].begun_at = j->net->now;
	if (lock == SIM_SEMAPHORE)
		j->permits.limit = 0;
}

static void check_broken(struct sim_judge *j, int lock, uint64_t token)
{
	struct sim_entry e;

	/* At a semaphore's gate there are waiters. */
	if (lock != SIM_SEMAPHORE && entry(j, lock, 0, 0, &e) && e.token > 0 &&
	    e.token <= token)
		sim_judge_fault(j,
				"lock %d: token %" PRIu64
				" was broken, but the store has the hold",
				lock, token);
}

void sim_judge_broken(struct sim_judge *j, int caller, int is_done)
{
	int lock = j->breaks[caller - 1].lock;
	uint64_t token = told_by(j->breaks[caller - 1].about);
	struct sim_broken *broken = &j->broken[lock];
	int64_t begun_at = j->breaks[caller - 1].begun_at;
	int is_sure;

	/* An item with a new number looks like a later holder's; and a store
	 * that has lost keys since may have lost the break. */
	is_done = is_done && begun_at > j->moved_at && begun_at > j->lost_at;
	is_sure = is_done && j->set_back_ms == 0 &&
		  begun_at > sim_judge_excused_until(j);

	j->breaks[caller - 1].about = NULL;
	broken->ended_at = j->net->now;
	sim_net_note(j->net, "caller %d %s lock %d up to token %" PRIu64,
		     caller, is_done ? "has broken" : "may have broken", lock,
		     token);
	if (token > broken->to_come)
		broken->to_come = token;
	if (is_done && token >= broken->token) {
		broken->token = token;
		broken->at = j->net->now;
	}
	if (is_sure && token > 0)
		check_broken(j, lock, token);
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
