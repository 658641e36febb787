/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and data, and the requests to which they belong. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"

/* ---- Answers and requests ------------------------------------------------ */

static const struct dlk_request nobodys;

/* Forget the requests of a job whose op is over. */
static void forget_request(struct memc_job *job, const struct dlki_op *op)
{
	if (op || job->verb == DLKI_GREET)
		return;
	for (size_t i = job->at; i < job->n; i++)
		job->ops[i].request = &nobodys;
}

/* Return the job that awaits a line or data; NULL: no job does. */
static struct memc_job *front_job(struct memc_store *s, struct dlki_op **op)
{
	struct memc_job *job = STAILQ_FIRST(&s->jobs);
	struct dlki_front front;

	if (!job || !dlki_front(s->link, &front))
		return NULL;
	*op = dlki_front_op(s->link);
	forget_request(job, *op);
	return job;
}

/* End the op of the earliest request, to which the bytes are no answer.  For
 * other ops on the connection, a new connection is the cure. */
static int end_front(struct dlki_op *op, struct dlk_error *err)
{
	dlki_senseless(op, err);
	err->code = DLOCK_EUNREACHABLE;
	return err->code;
}

/* Refuse bytes that cannot be read. */
static int take_noise(struct memc_store *s, const char *fmt,
		      struct dlk_error *err)
{
	struct dlki_op *op = NULL;
	const struct memc_job *job = front_job(s, &op);

	dlki_peer_fail(s->link, err, DLOCK_EPROTO, fmt);
	if (job && job->verb == DLKI_GREET)
		return dlki_memc_store_refuse(s, err);
	return end_front(op, err);
}

static int take_unexpected(struct memc_store *s, const struct memc_job *job,
			   struct dlki_op *op, const char *line,
			   struct dlk_error *err)
{
	char peer[DLKI_PEER];

	dlki_peer(s->link, peer);
	if (job->verb == DLKI_GREET) {
		dlki_memc_unexpected(peer, 1, line, err);
		return dlki_memc_store_refuse(s, err);
	}
	if (!op)
		return dlki_peer_fail(s->link, err, DLOCK_EUNREACHABLE,
				      "%s did not answer a request");
	dlki_memc_unexpected(peer, 0, line, err);
	return end_front(op, err);
}

/* Leave the connection, which a proxy keeps, and which leads to another run. */
static int leave_run(struct memc_store *s, struct dlk_error *err)
{
	if (!s->told_proxied)
		dlki_warn(&s->base, MEMC_IS_PROXIED);
	s->told_proxied = 1;
	return dlki_peer_fail(s->link, err, DLOCK_EUNREACHABLE,
			      MEMC_RUN_IS_OVER);
}

/* ---- A request's answer, in its order ------------------------------------ */

/* A server that the engine is going to refuse leaves the evidence of home's
 * clock alone: home may have been stopped meanwhile.  For a later run of home
 * that clock is evidence. */
static struct memc_age *age_of(struct memc_store *s,
			       const struct memc_stats *st)
{
	uint64_t born_s = st->time_s - st->uptime_s;

	if (born_s == s->home_born_s)
		return &s->home_age;
	if (born_s != s->other_age.born_s)
		s->other_age = s->home_age;
	return &s->other_age;
}

static int take_stats(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op, const char *line,
		      struct dlk_error *err)
{
	struct dlki_front front = { 0 };

	if (strcmp(line, "END") != 0)
		return dlki_memc_stats_line(&job->stats, line) ?
			       0 :
			       take_unexpected(s, job, op, line, err);
	job->got_stats = 1;
	if (!dlki_memc_stats_are_whole(&job->stats))
		return take_noise(s, MEMC_STATS_ARE_SHORT, err);
	(void)dlki_front(s->link, &front);
	if (job->verb != DLKI_GREET)
		front.began = front.since;
	if (dlki_memc_run_told(&s->run, age_of(s, &job->stats), &job->stats,
			       &front, s->now) != 0)
		return leave_run(s, err);
	return 0;
}

static int is_tail(enum memc_tail tail, const char *line)
{
	if (tail == MEMC_TAIL_VERSION)
		return strncmp(line, "VERSION", 7) == 0;
	/* ERROR: the server has no meta protocol. */
	return strcmp(line, "MN") == 0 || strcmp(line, "ERROR") == 0;
}

static int take_tail(struct memc_store *s, struct memc_job *job,
		     const char *line, struct dlk_error *err)
{
	if (!is_tail(job->tail, line))
		return take_unexpected(s, job, NULL, line, err);
	memcpy(job->said, line, 2);
	job->said[2] = '\0';
	job->tail = MEMC_NO_TAIL;
	return 0;
}

/* Return the operation to be answered next; NULL: all are answered. */
static struct memc_op *awaited(struct memc_job *job, const struct dlki_op *op)
{
	while (job->at < job->n &&
	       !dlki_memc_job_sends(job, &job->ops[job->at]))
		job->at++;
	if (job->at < job->n)
		return &job->ops[job->at];
	if (job->part != MEMC_WHOLE || job->at_place >= job->to)
		return NULL;
	job->place.verb = MEMC_GET;
	job->place.slot = job->at_place;
	job->place.request = op ? op->request : &nobodys;
	return &job->place;
}

/* Note that the request fails, on a sound connection. */
static void note_failure(struct memc_store *s, struct memc_job *job)
{
	char peer[DLKI_PEER];

	dlki_peer(s->link, peer);
	if (s->reading.full[0])
		(void)dlki_memc_unexpected(peer, 0, s->reading.full,
					   &job->error);
	else
		dlk_fail(&job->error, DLOCK_ENOTSUP, MEMC_HAS_NO_CAS, peer);
}

/* The server had no memory to store the item.  By the item that the get behind
 * has found, would the server have stored it? */
static int lacked_memory(const struct memc_op *one)
{
	if (one->verb == MEMC_ADD)
		return one->answer == MEMC_MISSING;
	return one->answer != MEMC_MISSING && one->item.cas == one->cas;
}

/* ... and does the item that is there serve as well?  For a renewal a mark that
 * lasts does.  A permit stands without a mark, a waiter waits without a wish,
 * and a server without the digest has none. */
static int serves(const struct memc_store *s, const struct memc_job *job,
		  const struct memc_op *one)
{
	switch (one->slot) {
	case MEMC_POOL:
		return 1;
	case MEMC_WISH:
		return job->verb == DLKI_ATTEMPT;
	case MEMC_MARK:
		return job->verb == DLKI_RENEW &&
		       (one->request->kind == DLK_SEMAPHORE ||
			dlki_memc_mark_lasts(&s->run, one, s->now));
	default:
		return 0;
	}
}

static void take_op(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op, const struct memc_op *one)
{
	if (s->reading.full[0] && (!lacked_memory(one) || serves(s, job, one)))
		s->reading.full[0] = '\0';
	if (op && job->error.code == 0 &&
	    (s->reading.full[0] || !dlki_memc_op_has_cas(one)))
		note_failure(s, job);
	if (one->slot == MEMC_POOL)
		dlki_memc_job_pool_told(s, job, s->reading.text);
	else if (job->verb == DLKI_GREET)
		snprintf(job->witness, sizeof(job->witness), "%.*s",
			 (int)strspn(s->reading.text, "0123456789abcdef"),
			 s->reading.text);
	if (one != &job->place) {
		job->at++;
	} else {
		if (op && job->error.code == 0) {
			dlki_memc_job_reach(job, one);
			job->each(s, job, one);
		}
		job->at_place++;
	}
	dlki_memc_reading_begin(&s->reading);
}

static int step(struct memc_store *s, struct memc_job *job, struct dlki_op *op,
		struct memc_op *one, enum memc_next next, const char *line,
		struct dlk_error *err)
{
	switch (next) {
	case MEMC_READ:
		take_op(s, job, op, one);
		return 0;
	case MEMC_DATA:
		s->data_left = s->reading.size;
		s->in_data = 1;
		s->text_len = 0;
		return 0;
	case MEMC_LINE:
		return 0;
	default:
		break;
	}
	if (one->verb != MEMC_DROP_META || strcmp(line, "ERROR") != 0)
		return take_unexpected(s, job, op, line, err);
	if (job->error.code == 0)
		dlki_peer_fail(s->link, &job->error, DLOCK_EEXHAUSTED,
			       MEMC_IS_FULL);
	take_op(s, job, op, one);
	return 0;
}

static int is_answered(struct memc_job *job, const struct dlki_op *op)
{
	return (!job->asks || job->got_stats) && !awaited(job, op) &&
	       job->tail == MEMC_NO_TAIL;
}

static int finish(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op, struct dlk_error *err)
{
	if (!is_answered(job, op))
		return 0;
	if (job->verb == DLKI_GREET)
		return dlki_memc_store_greeted(s, job, err);
	dlki_memc_job_answered(s, op);
	return 0;
}

static int take_line(struct memc_store *s, const char *line,
		     struct dlk_error *err)
{
	struct dlki_op *op;
	struct memc_job *job = front_job(s, &op);
	struct memc_op *one;
	int rc;

	if (!job)
		return dlk_fail(err, DLOCK_EPROTO,
				"an answer that nobody asked for");
	if (job->login != MEMC_NO_LOGIN)
		return dlki_memc_store_login(s, job, line, err);
	if (job->asks && !job->got_stats) {
		rc = take_stats(s, job, op, line, err);
	} else if ((one = awaited(job, op)) != NULL) {
		rc = step(s, job, op, one,
			  dlki_memc_reading_line(&s->reading, &s->run, one,
						 line),
			  line, err);
	} else {
		rc = take_tail(s, job, line, err);
	}
	return rc != 0 ? rc : finish(s, job, op, err);
}

/* Take the data of an item; the line end behind them has come. */
static int take_data(struct memc_store *s, const char *rest,
		     struct dlk_error *err)
{
	struct dlki_op *op;
	struct memc_job *job = front_job(s, &op);
	struct memc_op *one;
	int rc;

	assert(job); /* it has taken the line ahead of the data */
	s->in_data = 0;
	if (rest[0] != '\0')
		return take_noise(s, "%s: an item that is too long", err);
	one = awaited(job, op);
	rc = step(s, job, op, one,
		  dlki_memc_reading_data(&s->reading, &s->run, one), "", err);
	return rc != 0 ? rc : finish(s, job, op, err);
}

/* ---- Bytes --------------------------------------------------------------- */

/* Keep the beginning of an item, the only part of use. */
static size_t keep_data(struct memc_store *s, const char *bytes, size_t n)
{
	size_t room = sizeof(s->reading.text) - 1 - s->text_len;

	if (n > s->data_left)
		n = (size_t)s->data_left;
	if (room > n)
		room = n;
	memcpy(s->reading.text + s->text_len, bytes, room);
	s->text_len += room;
	s->reading.text[s->text_len] = '\0';
	s->data_left -= n;
	return n;
}

/* Gather a line; return how many bytes were taken.  *whole: s->line is a
 * line. */
static size_t gather_line(struct memc_store *s, const char *bytes, size_t n,
			  int *whole)
{
	const char *end = memchr(bytes, '\n', n);
	size_t len = end ? (size_t)(end - bytes) : n;

	*whole = end != NULL;
	if (s->line_len + len >= sizeof(s->line)) {
		*whole = -1;
		return n;
	}
	memcpy(s->line + s->line_len, bytes, len);
	s->line_len += len;
	if (!end)
		return n;
	if (s->line_len > 0 && s->line[s->line_len - 1] == '\r')
		s->line_len--;
	s->line[s->line_len] = '\0';
	s->line_len = 0;
	return len + 1;
}

int dlki_memc_store_input(struct memc_store *s, const char *bytes, size_t n,
			  struct dlk_error *err)
{
	int rc = 0, whole;

	while (rc == 0 && n > 0) {
		size_t used;

		if (s->data_left > 0) {
			used = keep_data(s, bytes, n);
		} else {
			used = gather_line(s, bytes, n, &whole);
			if (whole < 0)
				rc = take_noise(s, "%s: a line without an end",
						err);
			else if (whole)
				rc = s->in_data ? take_data(s, s->line, err) :
						  take_line(s, s->line, err);
		}
		bytes += used;
		n -= used;
	}
	return rc;
}
