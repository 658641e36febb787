/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From server to server.  Left to itself, the client library stays with a
 * server that has frozen, or that accepts connections and does not answer, for
 * two thirds of the time-out.  That is too long for the holds, and for a
 * program that opens a client.  The library has no call to leave a server.  So
 * where the URI names several servers, each handle knows only one of them, and
 * another handle goes on with the session at the next one.
 */
#include "backends/zk/move.h"
#include "backends/zk/conn.h"
#include "backends/zk/session.h"

#include <string.h>

#define POLL_NS (10 * DLK_MS)
#define REFUSED_NS (20 * DLK_MS)
#define MOST_ROUNDS 5 /* after which it gets no slower */

/* An address that nothing can be connected to. */
#define NOWHERE "255.255.255.255:1"

/* A library that was refused, or cut off, has gone back to its first state, and
 * pauses.  It gets some time to begin, and more if all servers refused
 * before. */
static int connect_has_failed(const struct zk_session *s,
			      const struct zk_conn *c)
{
	uint64_t rounds = s->hosts.misses / s->hosts.n;
	int state = zoo_state(c->zh);

	if (state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE ||
	    state == ZOO_CONNECTED_STATE)
		return 0;
	if (rounds > MOST_ROUNDS)
		rounds = MOST_ROUNDS;
	return dlk_now() - c->begun >= REFUSED_NS << rounds;
}

dlk_time dlki_zk_move_due(struct zk_session *s)
{
	const struct zk_conn *c = s->conn;
	dlk_time end, soon = dlk_now() + POLL_NS;

	if (s->hosts.n < 2 || !c)
		return DLK_FOREVER;
	if (c->state == ZK_UP)
		return c->calls ? c->silent_since + s->hosts.patience_ns :
				  DLK_FOREVER;
	if (c->state != ZK_DOWN)
		return DLK_FOREVER;
	if (c->lost || connect_has_failed(s, c))
		return dlk_now();
	end = c->begun + s->hosts.connect_ns;
	return end < soon ? end : soon;
}

/*
 * To close a connected handle is to end the session.  With nowhere to connect
 * to, the handle is not connected, and never will be.  The library does not
 * tell its own thread, which may use the socket's number for another moment.
 * This is a function of its own so that TSan can name it.
 */
static __attribute__((noinline)) void retire(struct zk_conn *c)
{
	zoo_set_servers(c->zh, NOWHERE);
}

void dlki_zk_move(struct zk_session *s)
{
	struct zk_conn *old = s->conn, *c;
	struct dlk_error err;
	struct zk_id id;

	if (old->state == ZK_UP) {
		if (s->core)
			dlk_log(s->core, 1,
				"%.150s left a request unanswered; on to the "
				"next server",
				s->hosts.host[s->hosts.at]);
		dlki_zk_conn_down(old);
	}
	id = old->id;
	s->hosts.at = (s->hosts.at + 1) % s->hosts.n;
	s->hosts.misses++;
	s->conn = NULL;
	pthread_mutex_unlock(&s->mu);
	retire(old);
	c = dlki_zk_conn_open(s, &id, &err);
	explicit_bzero(&id, sizeof(id));
	pthread_mutex_lock(&s->mu);
	if (!c) {
		if (s->core)
			dlk_log(s->core, 0, "no way to another server: %s",
				err.text);
		old->lost = 1;
		s->conn = old;
		dlki_zk_sleep(&s->thread.work, s, dlk_now() + 10 * POLL_NS);
		return;
	}
	dlki_zk_conn_use(c);
	pthread_mutex_unlock(&s->mu);
	dlki_zk_conn_close(old);
	pthread_mutex_lock(&s->mu);
}
