/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/conn.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After so long another server, or other settings, may take the credentials. */
#define DENIED_NS (1000 * DLK_MS)

static void on_auth(int rc, const void *data)
{
	(void)rc; /* the state will say so */
	(void)data;
}

/*
 * The library refuses a server that is behind the handle's last zxid.  A new
 * handle does not know the zxids of earlier handles, so a write comes first
 * there: the server has caught up when it answers the request after the write.
 */
static void conn_ready(struct zk_conn *c)
{
	struct zk_session *s = c->session;
	int64_t before_ms = s->lease.timeout_ms;
	struct zk_call *proof = NULL;

	s->connects++;
	s->ended = NULL;
	s->hosts.misses = s->hosts.silences = 0;
	s->hosts.looked = 0;
	s->hosts.why.code = 0;
	/* A server with higher limits grants more than the session began with;
	 * a new leader gives the session the time of its beginning. */
	if (before_ms == 0 || c->id.timeout_ms < before_ms)
		s->lease.timeout_ms = c->id.timeout_ms;
	c->id.timeout_ms = s->lease.timeout_ms;
	dlki_zk_lease_connected(s);
	dlki_zk_probe_connected(s);
	if (c->moved)
		proof = dlki_zk_proof(s);
	if (c->moved && (!proof || proof->done)) { /* out of memory */
		dlki_zk_conn_down(c);
	} else {
		dlki_zk_probe_kind(s);
		dlki_zk_data_up(s);
		dlki_zk_watches_up(s);
	}
	dlki_zk_drop(&proof, 1);
	dlki_zk_timer_now(s);
	if (s->hosts.patience_ns > dlki_zk_timeout_ns(s) / 6)
		s->hosts.patience_ns = dlki_zk_timeout_ns(s) / 6;
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
	if (again && c->state == ZK_UP && s->core)
		dlk_log(s->core, 2, "connected again; the session goes on");
}

void dlki_zk_conn_use(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	s->conn = c;
	s->connects++;
	dlki_zk_drive_refresh(s);
	pthread_cond_broadcast(&s->changed);
}

struct zk_conn *dlki_zk_conn_leave(struct zk_session *s)
{
	struct zk_conn *c = s->conn;

	s->conn = NULL;
	dlki_zk_drive_refresh(s);
	return c;
}

void dlki_zk_conn_down(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	c->state = ZK_DOWN;
	c->lost = 1;
	c->id.down_at = dlk_now();
	dlki_zk_timer_now(s);
	if (s->conn != c)
		return;
	dlki_zk_watches_down(s);
	dlki_zk_directories_down(s);
	dlki_zk_tokens_down(s);
	if (s->core)
		dlk_log(s->core, 1, "disconnected");
}

static void on_ended(struct zk_conn *c)
{
	if (c->state == ZK_UP) {
		dlki_zk_conn_down(c);
	} else if (c->state == ZK_DOWN && !c->lost) {
		c->failed = 1;
		dlki_zk_timer_now(c->session);
	}
}

void dlki_zk_conn_over(struct zk_conn *c, enum zk_state state, const char *why)
{
	struct zk_session *s = c->session;
	int again;

	c->state = state;
	if (s->conn != c)
		return;
	if (state == ZK_DENIED)
		s->upkeep.retry_at = dlk_now() + DENIED_NS;
	again = s->ended == why;
	s->ended = why;
	if (s->core) {
		dlk_log(s->core, again ? 3 : 1, "%s; waiters queue again", why);
		dlk_lost_all(s->core, why);
	}
	dlki_zk_watches_over(s);
	dlki_zk_orphans_free(s);
	dlki_zk_data_over(s);
	dlki_zk_timer_now(s);
}

static void on_session(zhandle_t *zh, int type, int state, const char *path,
		       void *context)
{
	struct zk_conn *c = context;
	struct zk_session *s = c->session;

	(void)path;
	if (type != ZOO_SESSION_EVENT)
		return;
	if (c->state == ZK_EXPIRED) {
		/* We gave the session up and reported the holds lost: final. */
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
}

/* By default the library resolves names at every turn of the loop. */
static zhandle_t *init_handle(struct zk_conn *c)
{
	const struct zk_session *s = c->session;
	const clientid_t *client = c->moved ? &c->id.client : NULL;
	zhandle_t *zh;

	dlki_zk_client_silence();
	zh = zookeeper_init2(c->address, on_session, s->config.ttl_ms, client,
			     c, ZOO_NO_LOG_CLIENTENV, NULL);
	if (!zh)
		return NULL;
	zoo_set_servers_resolution_delay(zh, -1);
	if (s->config.auth &&
	    zoo_add_auth(zh, "digest", s->config.auth,
			 (int)strlen(s->config.auth), on_auth, NULL) != ZOK) {
		zookeeper_close(zh);
		errno = ENOMEM;
		return NULL;
	}
	return zh;
}

static void free_conn(struct zk_conn *c)
{
	explicit_bzero(c, sizeof(*c));
	free(c);
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
	c->session = s;
	c->id = *id;
	c->moved = id->client.client_id != 0;
	c->ended = on_ended;
	rc = dlki_zk_address_next(s, c->address, err);
	c->begun = dlk_now();
	if (rc == 0)
		c->zh = init_handle(c);
	if (c->zh)
		return c;
	if (rc == 0)
		dlk_fail(err,
			 errno == ENOMEM ? DLOCK_ENOMEM : DLOCK_EUNREACHABLE,
			 "the ZooKeeper client does not take '%.100s': %s",
			 c->address, dlki_errno_text(errno));
	free_conn(c);
	return NULL;
}

void dlki_zk_conn_close(struct zk_conn *c)
{
	struct zk_session *s = c->session;

	c->closing = 1;
	zookeeper_close(c->zh);
	pthread_mutex_lock(&s->mu);
	while (!LIST_EMPTY(&c->calls))
		dlki_zk_abandon(s, LIST_FIRST(&c->calls));
	pthread_mutex_unlock(&s->mu);
	free_conn(c);
}
