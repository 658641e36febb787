/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/connection.h"

#include <stdlib.h>

#include "sim/zk/answers.h"
#include "sim/zk/frames.h"
#include "sim/zk/watches.h"

void zk_connection_forget(struct sim_zk_conn *c)
{
	while (c->pending) {
		struct zk_pending *p = c->pending;

		c->pending = p->next;
		free(p);
	}
}

void zk_connection_close(struct sim_zk_conn *c)
{
	c->is_closing = 1;
	zk_watches_clear(c);
	zk_connection_forget(c);
}

/* An unknown session gets a time-out of 0. */
void zk_connection_begun(struct sim_zk_conn *c, const struct zk_session *one)
{
	static const char none[ZK_PASSWORD];
	size_t frame = zk_frame_open(&c->out);

	c->session = one ? one->id : 0;
	zk_put_int(&c->out, 0);
	zk_put_int(&c->out, one ? one->timeout_ms : 0);
	zk_put_long(&c->out, one ? one->id : 0);
	zk_put_text(&c->out, one ? one->password : none, ZK_PASSWORD);
	zk_put_bool(&c->out, 0);
	zk_frame_end(&c->out, frame);
	if (!one)
		zk_connection_close(c);
}

/* ---- Requests ------------------------------------------------------------ */

void zk_connection_answer(struct sim_zk_conn *c)
{
	while (c->pending && !c->pending->waits) {
		struct zk_pending *p = c->pending;

		c->pending = p->next;
		zk_answer(c, &p->op);
		c->has_written |= zk_is_write(p->op.type);
		free(p);
	}
}

void zk_connection_ready(struct sim_zk_conn *c, const struct zk_op *op)
{
	struct zk_pending *p = c->pending;

	while (p && (!p->waits || p->op.xid != op->xid))
		p = p->next;
	if (!p)
		return;
	p->waits = 0;
	p->op = *op;
	zk_connection_answer(c);
}
