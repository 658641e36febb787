/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define AGAIN_MS 10

struct watch {
	dlock_lock *lock;
	int signals; /* a signalfd(2) of the signals that matter here */
	int done;    /* an eventfd(2): the acquire is over */
	int caught;  /* the signal that ended the wait; read after the join */
};

static int read_signal(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	/* Ctrl-Z is dropped: a stopped waiter would hold up the queue. */
	return info.ssi_signo == SIGTSTP ? 0 : (int)info.ssi_signo;
}

static void *watch(void *arg)
{
	struct watch *w = arg;
	struct pollfd fds[] = {
		{ .fd = w->done, .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
	};

	/* dlock_cancel() ends only waits under way, and the acquire may not
	 * have got so far: repeat until the acquire has returned. */
	for (;;) {
		poll(fds, 2, w->caught ? AGAIN_MS : -1);
		if (!w->caught && (fds[1].revents & POLLIN))
			w->caught = read_signal(w->signals);
		if (fds[0].revents & POLLIN)
			return NULL;
		if (w->caught) {
			fds[1].fd = -1;
			dlock_cancel(w->lock);
		}
	}
}

/* Open a signalfd(2) for the signals that matter during a wait; the others stay
 * pending and go to the command later. */
static int open_signals(const struct signals *s)
{
	sigset_t set = s->ending;

	sigaddset(&set, SIGTSTP);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int acquire(dlock_lock *lock, int shared, uint32_t take,
		   int64_t timeout_ms, dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	o.shared = shared;
	o.permits = take;
	return dlock_acquire_opts(lock, &o, out);
}

int wait_acquire(dlock_lock *lock, int shared, uint32_t take,
		 int64_t timeout_ms, const struct signals *s, dlock_hold **out,
		 int *sig)
{
	struct watch w = { .lock = lock, .done = -1 };
	pthread_t thread;
	int code;

	*sig = 0;
	w.signals = open_signals(s);
	if (w.signals >= 0)
		w.done = eventfd(0, EFD_CLOEXEC);
	code = w.done < 0 ? errno : pthread_create(&thread, NULL, watch, &w);
	if (w.done >= 0 && code == 0) {
		code = acquire(lock, shared, take, timeout_ms, out);
		eventfd_write(w.done, 1);
		pthread_join(thread, NULL);
		*sig = w.caught;
		if (*sig && code == DLOCK_OK)
			dlock_release(*out);
	}
	if (w.done >= 0)
		close(w.done);
	if (w.signals >= 0)
		close(w.signals);
	return code;
}
