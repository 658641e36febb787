/* SPDX-License-Identifier: Apache-2.0 */
/* How a new connection begins: who we are, and which server that is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

/* Only these bytes of a server's answer get into the server's identity. */
#define RUN_ID_BYTES                                                           \
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Commands that log in and choose the database, sent together.  Returns how
 * many of them must not fail; the last one, which names us, may. */
static int encode_login(const struct redis_session *s,
			struct redis_commands *out)
{
	const struct dlk_uri *uri = s->base.uri;
	const char *name = dlk_param_text(uri, "client_name");
	const char *user = uri->user && uri->user[0] ? uri->user : NULL;
	const char *password = uri->password ? uri->password : "";
	char db[24];
	int needed = 0;

	if (user) {
		const char *const auth[] = { "AUTH", user, password };

		dlki_redis_commands_argv(out, 3, auth);
		needed++;
	} else if (uri->password) {
		const char *const auth[] = { "AUTH", password };

		dlki_redis_commands_argv(out, 2, auth);
		needed++;
	}
	if (s->db) {
		const char *const choose[] = { "SELECT", db };

		dlki_redis_digits(db, s->db);
		dlki_redis_commands_argv(out, 2, choose);
		needed++;
	}
	if (name) {
		const char *const set_name[] = { "CLIENT", "SETNAME", name };

		dlki_redis_commands_argv(out, 3, set_name);
	}
	return needed;
}

/* A server that denies us INFO is known by its address. */
static int read_identity(const struct redis_reply *reply,
			 char identity[DLK_IDENTITY_SIZE])
{
	const char *id;

	if (reply->type == RD_ERROR)
		return dlki_redis_fault_is(reply->text, "NOPERM") ||
		       dlki_redis_fault_is(reply->text, "unknown command");
	if (reply->type != RD_STRING)
		return 0;
	id = dlki_redis_info_field(reply->text, "run_id");
	if (id)
		snprintf(identity, DLK_IDENTITY_SIZE, "%.*s",
			 (int)strspn(id, RUN_ID_BYTES), id);
	return 1;
}

/* The replies to what encode_login() asked, and then to INFO. */
static int read_greeting(const struct redis_session *s, struct redis_conn *c,
			 int needed, char identity[DLK_IDENTITY_SIZE],
			 dlk_time deadline, struct dlk_error *err)
{
	int n = needed + (dlk_param_text(s->base.uri, "client_name") != NULL);
	const struct redis_reply *reply;
	int keep;

	for (int i = 0; i <= n; i++) {
		int rc = dlki_redis_conn_recv(c, &reply, deadline, err);
		int fine;

		if (rc == DLOCK_EPROTO &&
		    strcmp(c->reader.began, "ERROR\r\n") == 0)
			return dlk_fail(err, DLOCK_EINVAL,
					"%s answers as memcached does, not as "
					"Redis: use memcached:// for it",
					c->net.peer);
		if (rc != 0)
			return rc;
		/* Our name is only for people: it need not be permitted. */
		if (i < n)
			fine = reply->type == RD_STRING ||
			       (i == needed && reply->type == RD_ERROR &&
				dlki_redis_fault_is(reply->text, "NOPERM"));
		else
			fine = read_identity(reply, identity);
		if (fine)
			continue;
		if (reply->type == RD_ERROR)
			return dlki_redis_fault(reply->text, reply->len,
						c->net.peer, &keep, err);
		return dlki_redis_conn_nonsense(c, err);
	}
	return 0;
}

static int handshake(struct redis_session *s, struct redis_conn *c,
		     char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		     struct dlk_error *err)
{
	static const char *const info[] = { "INFO", "server" };
	dlk_time sent = dlk_now();
	struct redis_commands out;
	int needed;
	int rc;

	dlki_redis_commands_init(&out);
	needed = encode_login(s, &out);
	dlki_redis_commands_argv(&out, 2, info);
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	if (rc == 0)
		rc = read_greeting(s, c, needed, identity, deadline, err);
	c->pooled.round_trip = dlk_now() - sent;
	if (rc == 0)
		dlk_answered(&s->base, sent, sent + c->pooled.round_trip);
	/* It holds the password. */
	explicit_bzero(out.bytes, out.len);
	dlki_redis_commands_free(&out);
	explicit_bzero(&out, sizeof(out));
	return rc;
}

struct redis_conn *dlki_redis_conn_greet(struct redis_session *s,
					 const struct dlk_net *net,
					 char identity[DLK_IDENTITY_SIZE],
					 dlk_time deadline,
					 struct dlk_error *err)
{
	struct redis_conn *c = calloc(1, sizeof(*c));
	struct dlk_net unused = *net;

	if (!c) {
		dlk_net_close(&unused);
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	c->net = *net;
	c->session = s;
	if (dlki_redis_reader_init(&c->reader, err) != 0 ||
	    handshake(s, c, identity, deadline, err) != 0) {
		dlki_redis_conn_close(c);
		return NULL;
	}
	return c;
}
