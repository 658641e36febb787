/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: lines on their way to the program's sink.
 *
 * The writer of a line may hold any lock, so a line is only queued.  A thread
 * that writes inside a call of the backend delivers the lines to the sink when
 * the call has returned.  The process's thread for callbacks (base/job.h)
 * delivers the lines of a store's threads.
 *
 * The sink gets a line at a time, in the order of writing.  The queue is
 * bounded: while a sink does not return, further lines are only counted, and
 * the sink is told how many were dropped.
 */
#ifndef DLOCK_CORE_LOG_H
#define DLOCK_CORE_LOG_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "core/base/due.h"
#include "core/base/job.h"

struct dlock_client;

enum { DLKI_ERROR, DLKI_WARNING, DLKI_INFO, DLKI_DEBUG };

#define DLKI_LOG_LINES 256 /* kept at once */

struct dlki_log_line {
	STAILQ_ENTRY(dlki_log_line) in_log;
	uint64_t number;      /* from 1, in the order of writing */
	uint64_t missed;      /* lines dropped before this line */
	int level, code;
	const char *lock;     /* behind the text, or NULL */
	char text[];
};

struct dlki_log {
	/* Constant. */
	dlock_log_fn sink;    /* NULL: no line is written */
	void *arg;
	const char *label, *uri;

	struct dlki_job delivery; /* locks itself */

	/*
	 * mu protects the rest.  The sink is called without mu, and a thread
	 * with mu takes no lock but the delivery's.
	 */
	pthread_mutex_t mu;
	pthread_cond_t told;  /* no thread is in the sink */
	STAILQ_HEAD(, dlki_log_line) lines;
	size_t n;
	uint64_t written;     /* number of the last line */
	uint64_t missed;      /* since that line */
	int telling;          /* a thread is in the sink */
	struct dlki_due *due; /* dlock_process() tells the sink; or NULL */
	int stop;

	_Atomic size_t n_due; /* for dlock_process() */
	_Atomic int stranded; /* there are lines, and no thread could start */
};

/* Borrows the label and the URI of a client. */
void dlki_log_init(struct dlki_log *log, dlock_log_fn sink, void *arg,
		   const char *label, const char *uri);

/* From now on only dlki_log_tell() calls the sink, and `due` is told when there
 * is a line.  Waits for a running call. */
void dlki_log_by_process(struct dlki_log *log, struct dlki_due *due);

/* Call the sink with a line.  0: there is no line. */
int dlki_log_tell(struct dlki_log *log);

/* Return how often dlki_log_tell() has a line to tell.  Takes no lock. */
size_t dlki_log_due(const struct dlki_log *log);

/* No more lines will be written: deliver the rest. */
void dlki_log_end(struct dlki_log *log);

void dlki_log_destroy(struct dlki_log *log); /* once ended */

/* This thread's lines are delivered at the end of the bracket, where the thread
 * holds no lock.  Brackets of several logs may be nested. */
struct dlki_log_bracket {
	struct dlki_log *log;
	uint64_t number;      /* of the last line, 0: none */
	struct dlki_log_bracket *outer;
};

void dlki_log_open(struct dlki_log_bracket *bracket, struct dlki_log *log);
void dlki_log_close(struct dlki_log_bracket *bracket);

/* From now on no line is delivered on this thread, or again. */
void dlki_log_apart(int apart);

/* Write a line of the core's.  Without the client's mu: the line is delivered
 * at once, unless another thread is in the sink. */
void dlki_log(struct dlock_client *client, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* The same of a failure, and of the lock asked for, or NULL. */
void dlki_log_failed(struct dlock_client *client, int level, const char *lock,
		     const struct dlk_error *err, const char *what);

/* ---- Is the store away? -------------------------------------------------- */

/* Logged when the store goes and comes back, and not at each request in
 * between. */

/* Without mu: a request, for `lock` or NULL, came to `err`.  0: not because the
 * store is away, and no line was logged. */
int dlki_away_failed(struct dlock_client *client, const char *lock,
		     const struct dlk_error *err);

/* Without mu: the store answered. */
void dlki_away_answered(struct dlock_client *client);

#endif
