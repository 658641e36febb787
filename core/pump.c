/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pump.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base/attendant.h"
#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/claim.h"

/* This thread's waiter, during a pump; or the client, if this thread is
 * dlock-loop. */
static _Thread_local const struct dlki_claim *pumping;
static _Thread_local const struct dlock_client *thread_of;

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void pump_once(struct dlock_client *c, const struct dlki_claim *waiter)
{
	pthread_mutex_lock(&c->pump.mu);
	pumping = waiter;
	c->backend->pump(c->session);
	pumping = NULL;
	pthread_mutex_unlock(&c->pump.mu);
}

/* ---- While no waiter pumps ----------------------------------------------- */

static void ready(struct dlki_source *source)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(source, struct dlock_client,
						   pump.source);

	dlki_log_apart(1);
	thread_of = c;
	pump_once(c, NULL);
	thread_of = NULL;
	c->pump.then(c);
	dlki_log_apart(0);
}

void dlki_pump_init(struct dlki_pump *p, dlki_pump_then *then)
{
	p->then = then;
	pthread_mutex_init(&p->mu, NULL);
	p->source.ready = ready;
	p->fd = p->wake_fd = -1;
}

static int open_wake(struct dlki_pump *p)
{
	if (p->wake_fd < 0)
		p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return p->wake_fd >= 0 ? 0 : errno;
}

int dlki_pump_attend(struct dlock_client *c)
{
	c->pump.fd = c->attendant->set_fd;
	return open_wake(&c->pump);
}

/* A single thread opens or uses the session, and calls this. */
static int join(struct dlki_pump *p, struct dlki_attendant *own)
{
	int rc = open_wake(p);

	return rc == 0 ? dlki_source_join(&p->source, own) : rc;
}

void dlki_pump_stop(struct dlock_client *c)
{
	dlki_source_leave(&c->pump.source);
	close_if_open(&c->pump.wake_fd);
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

	if (fd >= 0 && !atomic_load(&p->source.by))
		rc = join(p, c->attendant);
	if (rc != 0)
		return dlki_system(err, rc, "listening");
	pthread_mutex_lock(&c->mu);
	rc = dlki_source_set_fd(&p->source, fd);
	if (rc != 0)
		fd = -1;
	if (!c->attendant)
		p->fd = fd;
	if (fd >= 0 && (c->attendant || !p->at))
		dlki_source_listen(&p->source, 1);
	if (p->at)
		(void)dlki_pump_rouse(p->at);
	pthread_mutex_unlock(&c->mu);
	return rc == 0 ? 0 : dlki_system(err, rc, "listening");
}

/* ---- A waiter ------------------------------------------------------------ */

int dlki_pump_take(struct dlki_claim *claim)
{
	struct dlki_pump *p = &claim->client->pump;

	if (p->fd < 0 || p->at)
		return 0;
	if (!claim->client->attendant)
		dlki_source_listen(&p->source, 0);
	p->at = claim;
	p->roused = 0;
	return 1;
}

/* Have a thread asleep on the condition take the pump.  A thread about to leave
 * rouses another in turn. */
static void rouse_follower(const struct dlki_claim *leaves)
{
	const struct dlock_client *c = leaves->client;

	for (uint32_t i = 0; c->pump.followers > 0 && i < c->slots.n; i++) {
		struct dlki_claim *w = c->slots.v[i].item;

		if (w && w != leaves && w->state == DLKI_PARKED && !w->call) {
			pthread_cond_broadcast(w->cond);
			return;
		}
	}
}

void dlki_pump_give(struct dlki_claim *claim)
{
	struct dlki_pump *p = &claim->client->pump;
	int attends = claim->client->attendant != NULL;
	eventfd_t ignored;

	if (p->at == claim) {
		p->at = NULL;
		if (p->roused)
			(void)eventfd_read(p->wake_fd, &ignored);
		if (!attends && p->fd >= 0)
			dlki_source_listen(&p->source, 1);
	}
	if (attends && !p->at)
		rouse_follower(claim);
}

void dlki_pump_wait(struct dlki_claim *claim, dlk_time until)
{
	struct dlock_client *c = claim->client;
	struct dlki_pump *p = &c->pump;
	struct pollfd fds[2] = { { .fd = p->wake_fd, .events = POLLIN },
				 { .fd = p->fd, .events = POLLIN } };
	dlk_time left = dlki_sleep_ns(until);
	uint64_t rouses = 0;
	struct timespec ts;
	eventfd_t ignored;

	if (left <= 0)
		return;
	ts.tv_sec = left / 1000000000;
	ts.tv_nsec = left % 1000000000;
	if (c->attendant)
		rouses = dlki_attendant_rouses(c->attendant);
	pthread_mutex_unlock(&c->mu);
	if (ppoll(fds, 2, &ts, NULL) > 0 && fds[1].revents) {
		if (c->attendant)
			dlki_attend_unless_roused(c->attendant, rouses, until);
		else
			pump_once(c, claim);
	}
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
		if (claim->client->attendant)
			dlki_attendant_rouse(claim->client->attendant);
	}
	return 1;
}
