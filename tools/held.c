/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"
#include "boottime.h"
#include "exits.h"
#include "message.h"
#include "namesake.h"
#include "wait.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* poll(2) does not count the time in which the host sleeps. */
#define LOOK_MS 10000

/* Longest wait for room on standard error: meanwhile nobody notices the end of
 * the command, and the guard hears of no renewal. */
#define SAY_MS 100

#define MARGIN_MIN_MS 50
#define MARGIN_MAX_MS 250

/* Most time for the thread that prints events. */
#define REASON_S 5

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct held *h = arg;

	(void)hold;
	switch (event) {
	case DLOCK_AT_RISK:
		say("\"%s\" is at risk: %s", h->name, why);
		break;
	case DLOCK_SAFE:
		say("\"%s\" is safe again", h->name);
		break;
	case DLOCK_LOST:
		say("\"%s\" is lost: %s", h->name, why);
		sem_post(&h->loss_told);
		break;
	case DLOCK_WANTED:
		break; /* job_run() looks at the descriptor */
	case DLOCK_UNCONFIRMED:
		say("\"%s\" was released, and the store did not confirm it",
		    h->name);
		break;
	}
}

int held_choose(struct held *h)
{
	int status = store_choose(&h->store, &h->o);

	return status ? status : store_require(&h->store, &h->o);
}

int held_open(struct held *h)
{
	int status;

	say_within(SAY_MS);
	sem_init(&h->loss_told, 0, 0);
	status = store_open(&h->store, &h->o, on_event, h);

	if (status == 0)
		status = store_refuse_private(&h->store);
	if (status == 0)
		status = store_lock(&h->lock, &h->store, &h->o, h->name);
	if (status == 0 && signals_take(&h->signals) < 0)
		status = fail(exit_for_errno(errno), "signals: %s",
			      strerror(errno));
	return status;
}

static void tell_of_namesake(const struct held *h)
{
	struct participants p = { 0 };

	namesake_fetch(&p, &h->store, &h->o, h->name);
	if (p.count > 0)
		say("the %s \"%s\" is in use, too, and excludes nobody here: "
		    "this is the %s of that name",
		    namesake_kind(&h->o), h->name, kind_name(h->o.kind));
	participants_free(&p);
}

int held_acquire(struct held *h)
{
	int64_t wait_ms = h->o.wait_ms;
	int code, sig;

	if (h->o.verbose) {
		tell_of_namesake(h);
		say("waiting for \"%s\"", h->name);
	}
	/* The opening of the store and the question took a part of the time. */
	if (wait_ms > 0) {
		wait_ms -= (boottime_now() - h->began) / MS;
		if (wait_ms < 0)
			wait_ms = 0;
	}
	if (wait_ms != 0 && (h->o.verbose || isatty(STDERR_FILENO)))
		waiting_begin(&h->waiting, h->lock, h->name, h->store.client);
	code = wait_acquire(h->lock, h->o.shared, h->o.take, wait_ms,
			    &h->signals, &h->hold, &sig);
	h->granted = boottime_now();
	waiting_over(&h->waiting);
	if (sig) {
		h->hold = NULL;
		h->end.sig = sig;
		return LEAVE_SIGNAL + sig;
	}
	if (code == DLOCK_EBUSY) {
		if (h->o.verbose)
			say("%s", dlock_errmsg());
		return (int)h->o.conflict;
	}
	if (code > 0)
		return fail(exit_for_errno(code), "cannot wait for \"%s\": %s",
			    h->name, strerror(code));
	if (code < 0)
		return fail_dlock(code);
	if (h->o.verbose)
		say("holding \"%s\", token %llu", h->name,
		    (unsigned long long)dlock_token(h->hold));
	return 0;
}

int held_take_signals(const struct held *h)
{
	int sig;

	while ((sig = signals_next(&h->signals)) != 0) {
		if (sigismember(&h->signals.ending, sig) == 1)
			return sig;
		/* dlock must go on, for the lease. */
		if (sig == SIGTSTP)
			say("\"%s\" stays held; Ctrl-C releases it", h->name);
	}
	return 0;
}

int64_t held_margin_ms(int64_t lease_ms)
{
	int64_t margin_ms = lease_ms / 100;

	if (margin_ms < MARGIN_MIN_MS)
		margin_ms = MARGIN_MIN_MS;
	if (margin_ms > MARGIN_MAX_MS)
		margin_ms = MARGIN_MAX_MS;
	return margin_ms < lease_ms / 8 + 1 ? margin_ms : lease_ms / 8 + 1;
}

int held_keep(struct held *h, int status)
{
	struct pollfd fds[2] = {
		{ .fd = h->signals.fd, .events = POLLIN },
		{ .fd = dlock_hold_fd(h->hold), .events = POLLIN },
	};
	int told = !h->o.verbose;

	while (dlock_check(h->hold) == DLOCK_OK) {
		int64_t left_ms = h->o.at_least_ms -
				  (boottime_now() - h->granted) / MS;

		if (left_ms <= 0)
			break;
		if (!told)
			say("holding \"%s\" for another %" PRId64 ".%03d s",
			    h->name, left_ms / 1000, (int)(left_ms % 1000));
		told = 1;
		poll(fds, 2, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
		h->end.sig = held_take_signals(h);
		if (h->end.sig)
			return LEAVE_SIGNAL + h->end.sig;
	}
	return status;
}

/* The release would take the event back, and the reason would be lost. */
static void await_reason(struct held *h)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REASON_S;
	while (sem_clockwait(&h->loss_told, CLOCK_MONOTONIC, &until) < 0 &&
	       errno == EINTR)
		continue;
}

int held_release(struct held *h, int status)
{
	int code;

	if (dlock_check(h->hold) == DLOCK_ELOST)
		await_reason(h);
	code = dlock_release(h->hold);

	if (code == DLOCK_OK || status == LEAVE_LOST)
		return status;
	if (code == DLOCK_ELOST)
		return fail(LEAVE_LOST,
			    "\"%s\" was lost before it was released: what was "
			    "done at its end may clash with another holder",
			    h->name);
	say("the release of \"%s\" failed; it comes free when its lease ends: "
	    "%s",
	    h->name, dlock_errmsg());
	return status;
}

int held_close(struct held *h, int status)
{
	waiting_end(&h->waiting);
	dlock_lock_free(h->lock);
	store_close(&h->store);
	if (h->end.sig && status == LEAVE_SIGNAL + h->end.sig)
		signals_follow(&h->end);
	return status;
}
