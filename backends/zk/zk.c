/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

/* The server's own: what the ensemble consists of; empty for one by itself. */
#define CONFIG "/zookeeper/config"

/*
 * A follower tells its leader only now and then which sessions it heard of, and
 * the client library lets a third of the time-out pass before it pings: so much
 * older than our last write may be what the leader counts from.  A server by
 * itself counts from the write.
 */
static int64_t margin_ms(const struct zk_call *config, int64_t ttl_ms)
{
	if (config && config->rc == ZOK && config->stat.dataLength == 0)
		return ttl_ms / 20;
	return ttl_ms * 5 / 12;
}

/* With the hub locked. */
static int look_round(struct zk_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	struct zk_hub *h = s->hub;
	struct zk_call *calls[2] = { dlki_zk_get(h, CONFIG), NULL };
	int rc = 0;

	if (h->root[0])
		calls[1] = dlki_zk_get(h, h->root);
	dlki_zk_wait(h, calls, 2, deadline);
	if (h->root[0] && calls[1] && calls[1]->rc == ZNONODE)
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "the path %s does not exist in ZooKeeper; create "
			      "it, or leave it out of the URI",
			      h->root);
	else if (!calls[0] || !calls[0]->done)
		rc = dlki_zk_reason(calls[0], "opening", err);
	else if (!h->link)
		rc = dlk_fail(err, DLOCK_EUNREACHABLE,
			      "the session ended as it began");
	if (rc == 0) {
		s->base.ttl_ms = h->link->timeout_ms;
		s->base.margin_ms = margin_ms(calls[0], s->base.ttl_ms);
	}
	dlki_zk_drop(calls, 2);
	return rc;
}

static int zk_open(struct dlk_session *base, dlk_time deadline,
		   struct dlk_error *err)
{
	struct zk_session *s = (struct zk_session *)base;
	int64_t asked_ms = base->ttl_ms;
	int rc = dlki_zk_hub_open(&s->hub, base, deadline, err);

	if (rc != 0)
		return rc;
	rc = dlki_zk_enter(s->hub, deadline, err);
	if (rc == 0) {
		rc = look_round(s, deadline, err);
		dlki_zk_leave(s->hub);
	}
	if (rc != 0) {
		dlki_zk_hub_close(s->hub, deadline);
		return rc;
	}
	if (base->ttl_ms != asked_ms)
		dlk_log(base, 1,
			"the server's limits make the ttl %lld ms, not %lld ms",
			(long long)base->ttl_ms, (long long)asked_ms);
	return 0;
}

static void zk_close(struct dlk_session *base, dlk_time deadline)
{
	dlki_zk_hub_close(((struct zk_session *)base)->hub, deadline);
}

static const struct dlk_param params[] = {
	{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL,
	  "A file whose first line is the password." },
	{ 0 }
};

static const char *const schemes[] = { "zk", NULL };

const struct dlock_backend dlki_zk_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "a ZooKeeper server or ensemble",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FAIR |
		DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE | DLOCK_CAP_DURABLE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST,
	.params = params,
	.session_size = sizeof(struct zk_session),
	.ticket_size = sizeof(struct zk_ticket),
	.open = zk_open,
	.close = zk_close,
	.attempt = dlki_zk_attempt,
	.renew = dlki_zk_renew,
	.release = dlki_zk_release,
	.inspect = dlki_zk_inspect,
	.list = dlki_zk_list,
	.break_ = dlki_zk_break,
};
