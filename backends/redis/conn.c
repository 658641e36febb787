/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

enum { DEFAULT_PORT = 6379 };

int dlki_redis_send(struct redis_conn *c, const struct redis_out *o,
		    dlk_time deadline, struct dlk_error *err)
{
	if (o->failed)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return dlki_net_send(&c->net, o->at, o->len, deadline, err);
}

int dlki_redis_hear(struct redis_conn *c, const struct redis_reply **out,
		    dlk_time deadline, struct dlk_error *err)
{
	char bytes[4096];
	size_t got = 0;
	int rc;

	for (;;) {
		rc = dlki_redis_reader_next(&c->reader, out, err);
		if (rc == 1)
			return 0;
		if (rc == 0)
			rc = dlki_net_recv(&c->net, bytes, sizeof(bytes), &got,
					   deadline, err);
		else
			rc = dlk_fail(err, rc, "%s: %s", c->net.who, err->text);
		if (rc == 0)
			rc = dlki_redis_reader_feed(&c->reader, bytes, got,
						    err);
		if (rc != 0)
			return rc;
	}
}

static int reach(const struct redis_session *s, struct dlki_net *net,
		 dlk_time deadline, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;

	if (uri->n_hosts == 0 || !uri->hosts[0].name[0])
		return dlki_net_unix(net, uri->path, deadline, err);
	return dlki_net_tcp(net, uri->hosts[0].name,
			    uri->hosts[0].port ? uri->hosts[0].port :
						 DEFAULT_PORT,
			    deadline, err);
}

/* Requests that make the connection ours, in one flight; how many there are
 * that must not fail. */
static int introduce(const struct redis_session *s, struct redis_out *o)
{
	const struct dlk_uri *uri = s->base.uri;
	const char *name = dlk_param_text(uri, "client_name");
	const char *user = uri->user && uri->user[0] ? uri->user : NULL;
	char db[24];
	int n = 0;

	if (uri->password || user) {
		dlki_redis_out_words(o, user ? 3 : 2);
		dlki_redis_out_text(o, "AUTH");
		if (user)
			dlki_redis_out_text(o, user);
		dlki_redis_out_text(o, uri->password ? uri->password : "");
		n++;
	}
	if (s->db) {
		dlki_redis_digits(db, s->db);
		dlki_redis_out_words(o, 2);
		dlki_redis_out_text(o, "SELECT");
		dlki_redis_out_text(o, db);
		n++;
	}
	if (name) {
		dlki_redis_out_words(o, 3);
		dlki_redis_out_text(o, "CLIENT");
		dlki_redis_out_text(o, "SETNAME");
		dlki_redis_out_text(o, name);
	}
	return n;
}

static int greeted(const struct redis_session *s, struct redis_conn *c,
		   int needed, dlk_time deadline, struct dlk_error *err)
{
	int named = dlk_param_text(s->base.uri, "client_name") != NULL;
	const struct redis_reply *reply;
	int keep;

	for (int i = 0; i < needed + named; i++) {
		int rc = dlki_redis_hear(c, &reply, deadline, err);

		if (rc != 0)
			return rc;
		/* A name is a courtesy: no right to give one is no fault. */
		if (reply->type == REDIS_ERROR &&
		    (i < needed || !dlki_redis_fault_is(reply->text, "NOPERM")))
			return dlki_redis_fault(reply->text, reply->len,
						c->net.who, &keep, err);
		if (reply->type != REDIS_ERROR && reply->type != REDIS_STRING)
			return dlk_fail(err, DLOCK_EPROTO,
					"%s answered what we do not understand",
					c->net.who);
	}
	return 0;
}

static int handshake(const struct redis_session *s, struct redis_conn *c,
		     dlk_time deadline, struct dlk_error *err)
{
	struct redis_out o;
	int needed;
	int rc = 0;

	dlki_redis_out_init(&o);
	needed = introduce(s, &o);
	if (o.len > 0)
		rc = dlki_redis_send(c, &o, deadline, err);
	if (rc == 0)
		rc = greeted(s, c, needed, deadline, err);
	explicit_bzero(o.at, o.len);
	dlki_redis_out_free(&o);
	explicit_bzero(&o, sizeof(o));
	return rc;
}

struct redis_conn *dlki_redis_conn_open(const struct redis_session *s,
					const atomic_int *stop,
					dlk_time deadline,
					struct dlk_error *err)
{
	struct redis_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	c->net = (struct dlki_net)DLKI_NET_INIT;
	c->net.stop = stop;
	if (dlki_redis_reader_init(&c->reader, err) != 0 ||
	    reach(s, &c->net, deadline, err) != 0 ||
	    handshake(s, c, deadline, err) != 0) {
		dlki_redis_conn_close(c);
		return NULL;
	}
	return c;
}

void dlki_redis_conn_close(struct redis_conn *c)
{
	dlki_net_close(&c->net);
	dlki_redis_reader_free(&c->reader);
	free(c);
}

/* ---- The pool's ---------------------------------------------------------- */

static struct dlki_pooled *pooled_open(void *arg, dlk_time deadline,
				       struct dlk_error *err)
{
	struct redis_conn *c = dlki_redis_conn_open(arg, NULL, deadline, err);

	return c ? &c->pooled : NULL;
}

static void pooled_close(struct dlki_pooled *c)
{
	dlki_redis_conn_close((struct redis_conn *)c);
}

static int pooled_usable(struct dlki_pooled *c)
{
	return dlki_net_quiet(&((struct redis_conn *)c)->net);
}

const struct dlki_pool_type dlki_redis_pool_type = {
	.open = pooled_open,
	.close = pooled_close,
	.usable = pooled_usable,
};
