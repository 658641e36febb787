/* SPDX-License-Identifier: Apache-2.0 */
/* The wraps: calls by which a thread waits, wakes another thread, or reads the
 * clock or random bytes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

#include "sim/process/real.h"
#include "sim/process/sched.h"
#include "sim/process/server.h"

/* The clocks at the beginning. */
#define BOOT_NS (INT64_C(1000) * 1000 * SIM_MS)
#define WALL_NS (INT64_C(1700000000) * 1000 * SIM_MS)

#define WRAP(type, name, ...)                                                  \
	type __wrap_##name(__VA_ARGS__);                                       \
	type __wrap_##name(__VA_ARGS__)

static int64_t ns_of(const struct timespec *ts)
{
	return ts->tv_sec * (1000 * SIM_MS) + ts->tv_nsec;
}

/* ---- Mutexes and conditions ---------------------------------------------- */

static void lock(pthread_mutex_t *mu)
{
	while (real_mutex_trylock(mu) != 0)
		sim_sched_wait(SIM_MUTEX, mu, SIM_FOREVER);
}

static void unlock(pthread_mutex_t *mu)
{
	real_mutex_unlock(mu);
	sim_sched_wake(SIM_MUTEX, mu, SIZE_MAX);
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *mu)
{
	if (!sim_sched_is_on())
		return real_mutex_lock(mu);
	sim_sched_point("lock");
	lock(mu);
	return 0;
}

WRAP(int, pthread_mutex_trylock, pthread_mutex_t *mu)
{
	if (sim_sched_is_on())
		sim_sched_point("trylock");
	return real_mutex_trylock(mu);
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mu)
{
	if (!sim_sched_is_on())
		return real_mutex_unlock(mu);
	unlock(mu);
	sim_sched_point("unlock");
	return 0;
}

static int wait(pthread_cond_t *c, pthread_mutex_t *mu, int64_t until)
{
	int rc;

	unlock(mu);
	rc = sim_sched_wait(SIM_COND, c, until);
	lock(mu);
	return rc;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *mu)
{
	return sim_sched_is_on() ? wait(c, mu, SIM_FOREVER) :
				   real_cond_wait(c, mu);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *mu,
     const struct timespec *until)
{
	return sim_sched_is_on() ? wait(c, mu, ns_of(until) - BOOT_NS) :
				   real_cond_timedwait(c, mu, until);
}

WRAP(int, pthread_cond_signal, pthread_cond_t *c)
{
	if (!sim_sched_is_on())
		return real_cond_signal(c);
	sim_sched_wake(SIM_COND, c, 1);
	sim_sched_point("signal");
	return 0;
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *c)
{
	if (!sim_sched_is_on())
		return real_cond_broadcast(c);
	sim_sched_wake(SIM_COND, c, SIZE_MAX);
	sim_sched_point("broadcast");
	return 0;
}

/* ---- Threads ------------------------------------------------------------- */

WRAP(int, pthread_create, pthread_t *out, const pthread_attr_t *attr,
     void *(*run)(void *), void *arg)
{
	return sim_sched_is_on() ? sim_sched_create(out, run, arg) :
				   real_create(out, attr, run, arg);
}

WRAP(int, pthread_join, pthread_t thread, void **result)
{
	return sim_sched_is_on() ? sim_sched_join(thread, result) :
				   real_join(thread, result);
}

/* ---- Time ---------------------------------------------------------------- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *ts)
{
	int64_t ns = (sim_sched_is_on() ? sim_sched_tick() : sim_sched_now()) +
		     (clock == CLOCK_REALTIME ? WALL_NS : BOOT_NS);

	ts->tv_sec = ns / (1000 * SIM_MS);
	ts->tv_nsec = ns % (1000 * SIM_MS);
	return 0;
}

/* An eventfd: a read returns eight bytes of either. */
WRAP(int, timerfd_create, int clock, int flags)
{
	(void)clock;
	return eventfd(0, (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0) |
				  (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0));
}

WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *at,
     struct itimerspec *old)
{
	int64_t ns = ns_of(&at->it_value);
	eventfd_t none;

	(void)flags;
	(void)old;
	while (eventfd_read(fd, &none) == 0)
		continue;
	sim_sched_alarm(fd, ns == 0 ? SIM_FOREVER : ns - BOOT_NS);
	return 0;
}

/* ---- Descriptors --------------------------------------------------------- */

static int64_t end_after_ms(int ms)
{
	return ms < 0 ? SIM_FOREVER : sim_sched_now() + ms * SIM_MS;
}

static int poll_until(struct pollfd *fds, nfds_t n, int64_t until)
{
	int ready = real_poll(fds, n, 0);

	while (ready == 0 && sim_sched_now() < until) {
		sim_sched_poll(fds, n, until);
		ready = real_poll(fds, n, 0);
	}
	return ready;
}

WRAP(int, poll, struct pollfd *fds, nfds_t n, int ms)
{
	if (!sim_sched_is_on())
		return real_poll(fds, n, ms);
	sim_sched_point("poll");
	return poll_until(fds, n, end_after_ms(ms));
}

WRAP(int, ppoll, struct pollfd *fds, nfds_t n, const struct timespec *ts,
     const sigset_t *mask)
{
	(void)mask;
	sim_sched_point("ppoll");
	return poll_until(fds, n,
			  ts ? sim_sched_now() + ns_of(ts) : SIM_FOREVER);
}

WRAP(int, epoll_wait, int fd, struct epoll_event *events, int room, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (!sim_sched_is_on())
		return real_epoll_wait(fd, events, room, ms);
	sim_sched_point("epoll");
	poll_until(&p, 1, end_after_ms(ms));
	return real_epoll_wait(fd, events, room, 0);
}

WRAP(int, epoll_pwait2, int fd, struct epoll_event *events, int room,
     const struct timespec *ts, const sigset_t *mask)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (!sim_sched_is_on())
		return real_epoll_pwait2(fd, events, room, ts, mask);
	sim_sched_point("epoll");
	poll_until(&p, 1, ts ? sim_sched_now() + ns_of(ts) : SIM_FOREVER);
	return real_epoll_wait(fd, events, room, 0);
}

/* When does a read of a socket end at the latest? */
static int64_t read_until(int fd, int flags)
{
	struct timeval tv = { 0 };
	socklen_t len = sizeof(tv);
	int64_t us;

	if (flags & MSG_DONTWAIT || fcntl(fd, F_GETFL) & O_NONBLOCK)
		return 0;
	(void)getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len);
	us = tv.tv_sec * INT64_C(1000000) + tv.tv_usec;
	return us == 0 ? SIM_FOREVER : sim_sched_now() + us * 1000;
}

WRAP(ssize_t, recv, int fd, void *to, size_t size, int flags)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (!sim_sched_is_on())
		return real_recv(fd, to, size, flags);
	poll_until(&p, 1, read_until(fd, flags));
	return real_recv(fd, to, size, flags | MSG_DONTWAIT);
}

WRAP(int, epoll_ctl, int fd, int what, int of, struct epoll_event *event)
{
	sim_sched_look();
	if (what == EPOLL_CTL_ADD)
		sim_server_watched(of, fd);
	return real_epoll_ctl(fd, what, of, event);
}

WRAP(int, eventfd_write, int fd, eventfd_t value)
{
	sim_sched_look();
	return real_eventfd_write(fd, value);
}

/* ---- Chance -------------------------------------------------------------- */

WRAP(ssize_t, getrandom, void *to, size_t size, unsigned int flags)
{
	if (!sim_sched_is_on())
		return real_getrandom(to, size, flags);
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t value = sim_sched_random();
		size_t left = size - at;

		memcpy((char *)to + at, &value,
		       left < sizeof(value) ? left : sizeof(value));
	}
	return (ssize_t)size;
}
