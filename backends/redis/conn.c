/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/conn.h"

#include <stdlib.h>

#include "backends/redis/answer.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

/* ---- Talk ---------------------------------------------------------------- */

int dlki_redis_conn_send(struct redis_conn *c, const struct redis_commands *out,
			 dlk_time deadline, struct dlk_error *err)
{
	if (out->failed)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return dlk_net_send(&c->net, out->bytes, out->len, deadline, err);
}

int dlki_redis_conn_send_argv(struct redis_conn *c, size_t argc,
			      const char *const argv[], dlk_time deadline,
			      struct dlk_error *err)
{
	struct redis_commands out;
	int rc;

	dlki_redis_commands_init(&out);
	dlki_redis_commands_argv(&out, argc, argv);
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	return rc;
}

static int next_reply(struct redis_conn *c, const struct redis_reply **out,
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
			rc = dlk_net_recv(&c->net, bytes, sizeof(bytes), &got,
					  deadline, err);
		else
			rc = dlk_fail(err, rc, "%s: %s", c->net.peer,
				      err->text);
		if (rc == 0)
			rc = dlki_redis_reader_feed(&c->reader, bytes, got,
						    err);
		if (rc != 0)
			return rc;
	}
}

int dlki_redis_conn_current(const struct redis_session *s,
			    const struct redis_conn *c, struct dlk_error *err)
{
	if (c->epoch == dlk_server_epoch(s->server))
		return 0;
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s: another server took over meanwhile", c->net.peer);
}

int dlki_redis_conn_fault(const struct redis_session *s,
			  const struct redis_conn *c,
			  const struct redis_reply *reply, int *keep,
			  struct dlk_error *err)
{
	if (dlki_redis_fault_is(reply->text, "READONLY") ||
	    dlki_redis_fault_is(reply->text, "MASTERDOWN"))
		dlk_server_leave(s->server, c->epoch);
	return dlki_redis_fault(reply->text, reply->len, c->net.peer, keep,
				err);
}

int dlki_redis_conn_nonsense(const struct redis_conn *c, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EPROTO,
			"%s sent an answer that dlock does not understand",
			c->net.peer);
}

/* ---- Answers that it owes ------------------------------------------------ */

void dlki_redis_conn_owes(struct redis_conn *c, const struct redis_ticket *t,
			  int granted)
{
	struct redis_owed *owed = &c->owed;

	owed->v[owed->n].id = t->base.id;
	owed->v[owed->n].granted = granted;
	owed->n++;
}

/* Return the result of a release.  *good: the connection may be used again.
 * Only the order tells answers apart: where an answer is missing, the next
 * answer belongs to another request. */
static int judge(const struct redis_conn *c, const struct redis_reply *reply,
		 int granted, int *good, struct dlk_error *err)
{
	int64_t had;
	int rc;

	*good = 1;
	if (reply->type == RD_ERROR &&
	    dlki_redis_fault_is(reply->text, "NOSCRIPT")) {
		atomic_store(&c->session->knows_release, 0);
		return DLOCK_EUNREACHABLE;
	}
	if (reply->type == RD_ERROR)
		return dlki_redis_conn_fault(c->session, c, reply, good, err);
	*good = dlki_redis_number(reply, 0, &had) && had <= 1;
	atomic_store(&c->session->knows_release, *good);
	if (!*good)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s did not answer a release", c->net.peer);
	rc = dlki_redis_conn_current(c->session, c, err);
	if (rc != 0)
		return rc;
	return granted && !had ? DLOCK_ELOST : 0;
}

int dlki_redis_conn_settle(struct redis_conn *c, struct redis_owed_answer *of,
			   dlk_time deadline, struct dlk_error *err)
{
	struct redis_owed *owed = &c->owed;
	unsigned int taken = 0;
	int rc = 0;

	while (rc == 0 && taken < owed->n) {
		const struct redis_reply *reply;
		struct dlk_error why = { 0 };
		int good, said;

		rc = next_reply(c, &reply, deadline, err);
		if (rc != 0)
			break;
		said = judge(c, reply, owed->v[taken].granted, &good, &why);
		if (of && of->id == owed->v[taken].id) {
			of->came = 1;
			of->rc = said;
		}
		dlk_released(&c->session->base, owed->v[taken].id, said);
		taken++;
		if (!good)
			rc = dlk_fail(err, said, "%s", why.text);
	}
	for (unsigned int i = taken; i < owed->n; i++)
		owed->v[i - taken] = owed->v[i];
	owed->n -= taken;
	return rc;
}

static void drop_owed(struct redis_conn *c)
{
	struct redis_owed *owed = &c->owed;

	for (unsigned int i = 0; i < owed->n; i++)
		dlk_released(&c->session->base, owed->v[i].id,
			     DLOCK_EUNREACHABLE);
	owed->n = 0;
}

int dlki_redis_conn_recv(struct redis_conn *c, const struct redis_reply **out,
			 dlk_time deadline, struct dlk_error *err)
{
	int rc = 0;

	if (c->owed.n > 0)
		rc = dlki_redis_conn_settle(c, NULL, deadline, err);
	return rc == 0 ? next_reply(c, out, deadline, err) : rc;
}

/* ---- Open and close ------------------------------------------------------ */

void dlki_redis_conn_close(struct redis_conn *c)
{
	drop_owed(c);
	dlk_net_close(&c->net);
	dlki_redis_reader_free(&c->reader);
	free(c);
}

struct redis_conn *dlki_redis_conn_open(const struct redis_session *s,
					const dlk_flag *stop, dlk_time deadline,
					struct dlk_error *err)
{
	uint64_t epoch;
	struct redis_conn *c = dlk_server_connect(s->server, stop, &epoch,
						  deadline, err);

	if (c)
		c->epoch = epoch;
	return c;
}

/* ---- The pool ------------------------------------------------------------ */

static struct dlk_pooled *pooled_open(void *arg, dlk_time deadline,
				      struct dlk_error *err)
{
	struct redis_conn *c = dlki_redis_conn_open(arg, NULL, deadline, err);

	return c ? &c->pooled : NULL;
}

static void pooled_close(struct dlk_pooled *c)
{
	dlki_redis_conn_close((struct redis_conn *)c);
}

/* If it owes an answer, what has come may be that. */
static int pooled_usable(struct dlk_pooled *pooled)
{
	const struct redis_conn *c = (struct redis_conn *)pooled;

	return c->owed.n > 0 || dlk_net_quiet(&c->net);
}

const struct dlk_pool_type dlki_redis_pool_type = {
	.open = pooled_open,
	.close = pooled_close,
	.usable = pooled_usable,
};

static struct redis_conn *unless_spared(struct redis_session *s,
					struct dlk_pooled *pooled,
					dlk_time deadline,
					struct dlk_error *err)
{
	struct redis_conn *c = (struct redis_conn *)pooled;

	if (!c || dlk_pool_spare(s->pool, pooled, c->net.peer, deadline, err))
		return NULL;
	return c;
}

struct redis_conn *dlki_redis_conn_take(struct redis_session *s,
					dlk_time deadline, int *fresh,
					struct dlk_error *err)
{
	struct dlk_pooled *c = dlk_pool_take(s->pool, deadline, fresh, err);

	return unless_spared(s, c, deadline, err);
}

struct redis_conn *dlki_redis_conn_take_urgent(struct redis_session *s,
					       dlk_time deadline, int *fresh,
					       struct dlk_error *err)
{
	struct dlk_pooled *c = dlk_pool_take_urgent(s->pool, deadline, fresh,
						    err);

	return unless_spared(s, c, deadline, err);
}

void dlki_redis_conn_put(struct redis_session *s, struct redis_conn *c,
			 int good)
{
	dlk_pool_give(s->pool, &c->pooled,
		      good && dlki_redis_reader_empty(&c->reader));
}

int dlki_redis_conn_put_nonsense(struct redis_session *s, struct redis_conn *c,
				 struct dlk_error *err)
{
	int rc = dlki_redis_conn_nonsense(c, err);

	dlki_redis_conn_put(s, c, 0);
	return rc;
}
