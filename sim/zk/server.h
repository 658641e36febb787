/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model ZooKeeper: to dlock, a server like ZooKeeper 3.8.0, or an
 * ensemble of a leader and followers.  Bytes of a client
 * go in, bytes for the client come out; there is no socket, no clock, no thread
 * and no chance in it.
 *
 * The server looks for sessions that are over, and for empty containers, where
 * sim_zk_ring() is called, in time or late.
 *
 * The followers send writes and syncs to the leader, and carry out the
 * transactions; they answer reads and pings by themselves.  The leader hears of
 * their sessions in the answers to pings, half a tick apart.
 *
 * The followers may elect another leader.  The former leader may go on alone
 * meanwhile, and does so by itself: it answers reads, pings and syncs, and goes
 * on with sessions.  No other server agrees on the writes there, so the writes
 * have no answer, and are lost.
 *
 * The model has the requests that dlock sends: create and create2, also of
 * containers, delete, exists, getData, setData, getChildren and getChildren2, a
 * multi of these, sync, ping, auth, removeWatches, closeSession.
 * It has no access lists and no quotas: everybody may do all.  At any other
 * request it closes the connection.  To the words of four letters it answers
 * that they are not in the whitelist.
 */
#ifndef DLOCK_SIM_ZK_SERVER_H
#define DLOCK_SIM_ZK_SERVER_H

#include <stdint.h>

#include "sim/base/bytes.h"

struct sim_zk;
struct sim_zk_conn;
struct zk_op;
struct zk_tree;

/* The machine's clocks, in microseconds. */
struct sim_zk_time {
	int64_t up_us, wall_us;
};

/* Zeroed: as ZooKeeper's sample of a configuration. */
struct sim_zk_options {
	int32_t tick_ms;       /* tickTime; 0: 2000 */
	int32_t min_ms;        /* limits of sessions; 0: 2 ticks */
	int32_t max_ms;        /* 0: 20 ticks */
	int64_t containers_ms; /* between looks for empty ones; 0: a minute */
	int followers;         /* 0: a single server */
	int64_t link_us;       /* a message between servers takes so long */
	int64_t ping_us;       /* until the leader's first ping */

	/* Called before the leader carries a transaction out; NULL: not. */
	void (*judge)(const struct zk_tree *t, const struct zk_op *op);
};

enum { SIM_ZK_SERVERS = 3 };

struct sim_zk *sim_zk_new(const struct sim_zk_options *options,
			  struct sim_zk_time now);
void sim_zk_free(struct sim_zk *s);

/* ---- Time ---------------------------------------------------------------- */

/* When sim_zk_ring() has something to do, in up_us. */
int64_t sim_zk_due(const struct sim_zk *s);
void sim_zk_ring(struct sim_zk *s, struct sim_zk_time now);

/* ---- Connections --------------------------------------------------------- */

/* Connect to the n-th server; the first leader is 0. */
struct sim_zk_conn *sim_zk_connect(struct sim_zk *s, int n);

/* Free the connection, whichever side ended it.  Its session goes on. */
void sim_zk_disconnect(struct sim_zk_conn *c);

/* Take bytes from the client.  Complete requests are carried out, and the
 * replies are appended to the connection's output; events of watches to the
 * outputs of all connections that watch. */
void sim_zk_input(struct sim_zk_conn *c, const void *bytes, size_t len,
		  struct sim_zk_time now);

/* Return the bytes for the client; the network takes them out. */
struct sim_bytes *sim_zk_output(struct sim_zk_conn *c);

/* Whether the server closes the connection after the output. */
int sim_zk_is_closing(const struct sim_zk_conn *c);

/* ---- Events -------------------------------------------------------------- */

/* The server stops and starts: the connections are closing, unsent replies are
 * gone.  Nodes and sessions stay, and each session has a whole time-out
 * again. */
void sim_zk_restart(struct sim_zk *s, struct sim_zk_time now);

/* The followers have all transactions.  They leave the leader, and elect the
 * n-th server, which leads from `until_us` on; until then they do not answer.
 * The zxids make a jump, and each session has a whole time-out.  The former
 * leader stays alone until `alone_until_us`, and then joins the others.
 * The call does nothing if the n-th server leads, or an earlier election, or
 * former leader, is not over. */
void sim_zk_elect(struct sim_zk *s, int n, int64_t until_us,
		  int64_t alone_until_us);

/* The n-th server, a follower, and the leader do not hear from each other
 * until `up_us`; then all arrives. */
void sim_zk_hold_up(struct sim_zk *s, int n, int64_t up_us);

/* The leader's messages to the n-th server are held up until `from_us`, and
 * from then on the server's to the leader until `up_us`.  So the server answers
 * requests, and the answers to the pings before them do not arrive. */
void sim_zk_hold_up_in_turn(struct sim_zk *s, int n, int64_t from_us,
			    int64_t up_us);

/* When the leader ends the connection's session, if the leader hears of it no
 * more; INT64_MAX: there is no session. */
int64_t sim_zk_over_us(const struct sim_zk_conn *c);

/* Was a write answered since the last bytes from the client? */
int sim_zk_has_written(const struct sim_zk_conn *c);

/* ---- Contents ------------------------------------------------------------ */

/* Return the path of the n-th ephemeral node; NULL: no such node.  Borrowed
 * until the next call. */
const char *sim_zk_ephemeral(const struct sim_zk *s, size_t n);

#endif
