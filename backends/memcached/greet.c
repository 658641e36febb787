/* SPDX-License-Identifier: Apache-2.0 */
/* What a server must tell before it is trusted, and which it is. */
#include "wire.h"
#include "clock.h"
#include "dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND (INT64_C(1000) * DLK_MS)

/*
 * Tokens count the items that the server stores, from a second after the one in
 * which it was started, in microseconds.  Two runs that begin within one second
 * would give the same ones, so no token is taken before that second is over for
 * certain.  A server that stores fewer than a million items a second never gets
 * ahead of the time, and so the next run's tokens are larger.  memcached counts
 * its age from 2.
 */
#define SECOND_US UINT64_C(1000000)
#define TOKENS_FROM_S 3
#define ADULT_S 4

/* How far the server's clock may be behind, as it counts whole seconds. */
#define LATE_S 3

static int speaks_meta(const struct memc_stats *st)
{
	if (st->major != 1 || st->minor != 6)
		return st->major > 1 || (st->major == 1 && st->minor > 6);
	return st->patch >= 13;
}

/* The answer to "mn", which is ERROR where the protocol is not known. */
static int read_meta(struct memc_conn *c, const struct memc_stats *st,
		     dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	c->meta = speaks_meta(st) && strcmp(line, "MN") == 0;
	if (c->meta || c->session->protocol != MEMC_META)
		return 0;
	return dlk_fail(err, DLOCK_ENOTSUP,
			"%s: version %ld.%ld.%ld has no meta protocol, 1.6.13 "
			"does; use protocol=text",
			c->net.peer, st->major, st->minor, st->patch);
}

/*
 * Servers that were started in the same second may have the same process id as
 * well, as in containers.  So each has a witness, a random text that the first
 * client stores.  Clients that know a witness store it again if the server has
 * forgotten it.
 */
static int put_witness(struct memc_conn *c, const struct memc_identity *home,
		       struct dlk_error *err)
{
	unsigned char bytes[MEMC_WITNESS_LEN / 2];
	char witness[MEMC_WITNESS_LEN + 1];
	int rc;

	if (home->witness[0]) {
		memcpy(witness, home->witness, sizeof(witness));
	} else {
		rc = dlk_random(bytes, sizeof(bytes), err);
		if (rc != 0)
			return rc;
		for (size_t i = 0; i < sizeof(bytes); i++)
			snprintf(witness + 2 * i, 3, "%02x", bytes[i]);
	}
	dlki_memc_put(c, "add %s.0 0 0 %" PRIu64 "\r\n%s\r\ngets %s.0\r\n",
		      c->session->prefix, (uint64_t)MEMC_WITNESS_LEN, witness,
		      c->session->prefix);
	return 0;
}

/* A server that is out of memory may have none. */
static int get_witness(struct memc_conn *c, dlk_time deadline,
		       struct dlk_error *err)
{
	struct memc_op op = { .verb = MEMC_GET };
	char text[MEMC_TEXT_SIZE] = "";
	const char *line;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	if (strcmp(line, "STORED") != 0 && strcmp(line, "NOT_STORED") != 0 &&
	    strncmp(line, "SERVER_ERROR out of memory", 26) != 0)
		return dlki_memc_unexpected(c, line, err);
	rc = dlki_memc_text.read_get(c, &op, text, deadline, err);
	snprintf(c->server.witness, sizeof(c->server.witness), "%.*s",
		 (int)strspn(text, "0123456789abcdef"), text);
	return rc;
}

/* At the address of the session's server there is no other that was started in
 * the same second, even if the witness was forgotten and others have stored
 * their own. */
static int is_home(const struct memc_identity *id,
		   const struct memc_identity *home)
{
	return id->at_len > 0 && id->at_len == home->at_len &&
	       memcmp(&id->at, &home->at, id->at_len) == 0 &&
	       id->born_s == home->born_s && id->pid == home->pid;
}

static void make_identity(struct memc_conn *c, const struct memc_stats *st,
			  const struct memc_identity *home,
			  char identity[DLK_IDENTITY_SIZE])
{
	struct memc_identity *id = &c->server;
	socklen_t len = sizeof(id->at);

	id->born_s = st->time_s - st->uptime_s;
	id->pid = st->pid;
	if (getpeername(c->net.fd, (struct sockaddr *)&id->at, &len) == 0 &&
	    len <= sizeof(id->at))
		id->at_len = len;
	if (is_home(id, home))
		memcpy(id->witness, home->witness, sizeof(id->witness));
	snprintf(identity, DLK_IDENTITY_SIZE, "%" PRIu64 " %" PRIu64 " %s",
		 id->born_s, id->pid, id->witness);
}

static int ask_identity(struct memc_conn *c, struct memc_stats *st,
			const struct memc_identity *home, dlk_time deadline,
			struct dlk_error *err)
{
	int may_be_meta = c->session->protocol != MEMC_TEXT;
	dlk_time asked = dlk_now();
	int rc;

	dlki_memc_put(c, "stats\r\n");
	rc = put_witness(c, home, err);
	if (may_be_meta)
		dlki_memc_put(c, "mn\r\n");
	if (rc == 0)
		rc = dlki_memc_send(c, deadline, err);
	if (rc == 0)
		rc = dlki_memc_stats_read(c, st, asked, deadline, err);
	if (rc == 0)
		rc = get_witness(c, deadline, err);
	if (rc == 0 && may_be_meta)
		rc = read_meta(c, st, deadline, err);
	if (rc == 0)
		dlki_memc_answered(c, asked);
	c->pooled.round_trip = c->round_trip;
	return rc;
}

/* The names may have moved here when the server had run for a while. */
static int set_base(struct memc_conn *c, const struct memc_stats *st,
		    struct dlk_error *err)
{
	uint64_t moved_us = c->session->token_base_us;

	if (moved_us > (st->time_s + LATE_S) * SECOND_US)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: parameter 'token_base': %" PRIu64
				" is ahead of the server's clock, which is at "
				"%" PRIu64 "000000; give the time of the move "
				"in microseconds since 1970",
				c->net.peer, moved_us, st->time_s);
	c->base = (c->born_s + TOKENS_FROM_S) * SECOND_US;
	if (c->base < moved_us)
		c->base = moved_us;
	return 0;
}

int dlki_memc_greet(struct memc_conn *c, const struct memc_identity *home,
		    char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		    struct dlk_error *err)
{
	struct memc_stats st = { 0 };
	uint64_t born_s;
	int rc = ask_identity(c, &st, home, deadline, err);

	if (rc != 0)
		return rc;
	born_s = st.time_s - st.uptime_s;
	if (born_s >= UINT64_C(1) << 40)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server's clock is wrong", c->net.peer);
	c->born_s = born_s;
	c->stem_len = (size_t)snprintf(c->stem, sizeof(c->stem),
				       "%.64s.%" PRIu64 ".", c->session->prefix,
				       born_s);
	rc = set_base(c, &st, err);
	if (rc != 0)
		return rc;
	if (st.uptime_s < ADULT_S)
		c->grants_from = dlk_now() +
				 (int64_t)(ADULT_S - st.uptime_s) * SECOND;
	make_identity(c, &st, home, identity);
	return 0;
}
