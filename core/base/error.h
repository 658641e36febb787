/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a code and a text.  Internal functions get a struct dlk_error and
 * fill it in with dlk_fail(); a public function passes the error to
 * dlki_report(), which makes the text the thread's last message.
 *
 * Texts may quote foreign input: dlk_fail() replaces control characters and
 * bytes that are not UTF-8 by '?', and cuts a long text between two characters.
 * The arguments may point into `err`, to put a text before the present text.
 * All these functions keep errno.
 */
#ifndef DLOCK_CORE_BASE_ERROR_H
#define DLOCK_CORE_BASE_ERROR_H

#include <dlock/backend.h>

#include "core/base/process.h"

/* Make err the thread's last message and return its code.  `err->code` must
 * not be 0. */
int dlki_report(const struct dlk_error *err);

/* Leave a public call that returns `rc`; < 0: report the error. */
int dlki_leave_with(struct dlki_scope *scope, int rc);

/* Return a backend's `rc`; give err a text if the backend did not. */
int dlki_reason(struct dlk_error *err, int rc, const char *scheme);

/* Call dlk_fail(DLOCK_ENOMEM) without a format. */
int dlki_nomem(struct dlk_error *err);

/* Call dlk_fail() with the code of an errno value: EMFILE, ENFILE, EAGAIN (of
 * pthread_create): EEXHAUSTED; ENOMEM: ENOMEM; EACCES, EPERM: EDENIED; others:
 * ESYSTEM.  The text is "<doing>: <dlki_errno_text>". */
int dlki_system(struct dlk_error *err, int errnum, const char *doing);

/* A semaphore has `limit` permits: too few for the request, or another number
 * than the request's.  Returns EINVAL. */
int dlki_other_limit(struct dlk_error *err, const struct dlk_request *request,
		     uint32_t limit);

/* Are the bytes text, as in utf8.h?  0; or EINVAL, with the flaw of `what`. */
int dlki_text_check(const char *text, size_t len, const char *what,
		    struct dlk_error *err);

/* Return strerror()'s text in the C locale, from any thread; static. */
const char *dlki_errno_text(int errnum);

#endif
