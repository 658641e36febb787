/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/error.h"
#include "core/base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct dlk_error last;

/* A text that was cut may end in half a character, which is dropped. */
static void clean(char *text, size_t len, int cut)
{
	size_t from = 0, to = 0;

	while (from < len) {
		uint32_t code;
		size_t n = dlki_utf8_next(text + from, len - from, &code);

		if (n == 0 && cut && len - from < 4)
			break;
		if (n == 0 || dlki_utf8_is_control(code)) {
			text[to++] = '?';
			from += n ? n : 1;
			continue;
		}
		memmove(text + to, text + from, n);
		to += n;
		from += n;
	}
	text[to] = '\0';
}

static void fill(struct dlk_error *err, int code, const char *fmt, va_list ap)
{
	struct dlk_error e = { .code = code };
	int saved = errno;
	int n = vsnprintf(e.text, sizeof(e.text), fmt, ap);

	if (n < 0)
		snprintf(e.text, sizeof(e.text), "%s", dlock_strerror(code));
	clean(e.text, strlen(e.text), n >= (int)sizeof(e.text));
	*err = e;
	errno = saved;
}

int dlk_fail(struct dlk_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		fill(err, code, fmt, ap);
		va_end(ap);
	}
	return code;
}

int dlki_report(const struct dlk_error *err)
{
	assert(err->code != DLOCK_OK);
	last = *err;
	return err->code;
}

int dlki_leave_with(struct dlki_scope *scope, int rc)
{
	if (rc < 0)
		dlki_report(&scope->err);
	dlki_leave(scope);
	return rc;
}

int dlki_reason(struct dlk_error *err, int rc, const char *scheme)
{
	if (rc != DLOCK_OK && err->code == DLOCK_OK)
		dlk_fail(err, rc < 0 ? rc : DLOCK_EPROTO,
			 "%s: failed without a reason", scheme);
	return rc == DLOCK_OK ? DLOCK_OK : err->code;
}

int dlki_nomem(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ENOMEM, "%s", dlock_strerror(DLOCK_ENOMEM));
}

int dlki_other_limit(struct dlk_error *err, const struct dlk_request *request,
		     uint32_t limit)
{
	int few = request->permits > limit;

	return dlk_fail(err, DLOCK_EINVAL,
			"semaphore '%.100s' has %s%u permits, not %u",
			request->name, few ? "only " : "", (unsigned int)limit,
			(unsigned int)(few ? request->permits :
					     request->limit));
}

int dlki_text_check(const char *text, size_t len, const char *what,
		    struct dlk_error *err)
{
	size_t at;
	const char *flaw = dlki_text_flaw(text, len, &at);

	return flaw ? dlk_fail(err, DLOCK_EINVAL, "byte %zu of the %s %s", at,
			       what, flaw) :
		      0;
}

const char *dlki_errno_text(int errnum)
{
	const char *text = strerrordesc_np(errnum);

	return text ? text : "unknown system error";
}

int dlki_system(struct dlk_error *err, int errnum, const char *doing)
{
	int code = DLOCK_ESYSTEM;

	switch (errnum) {
	case EMFILE:
	case ENFILE:
	case EAGAIN:
		code = DLOCK_EEXHAUSTED;
		break;
	case ENOMEM:
		code = DLOCK_ENOMEM;
		break;
	case EACCES:
	case EPERM:
		code = DLOCK_EDENIED;
		break;
	default:
		break;
	}
	return dlk_fail(err, code, "%s: %s", doing, dlki_errno_text(errnum));
}

static const struct code {
	int code;
	const char *name, *text;
} codes[] = { { DLOCK_OK, "OK", "success" },
#define X(name, value, text) { value, #name, text },
	      DLOCK_ERRORS(X)
#undef X
};

static const struct code *find_code(int code)
{
	static const struct code unknown = { 1, "UNKNOWN",
					     "no dlock error code" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return &codes[i];
	return &unknown;
}

const char *dlock_errname(int code)
{
	return find_code(code)->name;
}

const char *dlock_strerror(int code)
{
	return find_code(code)->text;
}

const char *dlock_errmsg(void)
{
	return last.text;
}

const char *dlock_cap_name(uint32_t bit)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} caps[] = {
#define CAP(name) { DLOCK_CAP_##name, #name }
		CAP(REMOTE),     CAP(SHARED),         CAP(COUNT),
		CAP(FENCE),      CAP(FENCE_DURABLE),  CAP(FAIR),
		CAP(WAKE),       CAP(EXPIRE),         CAP(DURABLE),
		CAP(CONSISTENT), CAP(INSPECT),        CAP(LIST),
		CAP(WANTED),     CAP(RESIZE),         CAP(PERMITS),
		CAP(UPGRADE),    CAP(REVOKE_PERMITS), CAP(NO_THREADS),
#undef CAP
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (caps[i].bit == bit)
			return caps[i].name;
	return NULL;
}

#define TEXT_OF(x) #x
#define VERSION(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *dlock_version(void)
{
	return VERSION(DLOCK_VERSION_MAJOR, DLOCK_VERSION_MINOR,
		       DLOCK_VERSION_PATCH);
}
