/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a client become requests. */
#include <stdlib.h>

#include "sim/base/memory.h"
#include "sim/zk/answers.h"
#include "sim/zk/connection.h"
#include "sim/zk/ensemble.h"

enum { MOST = 1 << 20 }; /* bytes of a packet */

/* A client that has seen more than this server is turned away. */
static int begin(struct sim_zk_conn *c, struct zk_in *in)
{
	char password[ZK_PASSWORD + 1] = "";
	int32_t timeout_ms;
	int64_t seen, id;

	(void)zk_read_int(in);
	seen = zk_read_long(in);
	timeout_ms = zk_read_int(in);
	id = zk_read_long(in);
	(void)zk_read_text(in, password, sizeof(password));
	if (in->is_bad || c->is_asking || c->server->is_out ||
	    seen > c->server->tree.zxid)
		return 0;
	c->is_asking = 1;
	zk_ensemble_begin_session(c, timeout_ms, id, password);
	return 1;
}

static int take_request(struct sim_zk_conn *c, struct zk_in *in)
{
	struct zk_pending *p = sim_alloc(sizeof(*p)), **at = &c->pending;

	if (!zk_request_read(in, &p->op)) {
		free(p);
		return 0;
	}
	p->op.session = c->session;
	p->waits = zk_is_write(p->op.type) || p->op.type == ZK_SYNC;
	while (*at)
		at = &(*at)->next;
	*at = p;
	zk_ensemble_request(c, &p->op);
	zk_connection_answer(c);
	return !c->is_closing;
}

/* Return the length of the first packet, or word; 0: more has to come. */
static size_t packet(const struct sim_bytes *in)
{
	struct zk_in head = { (const unsigned char *)sim_bytes_text(in),
			      in->len, 0 };
	int32_t len = zk_read_int(&head);

	if (head.is_bad)
		return 0;
	if (len < 0 || len > MOST)
		return 4;
	return head.left < (size_t)len ? 0 : (size_t)len + 4;
}

void sim_zk_input(struct sim_zk_conn *c, const void *bytes, size_t len,
		  struct sim_zk_time now)
{
	size_t n;

	c->server->ensemble->now = now;
	c->has_written = 0;
	sim_bytes_add(&c->in, bytes, len);
	while (!c->is_closing && (n = packet(&c->in)) > 0) {
		const char *at = sim_bytes_text(&c->in);
		struct zk_in in = { (const unsigned char *)at + 4, n - 4, 0 };
		int goes_on;

		if (n == 4) {
			sim_bytes_printf(&c->out,
					 "%.4s is not executed because"
					 " it is not in the whitelist."
					 "\n",
					 at);
			goes_on = 0;
		} else {
			goes_on = c->session ? take_request(c, &in) :
					       begin(c, &in);
		}
		sim_bytes_take(&c->in, n);
		if (!goes_on)
			zk_connection_close(c);
	}
}
