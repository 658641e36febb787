/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/container.h"
#include "core/base/source.h"

#include <dlock/backend.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/common.h"

/* The places of the timer and of the end. */
enum { TIMER = -1, END = -2 };

struct dlki_attendant {
	struct dlki_common base;

	/* Under the mutex of `base`, a leaf but for the clients' and the
	 * engines'. */
	int set_fd, timer_fd, end_fd; /* while there are sources */
	struct dlki_heap times;
	struct dlki_source **v; /* by place; NULL: free */
	size_t n;
	uint32_t serial; /* of the last source */
	dlk_time armed;  /* the time to which the timer is set */
	int awake;       /* the thread will arm the timer before sleeping */
	struct dlki_source *calling;
};

static struct dlki_common *_Atomic current;

/* ---- With the mutex held ------------------------------------------------- */

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

static dlk_time first_time(const struct dlki_attendant *by)
{
	const struct dlki_timer *first = dlki_heap_first(&by->times);

	return first ? first->at : DLK_FOREVER;
}

static int control(const struct dlki_attendant *by, int op, int fd,
		   uint32_t events, int place, uint32_t serial)
{
	struct epoll_event ev = {
		.events = events,
		.data.u64 = (uint64_t)serial << 32 | (uint32_t)place,
	};

	return epoll_ctl(by->set_fd, op, fd, &ev);
}

static int open_descriptors(struct dlki_attendant *by)
{
	by->armed = DLK_FOREVER;
	by->set_fd = epoll_create1(EPOLL_CLOEXEC);
	by->timer_fd = timerfd_create(CLOCK_BOOTTIME,
				      TFD_CLOEXEC | TFD_NONBLOCK);
	by->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (by->set_fd < 0 || by->timer_fd < 0 || by->end_fd < 0 ||
	    control(by, EPOLL_CTL_ADD, by->timer_fd, EPOLLIN, TIMER, 0) < 0 ||
	    control(by, EPOLL_CTL_ADD, by->end_fd, EPOLLIN, END, 0) < 0)
		return errno;
	return 0;
}

static void close_descriptors(const struct dlki_attendant *by)
{
	if (by->set_fd >= 0)
		close(by->set_fd);
	if (by->timer_fd >= 0)
		close(by->timer_fd);
	if (by->end_fd >= 0)
		close(by->end_fd);
}

static void end(struct dlki_common *base)
{
	eventfd_write(((struct dlki_attendant *)base)->end_fd, 1);
}

/* ---- The thread, with the mutex held ------------------------------------- */

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
	size_t most = by->times.n;
	dlk_time now = dlk_now();
	uint64_t ticks;

	by->armed = DLK_FOREVER;
	(void)!read(by->timer_fd, &ticks, sizeof(ticks));
	while (most-- > 0 && first_time(by) <= now) {
		struct dlki_timer *first = dlki_heap_first(&by->times);

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

static void *attendant_main(void *arg)
{
	struct dlki_attendant *by = arg;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&by->base.mu);
	while (!by->base.stop) {
		struct epoll_event ev;
		int n;

		arm(by, first_time(by));
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

/* ---- Sources ------------------------------------------------------------- */

static size_t find_place(const struct dlki_attendant *by)
{
	size_t i = 0;

	while (i < by->n && by->v[i])
		i++;
	return i;
}

/* 0, or an errno value. */
static int take_place(struct dlki_attendant *by, struct dlki_source *s)
{
	s->place = find_place(by);
	if (s->place == by->n) {
		struct dlki_source **v = realloc(
			by->v, (by->n + 1) * sizeof(struct dlki_source *));

		if (!v)
			return ENOMEM;
		by->v = v;
		by->v[by->n++] = NULL;
	}
	if (dlki_heap_reserve(&by->times, by->n) != 0)
		return ENOMEM;
	s->serial = ++by->serial;
	s->fd = -1;
	by->v[s->place] = s;
	return 0;
}

/* Free the descriptors and tables after the thread's last user has left. */
static void tidy(struct dlki_attendant *by)
{
	if (by->base.users > 0 || by->base.stop)
		return;
	close_descriptors(by);
	free(by->v);
	by->v = NULL;
	by->n = 0;
	dlki_heap_destroy(&by->times);
	by->times = (struct dlki_heap){ 0 };
}

static void give_place(struct dlki_attendant *by, struct dlki_source *s)
{
	by->v[s->place] = NULL;
	dlki_heap_remove(&by->times, &s->timer);
	if (s->fd >= 0)
		(void)control(by, EPOLL_CTL_DEL, s->fd, 0, 0, 0);
}

static int has_place(const struct dlki_attendant *by,
		     const struct dlki_source *s)
{
	return s->place < by->n && by->v[s->place] == s;
}

static int join(struct dlki_attendant *by, struct dlki_source *s)
{
	int rc = 0;

	dlki_common_settle(&by->base);
	if (!by->base.runs)
		rc = open_descriptors(by);
	if (rc == 0)
		rc = take_place(by, s);
	if (rc == 0) {
		rc = dlki_common_join(&by->base, "dlock-loop", attendant_main);
		if (rc != 0)
			give_place(by, s);
	}
	if (rc == 0)
		atomic_store(&s->by, by);
	tidy(by);
	return rc;
}

int dlki_source_join(struct dlki_source *s)
{
	struct dlki_attendant *by = (struct dlki_attendant *)dlki_common_here(
		&current, sizeof(struct dlki_attendant));
	int rc;

	if (!by)
		return ENOMEM;
	pthread_mutex_lock(&by->base.mu);
	rc = join(by, s);
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

void dlki_source_leave(struct dlki_source *s)
{
	struct dlki_attendant *by = atomic_load(&s->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	give_place(by, s);
	while (by->calling == s)
		dlk_cond_wait(&by->base.changed, &by->base.mu, DLK_FOREVER);
	atomic_store(&s->by, NULL);
	dlki_common_leave(&by->base, end);
	tidy(by);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_source_at(struct dlki_source *s, dlk_time at)
{
	struct dlki_attendant *by = atomic_load(&s->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	if (at == DLK_FOREVER)
		dlki_heap_remove(&by->times, &s->timer);
	else if (has_place(by, s))
		dlki_heap_set(&by->times, &s->timer, at);
	if (!by->awake && first_time(by) < by->armed)
		arm(by, first_time(by));
	pthread_mutex_unlock(&by->base.mu);
}

int dlki_source_set_fd(struct dlki_source *s, int fd)
{
	struct dlki_attendant *by = atomic_load(&s->by);
	int rc = 0;

	if (!by)
		return 0;
	pthread_mutex_lock(&by->base.mu);
	if (s->fd >= 0)
		(void)control(by, EPOLL_CTL_DEL, s->fd, 0, 0, 0);
	s->fd = -1;
	if (fd >= 0 &&
	    control(by, EPOLL_CTL_ADD, fd, 0, (int)s->place, s->serial) < 0)
		rc = errno;
	else
		s->fd = fd;
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

void dlki_source_listen(struct dlki_source *s, int on)
{
	const struct dlki_attendant *by = atomic_load(&s->by);

	if (by)
		(void)control(by, EPOLL_CTL_MOD, s->fd,
			      on ? (uint32_t)EPOLLIN : 0, (int)s->place,
			      s->serial);
}
