/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pump.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/claim.h"
#include "core/store.h"

/* A thread that sleeps does not notice a suspension of the machine; it looks at
 * the clock this often. */
#define SLICE_NS (5000 * DLK_MS)

/* The waiter that this thread is, while it pumps; or whose pump thread. */
static _Thread_local const struct dlki_claim *pumping;
static _Thread_local const struct dlock_client *thread_of;

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void dlki_pump_init(struct dlki_pump *p, dlki_pump_then *then)
{
	p->then = then;
	pthread_mutex_init(&p->mu, NULL);
	p->fd = p->set_fd = p->wake_fd = p->stop_fd = -1;
}

static void pump_once(struct dlock_client *c, const struct dlki_claim *waiter)
{
	pthread_mutex_lock(&c->pump.mu);
	pumping = waiter;
	dlki_store_pump(c);
	pumping = NULL;
	pthread_mutex_unlock(&c->pump.mu);
}

/* ---- The pump thread ----------------------------------------------------- */

static int listen_in_set(const struct dlki_pump *p, int op, int fd,
			 uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(p->set_fd, op, fd, &ev);
}

static void *thread_main(void *arg)
{
	struct dlock_client *c = arg;
	const struct dlki_pump *p = &c->pump;
	struct epoll_event ev;

	for (;;) {
		if (epoll_wait(p->set_fd, &ev, 1, -1) != 1)
			continue;
		if (ev.data.fd == p->stop_fd)
			return NULL;
		thread_of = c;
		pump_once(c, NULL);
		thread_of = NULL;
		p->then(c);
	}
}

static int make_descriptors(struct dlki_pump *p)
{
	p->set_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->set_fd < 0)
		return -1;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0)
		return -1;
	p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->stop_fd < 0)
		return -1;
	return listen_in_set(p, EPOLL_CTL_ADD, p->stop_fd, EPOLLIN);
}

static void close_descriptors(struct dlki_pump *p)
{
	close_if_open(&p->set_fd);
	close_if_open(&p->wake_fd);
	close_if_open(&p->stop_fd);
}

/* The session is opened or used by one thread that calls this. */
static int start_thread(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_pump *p = &c->pump;
	int rc = 0;

	if (make_descriptors(p) < 0)
		rc = dlki_system(err, errno, "making descriptors to listen by");
	if (rc == 0) {
		rc = dlk_thread(&p->thread, "dlock-pump", thread_main, c);
		if (rc != 0)
			rc = dlki_system(err, rc, "starting a thread");
	}
	if (rc != 0)
		close_descriptors(p);
	return rc;
}

void dlki_pump_stop(struct dlock_client *c)
{
	struct dlki_pump *p = &c->pump;

	if (p->set_fd < 0)
		return;
	eventfd_write(p->stop_fd, 1);
	pthread_join(p->thread, NULL);
	close_descriptors(p);
}

void dlki_pump_destroy(struct dlock_client *c)
{
	dlki_pump_stop(c);
	pthread_mutex_destroy(&c->pump.mu);
}

int dlki_pump_is_here(const struct dlock_client *c)
{
	return thread_of == c;
}

int dlk_listen(struct dlk_session *s, int fd, struct dlk_error *err)
{
	struct dlock_client *c = s->core;
	struct dlki_pump *p = &c->pump;
	int rc = 0;

	if (fd >= 0 && p->set_fd < 0)
		rc = start_thread(c, err);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (p->fd >= 0 && p->set_fd >= 0)
		(void)listen_in_set(p, EPOLL_CTL_DEL, p->fd, 0);
	p->fd = -1;
	if (fd >= 0 &&
	    listen_in_set(p, EPOLL_CTL_ADD, fd, p->at ? 0 : EPOLLIN) < 0)
		rc = dlki_system(err, errno, "listening");
	else
		p->fd = fd;
	if (p->at)
		(void)dlki_pump_rouse(p->at);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* ---- A waiter ------------------------------------------------------------ */

int dlki_pump_take(struct dlki_claim *claim)
{
	struct dlki_pump *p = &claim->client->pump;

	if (p->fd < 0 || p->at)
		return 0;
	if (listen_in_set(p, EPOLL_CTL_MOD, p->fd, 0) < 0)
		return 0;
	p->at = claim;
	p->roused = 0;
	return 1;
}

void dlki_pump_give(struct dlki_claim *claim)
{
	struct dlki_pump *p = &claim->client->pump;
	eventfd_t ignored;

	if (p->at != claim)
		return;
	p->at = NULL;
	if (p->roused)
		(void)eventfd_read(p->wake_fd, &ignored);
	if (p->fd >= 0)
		(void)listen_in_set(p, EPOLL_CTL_MOD, p->fd, EPOLLIN);
}

void dlki_pump_wait(struct dlki_claim *claim, dlk_time until)
{
	struct dlock_client *c = claim->client;
	struct dlki_pump *p = &c->pump;
	struct pollfd fds[2] = { { .fd = p->wake_fd, .events = POLLIN },
				 { .fd = p->fd, .events = POLLIN } };
	dlk_time left = until == DLK_FOREVER ? SLICE_NS : until - dlk_now();
	struct timespec ts;
	eventfd_t ignored;

	if (left <= 0)
		return;
	if (left > SLICE_NS)
		left = SLICE_NS;
	ts.tv_sec = left / 1000000000;
	ts.tv_nsec = left % 1000000000;
	pthread_mutex_unlock(&c->mu);
	if (ppoll(fds, 2, &ts, NULL) > 0 && fds[1].revents)
		pump_once(c, claim);
	pthread_mutex_lock(&c->mu);
	if (p->roused) {
		p->roused = 0;
		(void)eventfd_read(p->wake_fd, &ignored);
	}
}

int dlki_pump_rouse(const struct dlki_claim *claim)
{
	struct dlki_pump *p = &claim->client->pump;

	if (p->at != claim)
		return 0;
	if (pumping != claim && !p->roused) {
		p->roused = 1;
		eventfd_write(p->wake_fd, 1);
	}
	return 1;
}
