/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From handle to handle.  Each handle has a single connection, to a single
 * server.  When the connection could not be made, or is lost, another handle
 * goes on with the session: at another address of the server, then at the next
 * server.
 *
 * Left to itself, the client library stays with a frozen server, or a server
 * that accepts connections and does not answer, for two thirds of the time-out:
 * too long for the holds, and for a program that opens a client.  So the
 * session leaves a connection earlier that gets no session, even if the URI
 * names a single server: a server that starts may forget a connection that it
 * accepted.  A connected session leaves a frozen server earlier if the URI
 * names another.
 */
#include "backends/zk/move.h"
#include "backends/zk/client.h"
#include "backends/zk/conn.h"
#include "backends/zk/session.h"

#include <string.h>

#define RETRY_NS (100 * DLK_MS)
#define REFUSED_NS (20 * DLK_MS)
#define MOST_ROUNDS 5 /* gets no slower after these */

/* An address without a connection. */
#define NOWHERE "255.255.255.255:1"

/* How often all servers have failed since the last connection, after so many
 * failures. */
static uint64_t rounds_of(const struct zk_session *s, uint64_t failures)
{
	uint64_t rounds = failures / s->hosts.n;

	return rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
}

/* When to try again after a failure; later if all servers failed before. */
static dlk_time pause_end(const struct zk_session *s, const struct zk_conn *c)
{
	if (dlki_zk_addresses_left(s))
		return dlk_now();
	return c->begun + (REFUSED_NS << rounds_of(s, s->hosts.misses));
}

/* When to leave a server that begins no session.  A slow server gets more time
 * from round to round; a server that refused connections was not slow. */
static dlk_time connect_end(const struct zk_session *s, const struct zk_conn *c)
{
	return c->begun +
	       (s->hosts.connect_ns << rounds_of(s, s->hosts.silences));
}

dlk_time dlki_zk_move_due(struct zk_session *s)
{
	const struct zk_conn *c = s->conn;

	if (!c)
		return DLK_FOREVER;
	if (c->state == ZK_DOWN && c->lost)
		return dlk_now();
	if (c->state == ZK_DOWN && c->failed)
		return pause_end(s, c);
	if (c->state == ZK_DOWN)
		return connect_end(s, c);
	if (c->state == ZK_UP && !LIST_EMPTY(&c->calls) && s->hosts.n > 1)
		return c->silent_since + s->hosts.patience_ns;
	return DLK_FOREVER;
}

/* To close a connected handle is to end the session.  With nowhere to connect
 * to, the handle is not connected, and never will be. */
static void retire(struct zk_conn *c)
{
	zoo_set_servers(c->zh, NOWHERE);
}

/* The server has not answered for long: check for an answer meanwhile. */
static int leave_silent(struct zk_session *s)
{
	dlki_zk_drive_now(s);
	if (dlki_zk_move_due(s) > dlk_now())
		return 0;
	if (s->conn->state != ZK_UP)
		return 1;
	if (s->core)
		dlk_log(s->core, 1,
			"%.150s left a request unanswered; on to the next "
			"server",
			s->hosts.host[s->hosts.at]);
	dlki_zk_conn_down(s->conn);
	return 1;
}

/* Choose the next address: another address of the server, if this address could
 * not be reached. */
static void choose_next(struct zk_session *s, const struct zk_conn *old)
{
	s->hosts.silences += !old->lost && !old->failed;
	if (!old->lost && dlki_zk_addresses_left(s))
		return;
	dlki_zk_address_of_next_server(s);
}

/* No thread uses a lost handle, so it may be closed with the session unlocked.
 * The handle's unanswered requests fail then. */
void dlki_zk_move(struct zk_session *s)
{
	struct zk_conn *old = s->conn, *c;
	struct dlk_error err;
	struct zk_id id;

	if (!leave_silent(s))
		return;
	id = old->id;
	choose_next(s, old);
	old->lost = 1;
	dlki_zk_drive_refresh(s);
	pthread_mutex_unlock(&s->mu);
	c = dlki_zk_conn_open(s, &id, &err);
	explicit_bzero(&id, sizeof(id));
	pthread_mutex_lock(&s->mu);
	if (!c) {
		if (s->core)
			dlk_log(s->core, 0, "no way to another server: %s",
				err.text);
		s->upkeep.retry_at = dlk_now() + RETRY_NS;
		return;
	}
	dlki_zk_conn_use(c);
	pthread_mutex_unlock(&s->mu);
	retire(old);
	dlki_zk_conn_close(old);
	pthread_mutex_lock(&s->mu);
}
