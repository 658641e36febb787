/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a shared object, which grants every attempt or, with VERDICT, no
 * attempt.  The other builds have a flaw. */
#include <dlock/backend.h>

#ifndef VERDICT
#define VERDICT DLK_GRANTED
#endif

static int m_open(struct dlk_session *s, dlk_time deadline,
		  struct dlk_error *err)
{
	(void)deadline;
	s->ttl_ms = 0;
	return s->uri->path ? dlk_fail(err, DLOCK_EINVAL, "no path is wanted") :
			      0;
}

static void m_close(struct dlk_session *s, dlk_time deadline)
{
	(void)s;
	(void)deadline;
}

static enum dlk_verdict m_attempt(struct dlk_ticket *t, dlk_time deadline,
				  struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return VERDICT;
}

static int m_release(struct dlk_ticket *t, dlk_time deadline,
		     struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return 0;
}

#ifdef SCHEME
static const char *const schemes[] = { SCHEME, NULL };
#else
static const char *const schemes[] = { NULL };
#endif

const struct dlock_backend module_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "grants everything",
	.session_size = sizeof(struct dlk_session),
	.ticket_size = sizeof(struct dlk_ticket),
	.open = m_open,
	.close = m_close,
	.attempt = m_attempt,
	.release = m_release,
};

/* DLOCK_MODULE(), but for the flaw. */
#if defined(FLAWED)
#ifndef SIZE
#define SIZE sizeof(struct dlock_module)
#endif
#ifndef MAJOR
#define MAJOR DLOCK_VERSION_MAJOR
#endif
#ifndef MINOR
#define MINOR DLOCK_VERSION_MINOR
#endif
#ifndef SESSION_SIZE
#define SESSION_SIZE sizeof(struct dlk_session)
#endif
#ifndef TICKET_SIZE
#define TICKET_SIZE sizeof(struct dlk_ticket)
#endif
#ifndef BACKEND
#define BACKEND &module_backend
#endif
DLOCK_API extern const struct dlock_module dlock_backend_v1;
const struct dlock_module dlock_backend_v1 = {
	.size = SIZE,
	.major = MAJOR,
	.minor = MINOR,
	.session_size = SESSION_SIZE,
	.ticket_size = TICKET_SIZE,
	.backend = BACKEND,
};
#elif !defined(WITHOUT)
DLOCK_MODULE(&module_backend);
#endif
