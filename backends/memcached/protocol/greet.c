/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection begins: the server must tell the state before it is trusted,
 * and which server it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"

/*
 * Choose a witness: a random text that the first client stores in the server.
 * Servers started in the same second may have the same process id as well, as
 * in containers; the witness tells them apart.  Clients that know a witness
 * store it again if the server has forgotten it.
 */
static void choose_witness(struct memc_store *s)
{
	for (size_t i = 0; i < MEMC_WITNESS_LEN / 2 && !s->identity[0]; i++)
		snprintf(s->witness + 2 * i, 3, "%02x", s->base.chance[i]);
}

static void send_greeting(struct memc_store *s, struct memc_job *job)
{
	static const struct dlk_request nobodys;

	job->asks = 1;
	job->ops[0] = dlki_memc_op(MEMC_ADD, &nobodys, MEMC_GATE);
	job->n = 1;
	dlki_memc_job_check_pool(s, job, &nobodys);
	job->tail = dlk_param_int(s->base.uri, "protocol") == MEMC_TEXT ?
			    MEMC_NO_TAIL :
			    MEMC_TAIL_MN;
	dlki_memc_job_send(s, job, NULL, NULL);
}

/* Send another request before the login: a server without logins would store
 * user and password as an item that every client can get. */
static void ask_for_login(struct memc_store *s, struct memc_job *job)
{
	job->login = MEMC_LOGIN_ASKED;
	job->asks = 0;
	job->n = 0;
	job->tail = MEMC_TAIL_VERSION;
	dlki_memc_job_send(s, job, NULL, NULL);
}

void dlki_memc_store_greet(struct memc_store *s)
{
	struct memc_job *job = s->greeting;
	const struct memc_given *given = s->base.given;

	s->run = (struct memc_run){
		.lives = s->lives,
		.prefix = dlk_param_text(s->base.uri, "prefix"),
		.digest = given ? given->digest : NULL,
	};
	s->line_len = s->data_left = 0;
	s->in_data = 0;
	dlki_memc_reading_begin(&s->reading);
	choose_witness(s);
	job->login = MEMC_NO_LOGIN;
	if (s->base.uri->password)
		ask_for_login(s, job);
	else
		send_greeting(s, job);
}

static int refuse_login(struct memc_store *s, const char *fmt,
			struct dlk_error *err)
{
	dlki_peer_fail(s->link, err, DLOCK_EDENIED, fmt);
	return dlki_memc_store_refuse(s, err);
}

int dlki_memc_store_login(struct memc_store *s, struct memc_job *job,
			  const char *line, struct dlk_error *err)
{
	char peer[DLKI_PEER];

	if (job->login == MEMC_LOGIN_ASKED && strncmp(line, "VERSION", 7) == 0)
		return refuse_login(s, MEMC_WANTS_NO_LOGIN, err);
	if (job->login == MEMC_LOGIN_ASKED &&
	    strcmp(line, "CLIENT_ERROR unauthenticated") == 0) {
		dlki_memc_job_answered(s, NULL);
		job->login = MEMC_LOGIN_TOLD;
		send_greeting(s, job);
		return 0;
	}
	if (job->login == MEMC_LOGIN_TOLD && strcmp(line, "STORED") == 0) {
		job->login = MEMC_NO_LOGIN;
		return 0;
	}
	if (job->login == MEMC_LOGIN_TOLD &&
	    strncmp(line, "CLIENT_ERROR", 12) == 0)
		return refuse_login(s, MEMC_REFUSED_LOGIN, err);
	dlki_peer(s->link, peer);
	(void)dlki_memc_unexpected(peer, 1, line, err);
	return dlki_memc_store_refuse(s, err);
}

/* ---- The server ---------------------------------------------------------- */

int dlki_memc_store_refuse(struct memc_store *s, struct dlk_error *err)
{
	if (err->code != DLOCK_EUNREACHABLE)
		dlki_refused(s->link, err);
	return err->code;
}

static int set_meta(struct memc_store *s, const struct memc_job *job,
		    const char *peer, struct dlk_error *err)
{
	s->run.meta = dlki_memc_stats_have_meta(&job->stats) &&
		      strcmp(job->said, "MN") == 0;
	if (s->run.meta || dlk_param_int(s->base.uri, "protocol") != MEMC_META)
		return 0;
	return dlk_fail(err, DLOCK_ENOTSUP, MEMC_NO_META, peer,
			job->stats.major, job->stats.minor, job->stats.patch);
}

/* Tell the server's identity.  At the address of home there is no other server
 * started in the same second, even if the server forgot the witness and other
 * clients have stored theirs.  A server that is out of memory may have no
 * witness. */
static void tell_identity(struct memc_store *s, const struct memc_job *job,
			  char identity[MEMC_IDENTITY],
			  char witness[MEMC_WITNESS_LEN + 1])
{
	int is_home = dlki_is_at_home(s->link) &&
		      s->home_born_s == s->run.born_s &&
		      s->home_pid == job->stats.pid;

	memcpy(witness, is_home ? s->witness : job->witness,
	       MEMC_WITNESS_LEN + 1);
	snprintf(identity, MEMC_IDENTITY, "%" PRIu64 " %" PRIu64 " %s",
		 s->run.born_s, job->stats.pid, witness);
	dlki_identity(s->link, identity);
}

static void go_up(struct memc_store *s, const struct memc_job *job)
{
	char identity[MEMC_IDENTITY], witness[MEMC_WITNESS_LEN + 1];

	tell_identity(s, job, identity, witness);
	dlki_agree(&s->base, &s->agreed);
	dlki_up(s->link);
	if (!dlki_is_up(s->link))
		return;
	if (strcmp(identity, s->identity) != 0)
		s->epoch++;
	s->run.epoch = s->epoch;
	memcpy(s->identity, identity, sizeof(s->identity));
	memcpy(s->witness, witness, sizeof(s->witness));
	if (s->home_born_s != s->run.born_s)
		s->home_age = s->other_age;
	s->home_born_s = s->run.born_s;
	s->home_pid = job->stats.pid;
}

int dlki_memc_store_greeted(struct memc_store *s, struct memc_job *job,
			    struct dlk_error *err)
{
	char peer[DLKI_PEER];
	int rc;

	dlki_peer(s->link, peer);
	*err = job->error;
	rc = err->code;
	if (rc == 0)
		rc = set_meta(s, job, peer, err);
	if (rc == 0)
		rc = dlki_memc_run_begin(&s->run, s->base.uri, &job->stats,
					 peer, s->now, err);
	if (rc != 0)
		return dlki_memc_store_refuse(s, err);
	go_up(s, job);
	dlki_memc_job_answered(s, NULL);
	return 0;
}
