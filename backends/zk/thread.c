/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/thread.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/move.h"
#include "backends/zk/node.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#define RETRY_NS (200 * DLK_MS)
#define SWEEP_NS (1000 * DLK_MS)

/* Begin a ZooKeeper session; ours is unlocked meanwhile. */
static void begin_session(struct zk_session *s)
{
	struct zk_conn *old = dlki_zk_conn_leave(s), *c;
	struct zk_id id = { .generation = s->generation + 1 };
	dlk_time now = dlk_now();
	struct dlk_error err;

	pthread_mutex_unlock(&s->mu);
	if (old)
		dlki_zk_conn_close(old);
	c = dlki_zk_conn_open(s, &id, &err);
	pthread_mutex_lock(&s->mu);
	if (c) {
		s->thread.told = 0;
		s->generation++;
		dlki_zk_lease_begin(s, now);
		dlki_zk_probe_begin(s);
		dlki_zk_conn_use(c);
	} else if (s->core) {
		dlk_log(s->core, s->thread.told++ ? 3 : 0, "no session: %s",
			err.text);
	}
	if (!c && !s->thread.stop)
		dlki_zk_sleep(&s->thread.work, s, dlk_now() + RETRY_NS);
}

/*
 * A server that comes back without its data refuses us for ever, and one that
 * comes back late would revive nodes that nobody remembers.  So a client that
 * is cut off for as long as its session lasts begins another one.
 */
static dlk_time replace_when_cut_off(struct zk_session *s)
{
	struct zk_conn *c = s->conn;
	dlk_time end;

	if (!c || c->state != ZK_DOWN || c->id.client.client_id == 0)
		return DLK_FOREVER;
	end = c->id.down_at + c->id.timeout_ms * DLK_MS;
	if (dlk_now() < end)
		return end;
	dlki_zk_conn_over(c, ZK_EXPIRED,
			  "cut off for longer than the session lasts");
	return dlk_now();
}

/* Try to delete an orphan, if that is due.  Returns when to go on. */
static dlk_time sweep_orphans(struct zk_session *s)
{
	struct zk_orphan orphan;
	dlk_time most = SWEEP_NS;

	if (!s->orphans.first || !s->conn || s->conn->state != ZK_UP)
		return DLK_FOREVER;
	if (s->orphans.sweep_at > dlk_now())
		return s->orphans.sweep_at;
	/* A copy: a release may succeed meanwhile. */
	dlki_zk_orphan_set(&orphan, &s->orphans.first->ticket);
	/* The thread has to leave a server that does not answer. */
	if (most > s->hosts.patience_ns / 2)
		most = s->hosts.patience_ns / 2;
	if (dlki_zk_node_delete(s, &orphan.ticket, dlk_now() + most, NULL) == 0)
		dlki_zk_orphans_remove(s, orphan.owner);
	else
		dlki_zk_orphans_pause(s);
	return dlk_now();
}

/* Do what is due.  Returns when more will be. */
static dlk_time run_due_work(struct zk_session *s)
{
	dlk_time at[] = { dlki_zk_watches_set_deferred(s), sweep_orphans(s),
			  replace_when_cut_off(s), dlki_zk_probe(s),
			  dlki_zk_move_due(s) };
	dlk_time next = at[0];

	for (size_t i = 1; i < sizeof(at) / sizeof(at[0]); i++)
		next = at[i] < next ? at[i] : next;
	return next;
}

static void *thread_main(void *arg)
{
	struct zk_session *s = arg;
	struct zk_conn *c;

	pthread_mutex_lock(&s->mu);
	while (!s->thread.stop) {
		dlk_time next;

		if (!s->conn || s->conn->state == ZK_EXPIRED) {
			begin_session(s);
			continue;
		}
		if (dlki_zk_move_due(s) <= dlk_now()) {
			dlki_zk_move(s);
			continue;
		}
		next = run_due_work(s);
		if (s->thread.stop)
			break;
		dlki_zk_sleep(&s->thread.work, s, next);
	}
	c = dlki_zk_conn_leave(s);
	pthread_mutex_unlock(&s->mu);
	if (c)
		dlki_zk_conn_close(c);
	pthread_mutex_lock(&s->mu);
	s->thread.ended = 1;
	pthread_cond_broadcast(&s->changed);
	dlki_zk_session_unref(s);
	return NULL;
}

int dlki_zk_thread_start(struct zk_session *s, struct dlk_error *err)
{
	int rc;

	pthread_mutex_lock(&s->mu);
	rc = dlk_thread(&s->thread.id, "dlock-zk", thread_main, s);
	if (rc == 0)
		s->refs++;
	pthread_mutex_unlock(&s->mu);
	return rc == 0 ? 0 : dlki_system(err, rc, "starting a thread");
}

void dlki_zk_thread_stop(struct zk_session *s, dlk_time deadline)
{
	int closed;

	pthread_mutex_lock(&s->mu);
	s->thread.stop = 1;
	pthread_cond_signal(&s->thread.work);
	s->core = NULL;
	while (!s->thread.ended && dlki_zk_sleep(&s->changed, s, deadline) != 0)
		continue;
	closed = s->thread.ended;
	/* A frozen server is left to the thread, which touches nothing but the
	 * session. */
	if (!closed)
		pthread_detach(s->thread.id);
	else {
		pthread_mutex_unlock(&s->mu);
		pthread_join(s->thread.id, NULL);
		pthread_mutex_lock(&s->mu);
	}
	dlki_zk_session_unref(s);
}
