/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/answer.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

static void copy_list(struct dlki_found *out, const struct addrinfo *list)
{
	for (; list; list = list->ai_next) {
		struct dlki_address *to;

		if (list->ai_addrlen > sizeof(to->to) ||
		    out->n++ >= DLKI_ADDRESSES)
			continue;
		to = &out->v[out->n - 1];
		memcpy(&to->to, list->ai_addr, list->ai_addrlen);
		to->len = list->ai_addrlen;
	}
}

void dlki_answer_get(struct dlki_found *out, const char *host, uint16_t port,
		     int flags)
{
	const struct addrinfo hints = {
		.ai_flags = flags | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list = NULL;
	char text[6];

	memset(out, 0, sizeof(*out));
	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	out->rc = getaddrinfo(host, text, &hints, &list);
	out->errnum = errno;
	if (out->rc != 0)
		return;
	copy_list(out, list);
	freeaddrinfo(list);
}

int dlki_answer_is_away(int rc)
{
	return rc != 0 && rc != EAI_NONAME && rc != EAI_NODATA;
}

/* Set the error, without gai_strerror(), which speaks the program's
 * language. */
static int failed(const struct dlki_found *found, const char *host,
		  struct dlk_error *err)
{
	const char *why = "the name could not be resolved";

	switch (found->rc) {
	case EAI_MEMORY:
		return dlki_nomem(err);
	case EAI_SYSTEM:
		if (found->errnum == EAGAIN || found->errnum == EPERM ||
		    found->errnum == EMFILE || found->errnum == ENFILE ||
		    found->errnum == ENOMEM)
			return dlki_system(err, found->errnum, host);
		why = dlki_errno_text(found->errnum);
		break;
	case EAI_NONAME:
	case EAI_NODATA:
		why = "no host has this name";
		break;
	case EAI_AGAIN:
		why = "the name service does not answer";
		break;
	default:
		break;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", host, why);
}

int dlki_answer_judge(const struct dlki_found *found, const char *host,
		      struct dlk_error *err)
{
	if (found->rc != 0)
		return failed(found, host, err);
	if (found->n > DLKI_ADDRESSES)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name has %zu addresses; give one "
				"address",
				host, found->n);
	if (found->n == 0)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the name has no address", host);
	return 0;
}
