/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/use.h"

#include <dlock/async.h>
#include <poll.h>

#include "sim/process/options.h"
#include "sim/process/sched.h"

/* A holder knows of a loss so soon. */
#define TOLD_NS (1000 * SIM_MS)

size_t sim_caller_draw(struct sim_caller *me, const char *site, size_t n)
{
	return (size_t)sim_draw(me->play->chance, site, n);
}

void sim_nap(int64_t ns)
{
	sim_sched_wait(SIM_SLEEP, NULL, sim_sched_now() + ns);
}

void sim_unexpected(const char *call, int rc)
{
	sim_sched_fail("%s returned %d: %s", call, rc, dlock_errmsg());
}

void sim_await(const struct sim_play *p, dlock_client *c, const int *over)
{
	while (!*over) {
		int rc = dlock_wait(c, 10);

		if (rc == DLOCK_EBUSY || sim_is_scarce(p, rc))
			sim_nap(SIM_MS);
		else if (rc < 0)
			sim_unexpected("dlock_wait", rc);
	}
	if (*over != 1)
		sim_sched_fail("a callback came %d times", *over);
}

int sim_is_scarce(const struct sim_play *p, int rc)
{
	return rc == DLOCK_ENOMEM && p->terms.memory_rate > 0;
}

/* All allocations may fail for leases, and the clock goes on only if the caller
 * waits. */
int sim_again(const struct sim_play *p, int rc, int *tries)
{
	if (!sim_is_scarce(p, rc))
		return 0;
	if (++*tries > 100)
		sim_nap(SIM_MS);
	return 1;
}

int sim_may_fail(const struct sim_play *p, const struct sim_name *name)
{
	return name && name->is_well ? p->terms.well_may_fail :
				       p->terms.may_fail;
}

int sim_may_lose(const struct sim_play *p, const struct sim_name *name)
{
	return name && name->is_well ? p->terms.well_may_lose :
				       p->terms.may_lose;
}

int sim_may_end(const struct sim_play *p, const struct sim_name *name, int rc,
		int64_t timeout_ms)
{
	switch (rc) {
	case DLOCK_OK:
		return 1;
	case DLOCK_EBUSY:
		return timeout_ms >= 0;
	case DLOCK_ECANCELED:
		return p->terms.may_cancel || p->close_has_begun;
	case DLOCK_EUNREACHABLE:
		/* A break may end a claim before the grant is told. */
		return (sim_may_fail(p, name) || p->terms.may_break) &&
		       timeout_ms >= 0;
	case DLOCK_ELOST:
		return sim_may_lose(p, name);
	case DLOCK_ENOMEM:
		return p->terms.memory_rate > 0;
	default:
		return 0;
	}
}

/* After a resize, there may be fewer permits than the acquire is for. */
int sim_use_may_end(const struct sim_use *u, int rc, int64_t timeout_ms)
{
	return sim_may_end(u->by->play, u->name, rc, timeout_ms) ||
	       sim_options_may_end(&u->opts, rc, timeout_ms, u->hold != NULL) ||
	       (rc == DLOCK_ECANCELED && u->may_cancel) ||
	       (rc == DLOCK_EINVAL && u->opts.permits > 1 &&
		u->name->resize.most > 0);
}

/* ---- While the caller holds ---------------------------------------------- */

/* Does the hold's descriptor tell of a loss? */
static int tells_of_loss(const struct sim_use *u)
{
	struct pollfd p = { .fd = dlock_hold_fd(u->hold), .events = POLLIN };

	if (p.fd < 0)
		sim_unexpected("dlock_hold_fd", p.fd);
	return poll(&p, 1, 0) > 0;
}

/* While the server answers every renewal in time, more is left than the
 * warning takes. */
static void check_warning(const struct sim_use *u)
{
	const struct sim_play *p = u->by->play;
	int64_t warning_ms = dlock_warning_ms(u->hold);
	int64_t left_ms = dlock_remaining_ms(u->hold);

	if (left_ms > 0 && left_ms < warning_ms && !sim_may_fail(p, u->name) &&
	    !sim_may_lose(p, u->name))
		sim_sched_fail("%d ms are left of a warning of %d ms",
			       (int)left_ms, (int)warning_ms);
}

/* Without threads, how long the thread that tells may be busy: with a renewal,
 * and with a request that waits for a silent store. */
static int64_t busy_ms(const struct sim_terms *t)
{
	return t->ttl_ms + (t->close_ms > t->ask_ms ? t->close_ms : t->ask_ms);
}

/* Is the hold valid?  The event of a loss comes soon. */
static int look_at(struct sim_use *u)
{
	const int polls = u->by->play->terms.polls;
	const int told = polls && tells_of_loss(u);
	const struct sim_sched_weather *sched = &u->by->play->terms.sched;
	int64_t at = sim_sched_now(), stalled;
	int rc = dlock_check(u->hold);

	if (rc == DLOCK_OK) {
		sim_judge_stands(u->hold, at);
		if (told)
			sim_sched_fail("a descriptor tells of no loss");
		if (polls)
			check_warning(u);
		return 1;
	}
	if (rc != DLOCK_ELOST)
		sim_unexpected("dlock_check", rc);
	sim_judge_lost(u->hold);
	stalled = sim_sched_stalled();
	sim_nap(TOLD_NS);
	if (u->by->play->terms.no_threads)
		sim_nap(busy_ms(&u->by->play->terms) * SIM_MS);
	/* The thread that tells may be stopped. */
	if (sched->stop_rate > 0 || sim_sched_stalled() > stalled)
		sim_nap(2 * sched->stop_ns + sim_sched_stalled() - stalled);
	sim_judge_lost(u->hold);
	if (polls && !tells_of_loss(u))
		sim_sched_fail("a descriptor does not tell of a loss");
	if (!u->by->play->close_has_begun) /* and ends all events */
		sim_ear_lost(u->hold);
	return 0;
}

void sim_use_release(struct sim_use *u)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int rc;

	sim_judge_releasing(u->hold, u->owner);
	rc = dlock_release(u->hold);
	sim_judge_released(u->name, rc,
			   sim_may_lose(u->by->play, u->name) ||
				   sim_options_end(&u->opts));
	sim_judge_returned("a release", begun, stalled,
			   u->by->play->terms.close_ms);
}

int sim_can_revoke(const dlock_client *c, const struct sim_name *name)
{
	uint32_t needed = name->kind == SIM_PERMITS ? DLOCK_CAP_REVOKE_PERMITS :
						      DLOCK_CAP_WANTED;

	return (dlock_caps(c) & needed) != 0;
}

int sim_use_revoke(const struct sim_use *u)
{
	int can = sim_can_revoke(u->by->play->client[u->by->client], u->name);
	int64_t begun = sim_sched_now();
	int rc = dlock_revoke(u->lock, 1000);

	if (rc == DLOCK_OK)
		sim_ear_revoked(u->name, begun);
	return rc == DLOCK_ENOTSUP && !can ? DLOCK_OK : rc;
}

/* A holder asks to be told when a client wants or revokes the lock.  Returns
 * whether the holder is going to be told. */
static int listen_for_revokes(struct sim_use *u)
{
	int rc;

	sim_ear_listening(u->hold);
	rc = dlock_revocable(u->hold);
	if (rc == DLOCK_OK)
		sim_ear_listens(u->hold);
	else if (!(u->side == SIM_WRITE && rc == DLOCK_ENOTSUP) &&
		 !sim_use_may_end(u, rc, 0))
		sim_unexpected("dlock_revocable", rc);
	return rc == DLOCK_OK;
}

static void ask_the_others(const struct sim_use *u)
{
	const struct sim_play *p = u->by->play;
	int rc = sim_use_revoke(u);

	if (!sim_may_end(p, u->name, rc, 0) &&
	    !(rc == DLOCK_EUNREACHABLE && sim_may_lose(p, u->name)))
		sim_unexpected("a revoke", rc);
}

static int is_revocable(const struct sim_use *u)
{
	const struct sim_play *p = u->by->play;

	return p->terms.revocable && u->side != SIM_READ &&
	       sim_can_revoke(p->client[u->by->client], u->name);
}

void sim_use_hold(struct sim_use *u)
{
	int revocable = is_revocable(u) && listen_for_revokes(u);

	for (size_t n = sim_caller_draw(u->by, "naps", 3); n > 0; n--) {
		sim_nap((int64_t)sim_caller_draw(u->by, "nap", 20000) *
			(u->by->play->terms.nap_ns / 20000));
		if (!look_at(u))
			return;
		sim_ear_asked(u->hold);
		if (sim_options_end(&u->opts) &&
		    sim_caller_draw(u->by, "extends", 3) == 0)
			sim_options_extend(u->by, &u->opts, u->hold);
	}
	if (revocable)
		ask_the_others(u);
}

int64_t sim_draw_timeout(struct sim_caller *me, int may_wait)
{
	switch (sim_caller_draw(me, "timeout", may_wait ? 4 : 2)) {
	case 0:
		return 0;
	case 1:
		return (int64_t)sim_caller_draw(me, "ms", 50) + 1;
	default:
		return DLOCK_FOREVER;
	}
}

/* The use's hold is new: the judge hears what the options make of the hold. */
static void agree(const struct sim_use *u, int64_t begun, int64_t stalled)
{
	dlock_client *c = u->by->play->client[u->by->client];

	if (u->opts.size > 0)
		sim_options_agree(&u->opts, c, u->hold, begun);
	if (u->opts.lease_ms == 0 && u->opts.max_hold_ms == 0)
		sim_judge_fresh(u->hold, stalled);
}

int sim_use_acquire(struct sim_use *u, int64_t timeout_ms)
{
	int64_t begun = sim_sched_now(), stalled = sim_sched_stalled();
	int is_new = !u->hold, rc;

	sim_sched_tell("caller %d asks for %p, side %d, for %d ms", u->owner,
		       (void *)u->name, (int)u->side, (int)timeout_ms);
	u->by->waits = timeout_ms < 0;
	u->opts.timeout_ms = timeout_ms;
	u->opts.shared = u->side == SIM_READ;
	if (u->opts.size > 0)
		rc = dlock_acquire_opts(u->lock, &u->opts, &u->hold);
	else if (u->side == SIM_READ)
		rc = dlock_acquire_shared(u->lock, timeout_ms, &u->hold);
	else
		rc = dlock_acquire(u->lock, timeout_ms, &u->hold);
	u->by->waits = 0;
	sim_judge_returned("an acquire", begun, stalled, timeout_ms);
	if (!sim_use_may_end(u, rc, timeout_ms))
		sim_unexpected("an acquire", rc);
	if (rc == DLOCK_OK)
		sim_judge_granted(u->name, u->side, u->hold, u->owner, begun,
				  stalled - sim_options_pause(&u->opts));
	if (rc == DLOCK_OK && is_new)
		agree(u, begun, stalled);
	return rc;
}

struct sim_use sim_use_draw(struct sim_caller *me)
{
	struct sim_play *p = me->play;
	size_t i = sim_caller_draw(me, "name", p->n_names);
	struct sim_use u = {
		.by = me,
		.name = &p->names[i],
		.lock = p->handles[me->client].lock[i],
		.side = SIM_WRITE,
		.owner = me->number,
	};

	if (u.name->kind == SIM_PERMITS)
		u.side = SIM_PERMIT;
	else if (u.name->kind == SIM_READ_WRITE &&
		 sim_caller_draw(me, "reads", 2))
		u.side = SIM_READ;
	if (p->terms.options)
		u.opts = sim_options_draw(me, u.name);
	return u;
}
