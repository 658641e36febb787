/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/container.h"
#include "core/client.h"

#define LINE_SIZE 512

static _Thread_local struct dlki_log_bracket *innermost;

/* The thread must not be held up: it writes, and does not deliver. */
static _Thread_local int is_apart;

/* ---- Reading ------------------------------------------------------------- */

/* With mu held, which is given up meanwhile. */
static void call_sink(struct dlki_log *log, int level, int code,
		      const char *text, const char *lock)
{
	const struct dlock_log_line line = {
		.size = sizeof(line),
		.level = level,
		.code = code,
		.text = text,
		.lock = lock,
		.label = log->label,
		.uri = log->uri,
	};

	pthread_mutex_unlock(&log->mu);
	log->sink(&line, log->arg);
	pthread_mutex_lock(&log->mu);
}

/* Likewise. */
static void tell_missed(struct dlki_log *log, uint64_t missed)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu more lines were dropped",
		 (unsigned long long)missed);
	call_sink(log, DLKI_WARNING, 0, text, NULL);
}

static void tell_line(struct dlki_log *log)
{
	struct dlki_log_line *line = STAILQ_FIRST(&log->lines);

	STAILQ_REMOVE_HEAD(&log->lines, in_log);
	log->n--;
	if (line->missed > 0)
		tell_missed(log, line->missed);
	call_sink(log, line->level, line->code, line->text, line->lock);
	free(line);
}

/* With mu held, while no other thread does the same: up to line `number`. */
static void tell_lines(struct dlki_log *log, uint64_t number)
{
	log->telling = 1;
	while (log->n > 0 && STAILQ_FIRST(&log->lines)->number <= number)
		tell_line(log);
	while (log->n == 0 && log->missed > 0) {
		uint64_t missed = log->missed;

		log->missed = 0;
		tell_missed(log, missed);
	}
	log->telling = 0;
	pthread_cond_broadcast(&log->told);
}

static int has_lines(const struct dlki_log *log)
{
	return log->n > 0 || log->missed > 0;
}

/* On the process's thread for callbacks.  A thread in the sink sees to the
 * lines it leaves. */
static int deliver_later(struct dlki_job *delivery)
{
	struct dlki_log *log = DLKI_CONTAINER_OF(delivery, struct dlki_log,
						 delivery);
	int more = 0;

	pthread_mutex_lock(&log->mu);
	if (!log->stop && !log->telling && !log->due) {
		tell_lines(log, log->written);
		more = has_lines(log);
	}
	pthread_mutex_unlock(&log->mu);
	return more;
}

/* With mu held. */
static void count_due(struct dlki_log *log)
{
	size_t n = log->n + (log->missed > 0);

	atomic_store(&log->n_due, log->due ? n : 0);
}

/* With mu held.  If no thread can be started, the next call of the backend
 * delivers the lines when it ends. */
static void wake_thread(struct dlki_log *log)
{
	int rc;

	if (log->due) {
		count_due(log);
		dlki_due_tell(log->due);
		return;
	}
	rc = log->stop ? ECANCELED : dlki_job_join(&log->delivery, NULL);
	if (rc == 0)
		dlki_job_post(&log->delivery);
	atomic_store(&log->stranded, rc != 0);
}

/* Deliver the lines up to `number`.  If another thread is in the sink, the
 * other thread continues with them. */
static void deliver(struct dlki_log *log, uint64_t number)
{
	pthread_mutex_lock(&log->mu);
	if (atomic_exchange(&log->stranded, 0))
		number = UINT64_MAX;
	if (!log->telling && !log->due)
		tell_lines(log, number);
	if (has_lines(log))
		wake_thread(log);
	pthread_mutex_unlock(&log->mu);
}

/* The sink must not call dlock, so no sink waits here for itself. */
void dlki_log_by_process(struct dlki_log *log, struct dlki_due *due)
{
	pthread_mutex_lock(&log->mu);
	log->due = due;
	while (log->telling)
		pthread_cond_wait(&log->told, &log->mu);
	count_due(log);
	if (has_lines(log))
		dlki_due_tell(due);
	pthread_mutex_unlock(&log->mu);
}

int dlki_log_tell(struct dlki_log *log)
{
	int told;

	pthread_mutex_lock(&log->mu);
	told = log->due && has_lines(log) && !log->telling;
	if (told)
		tell_lines(log,
			   log->n > 0 ? STAILQ_FIRST(&log->lines)->number : 0);
	count_due(log);
	pthread_mutex_unlock(&log->mu);
	return told;
}

size_t dlki_log_due(const struct dlki_log *log)
{
	return atomic_load(&log->n_due);
}

void dlki_log_init(struct dlki_log *log, dlock_log_fn sink, void *arg,
		   const char *label, const char *uri)
{
	log->sink = sink;
	log->arg = arg;
	log->label = label;
	log->uri = uri;
	STAILQ_INIT(&log->lines);
	pthread_mutex_init(&log->mu, NULL);
	pthread_cond_init(&log->told, NULL);
	log->delivery.run = deliver_later;
	log->delivery.thread = DLKI_DELIVER;
}

void dlki_log_destroy(struct dlki_log *log)
{
	pthread_cond_destroy(&log->told);
	pthread_mutex_destroy(&log->mu);
}

void dlki_log_end(struct dlki_log *log)
{
	pthread_mutex_lock(&log->mu);
	log->stop = 1;
	pthread_mutex_unlock(&log->mu);
	dlki_job_leave(&log->delivery);
	pthread_mutex_lock(&log->mu);
	tell_lines(log, UINT64_MAX);
	pthread_mutex_unlock(&log->mu);
}

/* ---- Writing ------------------------------------------------------------- */

/* The subject of a line. */
struct about {
	int level, code;
	const char *lock; /* or NULL */
};

static struct dlki_log_line *new_line(const struct about *about,
				      const char *text)
{
	size_t text_size = strlen(text) + 1;
	size_t lock_size = about->lock ? strlen(about->lock) + 1 : 0;
	struct dlki_log_line *line =
		malloc(sizeof(*line) + text_size + lock_size);

	if (!line)
		return NULL;
	*line = (struct dlki_log_line){ .level = about->level,
					.code = about->code };
	memcpy(line->text, text, text_size);
	if (about->lock)
		line->lock = memcpy(line->text + text_size, about->lock,
				    lock_size);
	return line;
}

/* With mu held. */
static void enqueue(struct dlki_log *log, const struct about *about,
		    const char *text)
{
	struct dlki_log_line *line = NULL;

	if (log->n < DLKI_LOG_LINES)
		line = new_line(about, text);
	log->written++;
	if (!line) {
		log->missed++;
		return;
	}
	line->number = log->written;
	line->missed = log->missed;
	log->missed = 0;
	STAILQ_INSERT_TAIL(&log->lines, line, in_log);
	log->n++;
}

static void write_line(struct dlki_log *log, const struct about *about,
		       const char *text)
{
	struct dlki_log_bracket *bracket = innermost;

	while (bracket && bracket->log != log)
		bracket = bracket->outer;
	pthread_mutex_lock(&log->mu);
	enqueue(log, about, text);
	if (bracket && !is_apart)
		bracket->number = log->written;
	else
		wake_thread(log);
	pthread_mutex_unlock(&log->mu);
}

void dlki_log_open(struct dlki_log_bracket *bracket, struct dlki_log *log)
{
	bracket->log = log;
	bracket->number = 0;
	bracket->outer = innermost;
	innermost = bracket;
}

void dlki_log_close(struct dlki_log_bracket *bracket)
{
	innermost = bracket->outer;
	if (is_apart)
		return;
	if (bracket->number > 0 || atomic_load(&bracket->log->stranded))
		deliver(bracket->log, bracket->number);
}

void dlki_log_apart(int apart)
{
	is_apart = apart;
}

static void write_now(struct dlki_log *log, const struct about *about,
		      const char *text)
{
	struct dlki_log_bracket bracket;

	dlki_log_open(&bracket, log);
	write_line(log, about, text);
	dlki_log_close(&bracket);
}

/* Have `put` write the line. */
static void format(struct dlki_log *log,
		   void (*put)(struct dlki_log *log, const struct about *about,
			       const char *text),
		   const struct about *about, const char *fmt, va_list args)
{
	int errnum = errno;
	char text[LINE_SIZE];

	if (!log->sink)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	put(log, about, text);
	errno = errnum;
}

void dlki_log(struct dlock_client *c, int level, const char *fmt, ...)
{
	const struct about about = { .level = level };
	va_list args;

	va_start(args, fmt);
	format(&c->log, write_now, &about, fmt, args);
	va_end(args);
}

void dlki_log_failed(struct dlock_client *c, int level, const char *lock,
		     const struct dlk_error *err, const char *what)
{
	const struct about about = { level, err->code, lock };
	int errnum = errno;
	char text[LINE_SIZE];

	if (!c->log.sink)
		return;
	snprintf(text, sizeof(text), "%s%s", what, err->text);
	write_now(&c->log, &about, text);
	errno = errnum;
}

void dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
{
	const struct about about = { .level = level };
	struct dlock_client *c = s->core;
	va_list args;

	va_start(args, fmt);
	format(&c->log, write_line, &about, fmt, args);
	va_end(args);
}

/* ---- Is the store away? -------------------------------------------------- */

int dlki_away_failed(struct dlock_client *c, const char *lock,
		     const struct dlk_error *err)
{
	dlk_time there = 0;

	if (err->code != DLOCK_EUNREACHABLE)
		return 0;
	if (atomic_compare_exchange_strong(&c->away_since, &there, dlk_now()))
		dlki_log_failed(c, DLKI_WARNING, lock, err,
				"the store does not answer: ");
	else
		dlki_log_failed(c, DLKI_DEBUG, lock, err, "");
	return 1;
}

void dlki_away_answered(struct dlock_client *c)
{
	dlk_time since = atomic_load(&c->away_since);

	if (since != 0 &&
	    atomic_compare_exchange_strong(&c->away_since, &since, 0))
		dlki_log(c, DLKI_WARNING,
			 "the store answers again, after %lld ms",
			 (long long)((dlk_now() - since) / DLK_MS));
}
