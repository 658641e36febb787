/* SPDX-License-Identifier: Apache-2.0 */
/* What a server must tell before it is trusted, and which it is. */
#include "wire.h"
#include "clock.h"
#include "uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer to "mn", which is ERROR where the protocol is not known. */
static int read_meta(struct memc_conn *c, const struct memc_stats *st,
		     dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	c->run.meta = dlki_memc_stats_have_meta(st) && strcmp(line, "MN") == 0;
	if (c->run.meta ||
	    dlk_param_int(c->session->base.uri, "protocol") != MEMC_META)
		return 0;
	return dlk_fail(err, DLOCK_ENOTSUP, MEMC_NO_META, c->net.peer,
			st->major, st->minor, st->patch);
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
	dlki_memc_witness_put(&c->out, c->session->base.uri, witness);
	return 0;
}

/* A server that is out of memory may have none. */
static int get_witness(struct memc_conn *c, dlk_time deadline,
		       struct dlk_error *err)
{
	static const struct dlk_request nobodys;
	struct memc_op op = dlki_memc_op(MEMC_ADD, &nobodys, MEMC_GATE);
	struct memc_reading r;
	int rc = dlki_memc_read(c, &op, &r, deadline, err);

	if (rc == 0)
		snprintf(c->server.witness, sizeof(c->server.witness), "%.*s",
			 (int)strspn(r.text, "0123456789abcdef"), r.text);
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
	int may_be_meta = dlk_param_int(c->session->base.uri, "protocol") !=
			  MEMC_TEXT;
	dlk_time asked = dlk_now();
	int rc;

	dlki_memc_put(&c->out, "stats\r\n");
	rc = put_witness(c, home, err);
	if (may_be_meta)
		dlki_memc_put(&c->out, "mn\r\n");
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

int dlki_memc_greet(struct memc_conn *c, const struct memc_identity *home,
		    char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		    struct dlk_error *err)
{
	struct memc_stats st = { 0 };
	int rc = ask_identity(c, &st, home, deadline, err);

	if (rc == 0)
		rc = dlki_memc_run_begin(&c->run, c->session->base.uri, &st,
					 c->net.peer, dlk_now(), err);
	if (rc == 0)
		make_identity(c, &st, home, identity);
	return rc;
}
