/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/upkeep.h"
#include "backends/zk/addresses.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/move.h"
#include "backends/zk/node.h"
#include "backends/zk/session.h"
#include "core/base/container.h"
#include "core/base/error.h"

#include <dlock/backend.h>

#define RETRY_NS (200 * DLK_MS)

/* ---- The job ------------------------------------------------------------- */

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
		s->upkeep.told = 0;
		s->generation++;
		dlki_zk_lease_begin(s, now);
		dlki_zk_probe_begin(s);
		dlki_zk_conn_use(c);
		return;
	}
	dlki_zk_address_of_next_server(s);
	pthread_cond_broadcast(&s->changed);
	if (s->core)
		dlk_log(s->core, s->upkeep.told++ ? 3 : 0, "no session: %s",
			err.text);
	s->upkeep.retry_at = dlk_now() + RETRY_NS;
}

/* The job leaves a silent server in time.  On a slow way, two answers come
 * before the deletion of the node of an unanswered request. */
static void sweep_orphans(struct zk_session *s)
{
	struct zk_orphan orphan;
	dlk_time until = dlk_now() + s->hosts.patience_ns;

	if (until > dlki_zk_move_due(s))
		until = dlki_zk_move_due(s);
	/* A copy: a release may succeed meanwhile. */
	dlki_zk_orphan_set(&orphan, &s->orphans.first->ticket);
	if (dlki_zk_node_delete(s, &orphan.ticket, until, NULL) == 0)
		dlki_zk_orphans_remove(s, orphan.owner);
	else
		dlki_zk_orphans_put_off(s);
}

static dlk_time sweep_due(const struct zk_session *s)
{
	if (!s->orphans.first || !dlki_zk_is_up(s))
		return DLK_FOREVER;
	return s->orphans.sweep_at;
}

static int needs_session(const struct zk_session *s)
{
	return !s->conn || s->conn->state == ZK_EXPIRED ||
	       s->conn->state == ZK_DENIED;
}

static void end_session(struct zk_session *s)
{
	struct zk_conn *c = dlki_zk_conn_leave(s);

	pthread_mutex_unlock(&s->mu);
	if (c)
		dlki_zk_conn_close(c);
	pthread_mutex_lock(&s->mu);
	s->upkeep.ended = 1;
	pthread_cond_broadcast(&s->changed);
}

static void work(struct zk_session *s)
{
	s->upkeep.work = ZK_WORKS;
	if (s->upkeep.stop)
		end_session(s);
	else if (needs_session(s))
		begin_session(s);
	else if (dlki_zk_move_due(s) <= dlk_now())
		dlki_zk_move(s);
	else if (sweep_due(s) <= dlk_now())
		sweep_orphans(s);
	s->upkeep.work = ZK_IDLE;
	if (s->upkeep.stop)
		pthread_cond_broadcast(&s->changed);
	else
		dlki_zk_timer_now(s);
}

static int run(struct dlki_job *job)
{
	struct zk_session *s = DLKI_CONTAINER_OF(job, struct zk_session,
						 upkeep.job);

	pthread_mutex_lock(&s->mu);
	/* In a client without threads a waiting thread may have done it. */
	if (s->upkeep.work == ZK_POSTED || s->upkeep.stop)
		work(s);
	pthread_mutex_unlock(&s->mu);
	return 0;
}

/* ---- On dlock-loop ------------------------------------------------------- */

/*
 * A server that comes back without data refuses us for ever, and a server that
 * comes back late would revive forgotten nodes.  So a client cut off for as
 * long as the session lasts begins a new session.
 */
static dlk_time replace_when_cut_off(struct zk_session *s)
{
	struct zk_conn *c = s->conn;
	dlk_time end;

	if (!c || c->state != ZK_DOWN || c->id.client.client_id == 0)
		return DLK_FOREVER;
	end = c->id.down_at + c->id.timeout_ms * DLK_MS;
	if (dlk_now() >= end)
		dlki_zk_conn_over(c, ZK_EXPIRED,
				  "cut off for longer than the session lasts");
	return end;
}

/* Post the job if there is work.  Returns when to look again. */
static dlk_time post_when_due(struct zk_session *s)
{
	struct zk_upkeep *u = &s->upkeep;
	dlk_time cut_off, due;

	if (u->work == ZK_WORKS)
		return DLK_FOREVER; /* looks afterwards */
	cut_off = replace_when_cut_off(s);
	due = dlki_zk_move_due(s);
	if (sweep_due(s) < due)
		due = sweep_due(s);
	if (needs_session(s))
		due = dlk_now();
	if (due < u->retry_at)
		due = u->retry_at;
	if (u->work == ZK_IDLE && due > dlk_now())
		return cut_off < due ? cut_off : due;
	u->work = ZK_POSTED;
	dlki_job_post(&u->job);
	return DLK_FOREVER;
}

static void look(struct zk_session *s)
{
	s->timer.at = DLK_FOREVER;
	if (s->upkeep.stop)
		return;
	dlki_zk_timer_set(s, dlki_zk_drive_due(s));
	dlki_zk_timer_set(s, dlki_zk_watches_set_deferred(s));
	dlki_zk_timer_set(s, dlki_zk_probe(s));
	dlki_zk_timer_set(s, post_when_due(s));
}

static void ready(struct dlki_source *source)
{
	struct zk_session *s = DLKI_CONTAINER_OF(source, struct zk_session,
						 timer.source);

	pthread_mutex_lock(&s->mu);
	look(s);
	pthread_mutex_unlock(&s->mu);
}

/* ---- Without threads ----------------------------------------------------- */

static void attend(struct zk_session *s)
{
	if (s->timer.at <= dlk_now())
		look(s);
	if (s->upkeep.work == ZK_POSTED)
		work(s);
}

/* ---- From open to close -------------------------------------------------- */

static void rouse(struct dlki_rouser *r)
{
	struct zk_session *s = DLKI_CONTAINER_OF(r, struct zk_session, rouser);

	pthread_mutex_lock(&s->mu);
	dlki_zk_drive_rouse(s);
	pthread_mutex_unlock(&s->mu);
}

int dlki_zk_upkeep_start(struct zk_session *s, struct dlk_error *err)
{
	struct zk_upkeep *u = &s->upkeep;
	int rc;

	s->timer.at = DLK_FOREVER;
	s->timer.source.ready = ready;
	u->job.run = run;
	if (s->attendant)
		u->attend = attend;
	rc = dlki_source_join(&s->timer.source, s->attendant);
	if (rc == 0)
		rc = dlki_job_join(&u->job, s->attendant);
	if (rc != 0) {
		dlki_source_leave(&s->timer.source);
		return dlki_system(err, rc, "starting a thread");
	}
	pthread_mutex_lock(&s->mu);
	dlki_zk_timer_set(s, post_when_due(s));
	pthread_mutex_unlock(&s->mu);
	s->rouser.rouse = rouse;
	dlki_rouser_join(&s->rouser);
	return 0;
}

static void leave_threads(struct zk_session *s)
{
	dlki_source_leave(&s->timer.source);
	dlki_job_leave(&s->upkeep.job);
	dlki_zk_session_free(s);
}

/* With the session locked, and also if the caller was cancelled.  Returns
 * whether the connection is closed. */
static int await_end(struct zk_session *s, dlk_time deadline)
{
	struct zk_upkeep *u = &s->upkeep;

	while (!u->ended && dlk_now() < deadline) {
		if (u->attend && u->work != ZK_WORKS) {
			end_session(s);
			break;
		}
		dlk_cond_wait(&s->changed, &s->mu, deadline);
	}
	return u->ended;
}

static void *finish(void *session)
{
	struct zk_session *s = session;

	pthread_mutex_lock(&s->mu);
	(void)await_end(s, DLK_FOREVER);
	pthread_mutex_unlock(&s->mu);
	leave_threads(s);
	return NULL;
}

void dlki_zk_upkeep_stop(struct zk_session *s, dlk_time deadline)
{
	pthread_t thread;
	int ended;

	dlki_rouser_leave(&s->rouser);
	pthread_mutex_lock(&s->mu);
	s->upkeep.stop = 1;
	s->core = NULL;
	dlki_job_post(&s->upkeep.job);
	ended = await_end(s, deadline);
	pthread_mutex_unlock(&s->mu);
	/* In a client without threads the program's thread that works has to
	 * come back: the client is no longer there for another thread. */
	if (ended)
		leave_threads(s);
	else if (!s->upkeep.attend &&
		 dlk_thread(&thread, "dlock-zk", finish, s) == 0)
		pthread_detach(thread);
	else
		(void)finish(s);
}
