/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"
#include "core/error.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What the library would print holds session passwords.  What matters of it is
 * logged from the events. */
static void no_log(const char *message)
{
	(void)message;
}

static void on_auth(int rc, const void *data)
{
	(void)rc; /* the state tells */
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

static void connected(struct zk_link *l, zhandle_t *zh)
{
	struct zk_hub *h = l->hub;
	int again = l->state == ZK_DOWN && l->id != 0;

	l->id = zoo_client_id(zh)->client_id;
	l->timeout_ms = zoo_recv_timeout(zh);
	l->state = ZK_UP;
	if (h->link != l)
		return;
	h->connects++;
	dlki_zk_watches_up(h);
	if (again)
		dlki_zk_news(h, 2, "connected again; the session goes on");
}

void dlki_zk_link_over(struct zk_link *l, enum zk_state state, const char *why)
{
	struct zk_hub *h = l->hub;

	l->state = state;
	if (h->link != l)
		return;
	dlki_zk_news(h, 1, "%s; waiters queue again", why);
	if (h->session)
		dlk_lost_all(h->session, why);
	dlki_zk_watches_over(h);
	dlki_zk_debris_free(h);
	pthread_cond_signal(&h->work);
}

static void on_session(zhandle_t *zh, int type, int state, const char *path,
		       void *context)
{
	struct zk_link *l = context;
	struct zk_hub *h = l->hub;

	(void)path;
	if (type != ZOO_SESSION_EVENT)
		return;
	if (state == ZOO_CONNECTED_STATE)
		close_on_exec(zh);
	pthread_mutex_lock(&h->mu);
	if (l->state == ZK_EXPIRED) {
		/* Given up, its holds were reported lost: it stays so. */
	} else if (state == ZOO_CONNECTED_STATE) {
		connected(l, zh);
	} else if (state == ZOO_EXPIRED_SESSION_STATE) {
		dlki_zk_link_over(l, ZK_EXPIRED, "the session expired");
	} else if (state == ZOO_AUTH_FAILED_STATE) {
		dlki_zk_link_over(l, ZK_DENIED,
				  "the server refused the credentials");
	} else if (l->state == ZK_UP) {
		l->state = ZK_DOWN;
		l->down_at = dlk_now();
		pthread_cond_signal(&h->work);
		if (h->link == l) {
			dlki_zk_watches_down(h);
			dlki_zk_news(h, 1, "disconnected");
		}
	}
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->mu);
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

static zhandle_t *init(struct zk_link *l)
{
	const struct zk_hub *h = l->hub;
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
	zh = zookeeper_init2(h->hosts, on_session, h->ask_ms, NULL, l, 0,
			     no_log);
	errnum = errno;
	dlki_zk_fds_pipes(&before);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = errnum;
	return zh;
}

struct zk_link *dlki_zk_link_open(struct zk_hub *h, struct dlk_error *err)
{
	struct zk_link *l = calloc(1, sizeof(*l));
	int rc;

	if (!l) {
		dlki_nomem(err);
		return NULL;
	}
	rc = threads_to_be_had();
	if (rc != 0) {
		free(l);
		dlki_system(err, rc,
			    "starting threads for the ZooKeeper client");
		return NULL;
	}
	l->hub = h;
	l->zh = init(l);
	if (!l->zh) {
		rc = errno;
		free(l);
		dlk_fail(err, rc == ENOMEM ? DLOCK_ENOMEM : DLOCK_EUNREACHABLE,
			 "the ZooKeeper client does not take '%.100s': %s",
			 h->hosts, dlki_errno_text(rc));
		return NULL;
	}
	/* By default it resolves the names at every turn of its loop. */
	zoo_set_servers_resolution_delay(l->zh, -1);
	if (h->auth)
		zoo_add_auth(l->zh, "digest", h->auth, (int)strlen(h->auth),
			     on_auth, NULL);
	return l;
}

void dlki_zk_link_close(struct zk_link *l)
{
	struct zk_hub *h = l->hub;

	zookeeper_close(l->zh);
	pthread_mutex_lock(&h->mu);
	while (l->calls)
		dlki_zk_abandon(h, l->calls);
	pthread_mutex_unlock(&h->mu);
	free(l);
}
