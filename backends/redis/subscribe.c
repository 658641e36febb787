/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/subscribe.h"

#include <string.h>

#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

static int check_subscribed(const struct redis_conn *c,
			    const struct redis_reply *reply,
			    struct dlk_error *err)
{
	int keep;

	if (reply->type == RD_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.peer,
					&keep, err);
	if (reply->type == RD_ARRAY && reply->len == 3 &&
	    reply->parts[0]->type == RD_STRING &&
	    strcmp(reply->parts[0]->text, "subscribe") == 0)
		return 0;
	return dlki_redis_conn_nonsense(c, err);
}

static struct redis_conn *open_subscribed(struct redis_session *s,
					  struct dlk_error *err)
{
	const char *const subscribe[] = { "SUBSCRIBE", s->channel };
	dlk_time deadline = dlk_now() + s->step_ms * DLK_MS;
	struct redis_conn *c = dlki_redis_conn_open(s, &s->stop, deadline, err);
	const struct redis_reply *reply;
	int rc;

	if (!c)
		return NULL;
	rc = dlki_redis_conn_send_argv(c, 2, subscribe, deadline, err);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
	if (rc == 0)
		rc = check_subscribed(c, reply, err);
	if (rc == 0)
		return c;
	dlki_redis_conn_close(c);
	return NULL;
}

/* It joins the thread before it, which may not be quite over, because the pump
 * must not wait for that. */
static void *subscriber_thread(void *arg)
{
	struct redis_session *s = arg;
	redis_subscribed *subscribed = s->subscriber.subscribed;
	struct dlk_error err;
	struct redis_conn *c;

	if (s->subscriber.has_last)
		pthread_join(s->subscriber.last, NULL);
	c = open_subscribed(s, &err);
	subscribed(s, c, &err);
	return NULL;
}

int dlki_redis_subscribe(struct redis_session *s, redis_subscribed *subscribed)
{
	struct redis_subscriber *r = &s->subscriber;

	r->has_last = r->has_thread;
	r->last = r->thread;
	r->subscribed = subscribed;
	if (dlk_thread(&r->thread, "dlock-notify", subscriber_thread, s) != 0) {
		r->thread = r->last;
		return -1;
	}
	r->has_thread = 1;
	return 0;
}

void dlki_redis_subscribe_end(struct redis_session *s)
{
	if (s->subscriber.has_thread)
		pthread_join(s->subscriber.thread, NULL);
	s->subscriber.has_thread = 0;
}
