/* SPDX-License-Identifier: Apache-2.0 */
/* News of the store, and the pump that hears them. */
#include "backends/redis/waiters.h"
#include "core/world/real.h"

static struct redis_session *session_of(void *arg)
{
	return dlki_redis_session(((struct dlki_session *)arg)->base);
}

/* Wake the waiter, which takes the grant with the next attempt. */
static void on_pushed(void *arg, uint64_t attempt, uint64_t token,
		      uint64_t store_clock_us, int64_t lease_ms, dlk_time now)
{
	struct redis_session *s = session_of(arg);
	struct redis_ticket *t = dlki_redis_waiter_find(s, attempt);

	(void)now;
	if (!t)
		return;
	t->pushed.token = token;
	t->pushed.clock_us = store_clock_us;
	t->pushed.lease_ms = lease_ms;
	dlk_wake(&s->remote.base, t->base.id);
}

static void on_wake(void *arg, uint64_t attempt, dlk_time now)
{
	struct redis_session *s = session_of(arg);
	const struct redis_ticket *t = dlki_redis_waiter_find(s, attempt);

	(void)now;
	if (t)
		dlk_wake(&s->remote.base, t->base.id);
}

static void on_look_again(void *arg, dlk_time now)
{
	struct redis_session *s = session_of(arg);

	(void)now;
	s->unheard = 0;
	dlki_redis_waiters_wake(s);
}

/* Tell people once an outage, and a debugger each time. */
static void on_unheard(void *arg, const char *why)
{
	struct redis_session *s = session_of(arg);

	dlk_log(&s->remote.base, s->unheard++ ? 3 : 1,
		"waiters poll more often: %s", why);
	dlki_redis_watchers_deaf(s);
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	struct redis_session *s = session_of(arg);
	const struct redis_ticket *t = dlki_redis_watcher_find(s, owner);

	(void)now;
	if (t)
		dlk_wanted(&s->remote.base, t->base.id);
}

static void on_late(void *arg, dlk_time since, dlk_time now)
{
	struct redis_session *s = session_of(arg);

	dlk_answered(&s->remote.base, since, now);
}

/* Void the former server's grants. */
static void on_moved(void *arg, const char *text, dlk_time now)
{
	struct redis_session *s = session_of(arg);

	dlki_redis_waiters_void(s);
	dlki_session_moved(&s->loop, text, now);
}

const struct dlki_news dlki_redis_news = {
	.pushed = on_pushed,
	.wake = on_wake,
	.look_again = on_look_again,
	.wanted = on_wanted,
	.warn = dlki_session_warn,
	.late = on_late,
	.unheard = on_unheard,
	.up = dlki_session_up,
	.down = dlki_session_down,
	.moved = on_moved,
};

/* ---- The pump ------------------------------------------------------------ */

/* Listen.  Without success the ear stays deaf, and waiters ask again soon. */
void dlki_redis_listen(struct redis_session *s)
{
	pthread_mutex_lock(&s->listen_mu);
	if (!s->listens)
		s->listens = dlk_listen(&s->remote.base,
					dlki_real_fd(s->loop.world, DLKI_NEWS),
					NULL) == 0;
	pthread_mutex_unlock(&s->listen_mu);
}

void dlki_redis_pump(struct dlk_session *base)
{
	const struct dlki_session *s = &dlki_redis_session(base)->loop;

	dlki_session_lock(s);
	dlki_drive_pump(s->engine);
	dlki_session_unlock(s);
}
