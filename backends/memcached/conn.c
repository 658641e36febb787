/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

#include "uri.h"

/* ---- The server's -------------------------------------------------------- */

static struct memc_identity home_of(struct memc_session *s)
{
	struct memc_identity home;

	pthread_mutex_lock(&s->home_mu);
	home = s->home;
	pthread_mutex_unlock(&s->home_mu);
	return home;
}

static void remember_home(struct memc_session *s, const struct memc_conn *c)
{
	pthread_mutex_lock(&s->home_mu);
	s->home = c->server;
	pthread_mutex_unlock(&s->home_mu);
}

static void close_conn(void *connection)
{
	struct memc_conn *c = connection;

	dlk_net_close(&c->net);
	free(c);
}

static void *greet_server(void *session, const struct dlk_net *net,
			  char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
			  struct dlk_error *err)
{
	struct memc_conn *c = malloc(sizeof(*c));
	const struct memc_identity home = home_of(session);
	struct dlk_net unused = *net;

	if (!c) {
		dlk_net_close(&unused);
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	memset(c, 0, offsetof(struct memc_conn, out.bytes));
	c->session = session;
	c->run.lives = c->session->lives;
	c->net = *net;
	if (dlki_memc_greet(c, &home, identity, deadline, err) != 0) {
		close_conn(c);
		return NULL;
	}
	return c;
}

static void server_moved(void *session, const char *text)
{
	struct memc_session *s = session;

	dlk_pool_renew(s->pool);
	dlk_log(&s->base, 1, "%s", text);
	dlk_verify_all(&s->base);
}

static void warn_of_server(void *session, const char *text)
{
	struct memc_session *s = session;

	dlk_log(&s->base, 1, "%s", text);
}

static const struct dlk_server_type server_type = {
	.told_by = "stats",
	.greet = greet_server,
	.close = close_conn,
	.moved = server_moved,
	.warn = warn_of_server,
};

struct dlk_server *dlki_memc_server_new(struct memc_session *s)
{
	const struct dlk_uri *uri = s->base.uri;

	if (uri->n_hosts == 0 || !uri->hosts[0].name[0])
		return dlk_server_new(&server_type, s, uri->path, NULL, 0);
	return dlk_server_new(&server_type, s, NULL, uri->hosts[0].name,
			      uri->hosts[0].port ? uri->hosts[0].port :
						   MEMC_DEFAULT_PORT);
}

int dlki_memc_current(const struct memc_conn *c, struct dlk_error *err)
{
	if (c->run.epoch == dlk_server_epoch(c->session->server))
		return 0;
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s: another server took over meanwhile", c->net.peer);
}

/* ---- The pool's ---------------------------------------------------------- */

static void close_pooled(struct dlk_pooled *pooled)
{
	close_conn(pooled);
}

static struct dlk_pooled *open_pooled(void *session, dlk_time deadline,
				      struct dlk_error *err)
{
	struct memc_session *s = session;
	uint64_t epoch;
	struct memc_conn *c = dlk_server_connect(s->server, NULL, &epoch,
						 deadline, err);

	if (!c)
		return NULL;
	c->run.epoch = epoch;
	remember_home(s, c);
	return &c->pooled;
}

static int is_usable(struct dlk_pooled *pooled)
{
	return dlk_net_quiet(&((struct memc_conn *)(void *)pooled)->net);
}

const struct dlk_pool_type dlki_memc_pool_type = {
	.open = open_pooled,
	.close = close_pooled,
	.usable = is_usable,
};

struct use {
	int urgent;
	int times;   /* out: that the work was begun */
	int crowded; /* out: no connection came free for it */
};

static void log_proxied(struct memc_session *s)
{
	if (!atomic_exchange(&s->proxied_logged, 1))
		dlk_log(&s->base, 1,
			"memcached: a connection leads to another run of the "
			"server: a proxy keeps connections; give the address "
			"of the server itself");
}

static int run_with(struct memc_session *s, struct use *use,
		    dlki_memc_work *work, void *arg, dlk_time deadline,
		    struct dlk_error *err)
{
	for (;;) {
		struct dlk_pooled *pooled;
		struct memc_conn *c;
		int fresh, changed, rc;

		pooled = use->urgent ?
				 dlk_pool_take_urgent(s->pool, deadline, &fresh,
						      err) :
				 dlk_pool_take(s->pool, deadline, &fresh, err);
		if (!pooled) {
			use->crowded = fresh == DLK_POOL_CROWDED;
			if (use->crowded)
				dlk_fail(err, err->code, "%s (connections=)",
					 err->text);
			return err->code;
		}
		c = (struct memc_conn *)(void *)pooled;
		if (dlk_pool_spare(s->pool, pooled, c->net.peer, deadline, err))
			return err->code;
		use->times++;
		rc = work(c, arg, deadline, err);
		changed = c->changed;
		if (rc != DLOCK_EUNREACHABLE || changed)
			dlk_pool_give(s->pool, pooled, rc == 0);
		else
			dlk_pool_dead(s->pool, pooled);
		if (changed)
			log_proxied(s);
		if (rc != DLOCK_EUNREACHABLE || (fresh && !changed) ||
		    dlk_now() >= dlk_deadline(deadline))
			return rc;
	}
}

int dlki_memc_with(struct memc_session *s, dlki_memc_work *work, void *arg,
		   dlk_time deadline, struct dlk_error *err)
{
	struct use use = { 0 };

	return run_with(s, &use, work, arg, deadline, err);
}

int dlki_memc_with_attempt(struct memc_ticket *t, dlki_memc_work *work,
			   void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct use use = { 0 };
	int rc = run_with(memc_session(t->base.session), &use, work, arg,
			  deadline, err);

	t->base.settled = use.times == 0;
	t->base.resent = use.times > 1;
	t->base.crowded = use.crowded;
	return rc;
}

int dlki_memc_with_urgent(struct memc_session *s, dlki_memc_work *work,
			  void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct use use = { .urgent = 1 };

	return run_with(s, &use, work, arg, deadline, err);
}
