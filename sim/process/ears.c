/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/ears.h"

#include "sim/process/sched.h"

enum { EARS = 64 };

/* The last event that is not about others. */
enum news { NEWS_NONE, NEWS_AT_RISK, NEWS_SAFE, NEWS_LOST };

static struct ear {
	const dlock_hold *hold; /* NULL: free */
	struct sim_name *name;
	size_t uses;               /* entries of the judge */
	int64_t since, revoked_at; /* or SIM_FOREVER */
	int caller;                /* the first */
	enum news news;
	/* Told of a loss before the ear was open, or an earlier hold there
	 * was. */
	int early;
	/* How often the caller asked to be told of revokes, and was told. */
	int listens, hears;
	int wanted; /* told since the caller last asked */
} ears[EARS];

/* Holds lost before their ears were open. */
static const dlock_hold *early[EARS];
static size_t n_early;

static struct sim_hearing terms;

void sim_ears_begin(const struct sim_hearing *t)
{
	terms = *t;
}

static struct ear *ear_of(const dlock_hold *hold)
{
	for (size_t i = 0; i < EARS; i++) {
		if (ears[i].hold == hold)
			return &ears[i];
	}
	return NULL;
}

static int take_early(const dlock_hold *hold)
{
	for (size_t i = 0; i < EARS; i++) {
		if (early[i] != hold)
			continue;
		early[i] = NULL;
		return 1;
	}
	return 0;
}

void sim_ear_open(struct sim_name *name, const dlock_hold *hold, int caller)
{
	struct ear *ear = ear_of(hold);

	if (!ear) {
		ear = ear_of(NULL);
		if (!ear)
			sim_sched_fail("more than %d holds", EARS);
		*ear = (struct ear){ .hold = hold,
				     .name = name,
				     .caller = caller,
				     .early = take_early(hold),
				     .since = SIM_FOREVER,
				     .revoked_at = SIM_FOREVER };
	}
	ear->uses++;
}

void sim_ear_close(const dlock_hold *hold)
{
	struct ear *ear = ear_of(hold);

	if (--ear->uses == 0)
		ear->hold = NULL;
}

/* ---- Losses -------------------------------------------------------------- */

void sim_ear_lost(const dlock_hold *hold)
{
	const struct ear *ear = ear_of(hold);

	if (ear && ear->news != NEWS_LOST && !ear->early)
		sim_sched_fail("caller %d was not told of its loss",
			       ear->caller);
}

/* A server without faults renews each hold in time, whatever another server
 * does. */
static void check_risk(const struct ear *ear)
{
	if (ear->name->is_well && !terms.well_may_lose)
		sim_sched_fail("a hold of caller %d is at risk", ear->caller);
}

/* After a loss there is no news; a risk follows no risk. */
static void note_news(struct ear *ear, enum news news)
{
	if (ear->news == NEWS_LOST || ear->news == news)
		sim_sched_fail("caller %d was told %d after %d", ear->caller,
			       (int)news, (int)ear->news);
	if (news == NEWS_AT_RISK)
		check_risk(ear);
	ear->news = news;
}

/* ---- Revokes ------------------------------------------------------------- */

void sim_ear_listening(const dlock_hold *hold)
{
	struct ear *ear = ear_of(hold);

	ear->listens++;
	ear->wanted = 0;
	ear->since = ear->revoked_at = SIM_FOREVER;
}

void sim_ear_listens(const dlock_hold *hold)
{
	ear_of(hold)->since = sim_sched_now();
}

void sim_ear_revoked(const struct sim_name *name, int64_t begun_at)
{
	sim_sched_tell("%p is revoked", (const void *)name);
	for (size_t i = 0; i < EARS; i++) {
		struct ear *ear = &ears[i];

		if (ear->hold && ear->name == name && ear->since <= begun_at &&
		    ear->revoked_at == SIM_FOREVER)
			ear->revoked_at = sim_sched_now();
	}
}

void sim_ear_asked(const dlock_hold *hold)
{
	const struct ear *ear = ear_of(hold);

	if (terms.asked_ns > 0 && ear && !ear->wanted &&
	    ear->revoked_at < SIM_FOREVER &&
	    sim_sched_now() - ear->revoked_at > terms.asked_ns)
		sim_sched_fail("caller %d was not told of a revoke",
			       ear->caller);
}

static void note_wanted(struct ear *ear)
{
	if (ear->news == NEWS_LOST)
		sim_sched_fail("caller %d was told of a revoke after the loss",
			       ear->caller);
	ear->wanted = 1;
	if (++ear->hears > ear->listens)
		sim_sched_fail("caller %d was told of a revoke%s", ear->caller,
			       ear->listens > 0 ? " twice" : " unasked");
}

void sim_ear_event(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg)
{
	struct ear *ear = ear_of(hold);

	(void)why;
	(void)arg;
	if (!ear) {
		if (event == DLOCK_LOST)
			early[n_early++ % EARS] = hold;
		return;
	}
	switch (event) {
	case DLOCK_AT_RISK:
		note_news(ear, NEWS_AT_RISK);
		break;
	case DLOCK_SAFE:
		note_news(ear, NEWS_SAFE);
		break;
	case DLOCK_LOST:
		note_news(ear, NEWS_LOST);
		break;
	case DLOCK_WANTED:
		note_wanted(ear);
		break;
	case DLOCK_UNCONFIRMED:
		break;
	}
}
