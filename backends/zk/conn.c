/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/conn.h"
#include "backends/zk/call.h"
#include "backends/zk/fds.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The library's log contains session passwords.  We log what matters from its
 * events. */
static void no_log(const char *message)
{
	(void)message;
}

static void on_auth(int rc, const void *data)
{
	(void)rc; /* the state will say so */
	(void)data;
}

static void close_on_exec(zhandle_t *zh)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	memset(&peer, 0, sizeof(peer));
	if (zookeeper_get_connected_host(zh, (struct sockaddr *)&peer, &len))
		dlki_zk_fds_sockets((struct sockaddr *)&peer, len);
}

/*
 * The library refuses a server that is behind of what the handle has seen.  A
 * new handle knows nothing of what earlier ones saw, so a write comes first
 * there: the server has caught up when it answers what comes after.
 */
static void conn_ready(struct zk_conn *c)
{
	struct zk_session *s = c->session;
	int64_t before_ms = s->lease.timeout_ms;
	struct zk_call *proof = NULL;

	s->connects++;
	s->ended = NULL;
	s->hosts.misses = 0;
	s->hosts.looked = 0;
	s->hosts.why.code = 0;
	s->lease.timeout_ms = c->id.timeout_ms;
	dlki_zk_lease_connected(s);
	dlki_zk_probe_connected(s);
	if (c->moved)
		proof = dlki_zk_proof(s);
	dlki_zk_drop(&proof, 1);
	dlki_zk_probe_kind(s);
	dlki_zk_watches_up(s);
	pthread_cond_signal(&s->thread.work);
	/* This server has lower limits: earlier promises are too long. */
	if (s->lease.timeout_ms < before_ms && s->core)
		dlk_verify_all(s->core);
}

static void on_connected(struct zk_conn *c, zhandle_t *zh)
{
	struct zk_session *s = c->session;
	int again = c->state == ZK_DOWN && c->id.client.client_id != 0;

	c->id.client = *zoo_client_id(zh);
	c->id.timeout_ms = zoo_recv_timeout(zh);
	c->state = ZK_UP;
	c->lost = 0;
	if (s->conn != c)
		return;
	conn_ready(c);
	if (again && s->core)
		dlk_log(s->core, 2, "connected again; the session goes on");
}

void dlki_zk_conn_use(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	s->conn = c;
	s->connects++;
	if (c->state == ZK_UP) /* since before it was ours */
		conn_ready(c);
	else if (c->state != ZK_DOWN)
		dlki_zk_conn_over(c, c->state, "the session ended");
	pthread_cond_broadcast(&s->changed);
}

void dlki_zk_conn_down(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	c->state = ZK_DOWN;
	c->lost = 1;
	c->id.down_at = dlk_now();
	pthread_cond_signal(&s->thread.work);
	if (s->conn != c)
		return;
	dlki_zk_watches_down(s);
	dlki_zk_tokens_down(s);
	if (s->core)
		dlk_log(s->core, 1, "disconnected");
}

void dlki_zk_conn_over(struct zk_conn *c, enum zk_state state, const char *why)
{
	struct zk_session *s = c->session;

	c->state = state;
	if (s->conn != c)
		return;
	s->ended = why;
	if (s->core) {
		dlk_log(s->core, 1, "%s; waiters queue again", why);
		dlk_lost_all(s->core, why);
	}
	dlki_zk_watches_over(s);
	dlki_zk_orphans_free(s);
	pthread_cond_signal(&s->thread.work);
}

static void on_session(zhandle_t *zh, int type, int state, const char *path,
		       void *context)
{
	struct zk_conn *c = context;
	struct zk_session *s = c->session;

	(void)path;
	if (type != ZOO_SESSION_EVENT)
		return;
	if (state == ZOO_CONNECTED_STATE)
		close_on_exec(zh);
	pthread_mutex_lock(&s->mu);
	if (c->state == ZK_EXPIRED) {
		/* We gave it up and reported its holds lost: final. */
	} else if (state == ZOO_CONNECTED_STATE) {
		on_connected(c, zh);
	} else if (state == ZOO_EXPIRED_SESSION_STATE) {
		dlki_zk_conn_over(c, ZK_EXPIRED, "the session expired");
	} else if (state == ZOO_AUTH_FAILED_STATE) {
		dlki_zk_conn_over(c, ZK_DENIED,
				  "the server refused the credentials");
	} else if (c->state == ZK_UP) {
		dlki_zk_conn_down(c);
	}
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mu);
}

static void *wait_for_leave(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* The library aborts the process where it cannot start its two threads. */
static int threads_to_be_had(void)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread[2];
	int n = 0, rc = 0;

	pthread_mutex_lock(&gate);
	while (n < 2 && rc == 0) {
		rc = dlk_thread(&thread[n], "dlock-zk-test", wait_for_leave,
				&gate);
		n += rc == 0;
	}
	pthread_mutex_unlock(&gate);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	pthread_mutex_destroy(&gate);
	return rc;
}

static zhandle_t *init_handle(struct zk_conn *c)
{
	const struct zk_session *s = c->session;
	const clientid_t *client = c->moved ? &c->id.client : NULL;
	struct zk_fds before;
	sigset_t all, old;
	zhandle_t *zh;
	int errnum;

	if (dlki_zk_fds_before(&before) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	zh = zookeeper_init2(s->hosts.host[s->hosts.at], on_session,
			     s->config.ttl_ms, client, c, 0, no_log);
	errnum = errno;
	dlki_zk_fds_pipes(&before);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = errnum;
	return zh;
}

struct zk_conn *dlki_zk_conn_open(struct zk_session *s, const struct zk_id *id,
				  struct dlk_error *err)
{
	struct zk_conn *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		dlki_nomem(err);
		return NULL;
	}
	rc = threads_to_be_had();
	if (rc != 0) {
		free(c);
		dlki_system(err, rc,
			    "starting threads for the ZooKeeper client");
		return NULL;
	}
	c->session = s;
	c->id = *id;
	c->moved = id->client.client_id != 0;
	c->begun = dlk_now();
	c->zh = init_handle(c);
	if (!c->zh) {
		rc = errno;
		explicit_bzero(c, sizeof(*c));
		free(c);
		dlk_fail(err, rc == ENOMEM ? DLOCK_ENOMEM : DLOCK_EUNREACHABLE,
			 "the ZooKeeper client does not take '%.100s': %s",
			 s->hosts.host[s->hosts.at], dlki_errno_text(rc));
		return NULL;
	}
	/* By default the library resolves names at every turn of its loop. */
	zoo_set_servers_resolution_delay(c->zh, -1);
	if (s->config.auth)
		zoo_add_auth(c->zh, "digest", s->config.auth,
			     (int)strlen(s->config.auth), on_auth, NULL);
	return c;
}

void dlki_zk_conn_close(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	zookeeper_close(c->zh);
	pthread_mutex_lock(&s->mu);
	while (c->calls)
		dlki_zk_abandon(s, c->calls);
	pthread_mutex_unlock(&s->mu);
	explicit_bzero(c, sizeof(*c));
	free(c);
}
