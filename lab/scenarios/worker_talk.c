/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to workers, and their replies. */
#include "lab/base/clock.h"
#include "lab/scenarios/trial.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PATIENCE_MS 20000
#define SLICE_MS 50 /* how soon a stop is noticed */

bool lab_worker_receive(struct lab_worker *p, int64_t deadline,
			struct lab_reply *reply)
{
	while (p->fd >= 0) {
		struct pollfd q = { .fd = p->fd, .events = POLLIN };
		int64_t slice = lab_after_ms(SLICE_MS);
		int n = poll(&q, 1,
			     lab_poll_ms(slice < deadline ? slice : deadline));

		if (n > 0)
			return recv(p->fd, reply, sizeof(*reply), 0) ==
			       sizeof(*reply);
		if (lab_trial_stopped(p->trial))
			lab_trial_fail(p->trial, "interrupted");
		if (lab_now() >= deadline || p->trial->failed)
			return false;
	}
	return false;
}

/* Return the next reply of one kind; keep a reply of the other kind for
 * later. */
static bool next_reply(struct lab_worker *p, int64_t deadline, bool side,
		       struct lab_reply *reply)
{
	if (!side && p->replied) {
		*reply = p->reply;
		p->replied = false;
		return true;
	}
	while (lab_worker_receive(p, deadline, reply)) {
		if ((reply->verb > LAB_SIDE) == side)
			return true;
		if (!side)
			continue; /* came too late */
		p->reply = *reply;
		p->replied = true;
	}
	return false;
}

void lab_tell(struct lab_worker *p, const struct lab_order *e)
{
	if (!p || p->fd < 0 || p->trial->failed)
		return;
	if (send(p->fd, e, sizeof(*e), MSG_NOSIGNAL) < 0)
		lab_trial_fail(p->trial, "%s is gone: %s", p->label,
			       strerror(errno));
}

struct lab_reply lab_hear(struct lab_worker *p, int64_t ms)
{
	struct lab_reply r = { .rc = LAB_NO_REPLY };

	if (!p || p->trial->failed ||
	    !next_reply(p, lab_after_ms(ms), false, &r)) {
		memset(&r, 0, sizeof(r));
		r.rc = LAB_NO_REPLY;
		snprintf(r.text, sizeof(r.text), "no answer in %d ms", (int)ms);
	}
	return r;
}

struct lab_reply lab_do(struct lab_worker *p, const struct lab_order *e)
{
	lab_tell(p, e);
	return lab_hear(p, PATIENCE_MS +
				   (e->timeout_ms > 0 ? e->timeout_ms : 0) +
				   e->run_ms);
}

bool lab_busy(struct lab_worker *p, int64_t ms)
{
	if (!p || p->trial->failed || p->replied)
		return false;
	p->replied = next_reply(p, lab_after_ms(ms), false, &p->reply);
	return !p->replied;
}

static struct lab_order on_lock(struct lab_worker *p, enum lab_verb verb)
{
	struct lab_order e = { .verb = verb };

	snprintf(e.name, sizeof(e.name), "%s", p->trial->name);
	return e;
}

void lab_tell_take(struct lab_worker *p, int64_t timeout_ms)
{
	struct lab_order e;

	if (!p)
		return;
	e = on_lock(p, LAB_DO_ACQUIRE);
	e.timeout_ms = timeout_ms;
	lab_tell(p, &e);
}

struct lab_reply lab_take(struct lab_worker *p, int64_t timeout_ms)
{
	return lab_take_as(p, LAB_MUTEX, 0, timeout_ms);
}

struct lab_reply lab_take_as(struct lab_worker *p, enum lab_mode mode,
			     uint32_t limit, int64_t timeout_ms)
{
	struct lab_order e;

	if (!p)
		return (struct lab_reply){ .rc = LAB_NO_REPLY };
	e = on_lock(p, LAB_DO_ACQUIRE);
	e.mode = mode;
	e.limit = limit;
	e.timeout_ms = timeout_ms;
	return lab_do(p, &e);
}

struct lab_reply lab_give(struct lab_worker *p)
{
	struct lab_order e = { .verb = LAB_DO_RELEASE };

	return lab_do(p, &e);
}

struct lab_reply lab_stats(struct lab_worker *p)
{
	struct lab_order e = { .verb = LAB_DO_STATS };
	struct lab_reply r = { .rc = LAB_NO_REPLY };

	lab_tell(p, &e);
	if (p && !p->trial->failed)
		next_reply(p, lab_after_ms(PATIENCE_MS), true, &r);
	return r;
}

void lab_await_waiting(struct lab_worker *p)
{
	int64_t deadline = lab_after_ms(PATIENCE_MS);

	while (p && !p->trial->failed && lab_now() < deadline &&
	       !lab_trial_stopped(p->trial)) {
		if (lab_stats(p).count > 0 || p->replied)
			break;
		lab_nap_ms(2);
	}
	/* Parked in this process; a foreign lock needs time to enqueue. */
	if (p && p->trial->sut->foreign)
		lab_nap_ms(50);
}
