/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/attendant.h"

#include <dlock/backend.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/container.h"

/* The places of the timer and of the end. */
enum { TIMER = -1, END = -2 };

static struct dlki_common *_Atomic current;

/* The most descriptors that a dlki_attend() looks at. */
enum { MOST = 16 };

struct dlki_attendant *dlki_attendant_here(void)
{
	return (struct dlki_attendant *)dlki_common_here(
		&current, sizeof(struct dlki_attendant));
}

/* ---- Descriptors, with the mutex held ------------------------------------ */

static void arm(struct dlki_attendant *by, dlk_time at)
{
	struct itimerspec when = { 0 };

	if (at == by->armed)
		return;
	by->armed = at;
	if (at == DLK_FOREVER) /* a zero value disarms */
		at = 0;
	else if (at < 1)
		at = 1;
	when.it_value.tv_sec = at / 1000000000;
	when.it_value.tv_nsec = at % 1000000000;
	timerfd_settime(by->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void dlki_attendant_arm(struct dlki_attendant *by)
{
	if (!by->awake && dlki_heap_next(&by->times) < by->armed)
		arm(by, dlki_heap_next(&by->times));
}

static int add(int set_fd, int fd, uint64_t data)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = data };

	return epoll_ctl(set_fd, EPOLL_CTL_ADD, fd, &ev);
}

int dlki_attendant_control(const struct dlki_attendant *by, int op, int fd,
			   uint32_t events, size_t place, uint32_t serial)
{
	struct epoll_event ev = {
		.events = events,
		.data.u64 = (uint64_t)serial << 32 | (uint32_t)place,
	};

	return epoll_ctl(by->set_fd, op, fd, &ev);
}

int dlki_attendant_open(struct dlki_attendant *by)
{
	by->armed = DLK_FOREVER;
	by->end_fd = -1;
	by->set_fd = epoll_create1(EPOLL_CLOEXEC);
	by->timer_fd = timerfd_create(CLOCK_BOOTTIME,
				      TFD_CLOEXEC | TFD_NONBLOCK);
	if (by->set_fd < 0 || by->timer_fd < 0 ||
	    add(by->set_fd, by->timer_fd, (uint32_t)TIMER) < 0)
		return errno;
	if (by->is_own)
		return 0;
	by->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (by->end_fd < 0 || add(by->set_fd, by->end_fd, (uint32_t)END) < 0)
		return errno;
	return 0;
}

void dlki_attendant_close(const struct dlki_attendant *by)
{
	if (by->set_fd >= 0)
		close(by->set_fd);
	if (by->timer_fd >= 0)
		close(by->timer_fd);
	if (by->end_fd >= 0)
		close(by->end_fd);
}

/* ---- Calls, with the mutex held ------------------------------------------ */

static void call(struct dlki_attendant *by, struct dlki_source *s)
{
	by->calling = s;
	pthread_mutex_unlock(&by->base.mu);
	s->ready(s);
	pthread_mutex_lock(&by->base.mu);
	by->calling = NULL;
	pthread_cond_broadcast(&by->base.changed);
}

/* Call at most as many sources as there are: a source that is due again does
 * not hold up the rest. */
static void call_due(struct dlki_attendant *by)
{
	struct dlki_timer *first;
	size_t most = by->times.n;
	dlk_time now = dlk_now();
	uint64_t ticks;

	by->armed = DLK_FOREVER;
	(void)!read(by->timer_fd, &ticks, sizeof(ticks));
	while (most-- > 0 && (first = dlki_heap_due(&by->times, now))) {
		dlki_heap_remove(&by->times, first);
		call(by, DLKI_CONTAINER_OF(first, struct dlki_source, timer));
	}
}

/* Call the source of the event.  Since the event the source may have left, and
 * another have the place. */
static void call_readable(struct dlki_attendant *by, uint64_t data)
{
	size_t place = (uint32_t)data;

	if (place < by->n && by->v[place] &&
	    by->v[place]->serial == (uint32_t)(data >> 32))
		call(by, by->v[place]);
}

/* ---- The thread ---------------------------------------------------------- */

void *dlki_attendant_main(void *arg)
{
	struct dlki_attendant *by = arg;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&by->base.mu);
	while (!by->base.stop) {
		struct epoll_event ev;
		int n;

		arm(by, dlki_heap_next(&by->times));
		by->awake = 0;
		pthread_mutex_unlock(&by->base.mu);
		n = epoll_wait(by->set_fd, &ev, 1, -1);
		pthread_mutex_lock(&by->base.mu);
		by->awake = 1;
		if (n == 1 && (uint32_t)ev.data.u64 == (uint32_t)TIMER)
			call_due(by);
		else if (n == 1)
			call_readable(by, ev.data.u64);
	}
	pthread_mutex_unlock(&by->base.mu);
	return NULL;
}

void dlki_attendant_end(struct dlki_common *base)
{
	eventfd_write(((struct dlki_attendant *)base)->end_fd, 1);
}

/* ---- A client's own ------------------------------------------------------ */

static int enroll(struct dlki_attendant *by)
{
	struct dlki_attendant *here = dlki_attendant_here();

	if (!here)
		return ENOMEM;
	pthread_mutex_lock(&here->base.mu);
	LIST_INSERT_HEAD(&here->own, by, in_own);
	pthread_mutex_unlock(&here->base.mu);
	by->process = here;
	return 0;
}

static void strike(struct dlki_attendant *by)
{
	struct dlki_attendant *here = by->process;

	if (!here)
		return;
	pthread_mutex_lock(&here->base.mu);
	while (by->visits > 0)
		dlk_cond_wait(&here->base.changed, &here->base.mu, DLK_FOREVER);
	LIST_REMOVE(by, in_own);
	pthread_mutex_unlock(&here->base.mu);
}

static int open_own(struct dlki_attendant *by, int due_fd)
{
	int rc = dlki_attendant_open(by);

	if (rc != 0)
		return rc;
	by->outer_fd = epoll_create1(EPOLL_CLOEXEC);
	if (by->outer_fd < 0 || add(by->outer_fd, by->set_fd, 0) < 0 ||
	    add(by->outer_fd, due_fd, 0) < 0)
		return errno;
	return 0;
}

int dlki_attendant_new(struct dlki_attendant **out, int due_fd)
{
	struct dlki_attendant *by = calloc(1, sizeof(*by));
	int rc;

	if (!by)
		return ENOMEM;
	pthread_mutex_init(&by->base.mu, NULL);
	dlk_cond_init(&by->base.changed);
	by->is_own = 1;
	by->outer_fd = -1;
	rc = open_own(by, due_fd);
	if (rc == 0)
		rc = enroll(by);
	if (rc == 0)
		*out = by;
	else
		dlki_attendant_free(by);
	return rc;
}

void dlki_attendant_free(struct dlki_attendant *by)
{
	if (!by)
		return;
	strike(by);
	dlki_attendant_close(by);
	if (by->outer_fd >= 0)
		close(by->outer_fd);
	free(by->v);
	dlki_heap_destroy(&by->times);
	pthread_cond_destroy(&by->base.changed);
	pthread_mutex_destroy(&by->base.mu);
	free(by);
}

/* With the mutex held, and no other thread here. */
static void attend(struct dlki_attendant *by)
{
	struct epoll_event ev[MOST];
	int n;

	by->attended = by->awake = 1;
	n = epoll_wait(by->set_fd, ev, MOST, 0);
	for (int i = 0; i < n; i++)
		call_readable(by, ev[i].data.u64);
	call_due(by);
	arm(by, dlki_heap_next(&by->times));
	by->attended = by->awake = 0;
	pthread_cond_broadcast(&by->base.changed);
}

void dlki_attend_unless_roused(struct dlki_attendant *by, uint64_t rouses,
			       dlk_time until)
{
	pthread_mutex_lock(&by->base.mu);
	while (by->attended && by->rouses <= rouses && dlk_now() < until)
		dlk_cond_wait(&by->base.changed, &by->base.mu, until);
	if (!by->attended)
		attend(by);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_attend(struct dlki_attendant *by)
{
	dlki_attend_unless_roused(by, UINT64_MAX, DLK_FOREVER);
}

void dlki_attend_if_free(struct dlki_attendant *by)
{
	pthread_mutex_lock(&by->base.mu);
	if (!by->attended)
		attend(by);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_attend_others(const struct dlki_attendant *but)
{
	struct dlki_attendant *here = dlki_attendant_here();
	struct dlki_attendant *by;

	if (!here)
		return;
	pthread_mutex_lock(&here->base.mu);
	LIST_FOREACH(by, &here->own, in_own) {
		if (by == but)
			continue;
		by->visits++;
		pthread_mutex_unlock(&here->base.mu);
		dlki_attend_if_free(by);
		pthread_mutex_lock(&here->base.mu);
		by->visits--;
		pthread_cond_broadcast(&here->base.changed);
	}
	pthread_mutex_unlock(&here->base.mu);
}

uint64_t dlki_attendant_rouses(struct dlki_attendant *by)
{
	uint64_t n;

	pthread_mutex_lock(&by->base.mu);
	n = by->rouses;
	pthread_mutex_unlock(&by->base.mu);
	return n;
}

void dlki_attendant_rouse(struct dlki_attendant *by)
{
	pthread_mutex_lock(&by->base.mu);
	by->rouses++;
	pthread_cond_broadcast(&by->base.changed);
	pthread_mutex_unlock(&by->base.mu);
}

static int is_readable(const struct dlki_attendant *by)
{
	struct pollfd p = { .fd = by->set_fd, .events = POLLIN };
	const struct timespec none = { 0 };

	return ppoll(&p, 1, &none, NULL) > 0;
}

int dlki_attendant_is_wanted(struct dlki_attendant *by)
{
	int yes;

	pthread_mutex_lock(&by->base.mu);
	yes = !by->attended && is_readable(by);
	pthread_mutex_unlock(&by->base.mu);
	return yes;
}

dlk_time dlki_attendant_due(struct dlki_attendant *by)
{
	dlk_time at;

	if (is_readable(by))
		return 0;
	pthread_mutex_lock(&by->base.mu);
	at = dlki_heap_next(&by->times);
	pthread_mutex_unlock(&by->base.mu);
	return at;
}
