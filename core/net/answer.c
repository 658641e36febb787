/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/answer.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/error.h"

/* Copy the list into one block, to be freed by a single free(). */
struct addrinfo *dlki_answer_copy(const struct addrinfo *list)
{
	struct addrinfo *all, *to;
	char *room;
	size_t n = 1;

	for (const struct addrinfo *ai = list->ai_next; ai; ai = ai->ai_next)
		n++;
	all = calloc(n, sizeof(*all) + sizeof(struct sockaddr_storage));
	if (!all)
		return NULL;
	to = all;
	room = (char *)(all + n);
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next, to++) {
		*to = *ai;
		to->ai_canonname = NULL;
		to->ai_next = ai->ai_next ? to + 1 : NULL;
		to->ai_addr = memcpy(room, ai->ai_addr, ai->ai_addrlen);
		room += sizeof(struct sockaddr_storage);
	}
	return all;
}

struct dlki_answer dlki_answer_get(const char *host, const char *port,
				   int flags)
{
	const struct addrinfo hints = {
		.ai_flags = flags | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *theirs = NULL;
	struct dlki_answer a = { NULL, 0, 0 };

	a.rc = getaddrinfo(host, port, &hints, &theirs);
	a.errnum = errno;
	if (a.rc != 0)
		return a;
	a.list = dlki_answer_copy(theirs);
	freeaddrinfo(theirs);
	if (!a.list)
		a.rc = EAI_MEMORY;
	return a;
}

int dlki_answer_is_away(int rc)
{
	return rc != 0 && rc != EAI_NONAME && rc != EAI_NODATA;
}

/* Set the error, without gai_strerror(), which speaks the program's
 * language. */
int dlki_answer_failed(const struct dlki_answer *a, const char *host,
		       struct dlk_error *err)
{
	const char *why = "the name could not be resolved";

	switch (a->rc) {
	case EAI_MEMORY:
		return dlki_nomem(err);
	case EAI_SYSTEM:
		if (a->errnum == EAGAIN || a->errnum == EPERM ||
		    a->errnum == EMFILE || a->errnum == ENFILE ||
		    a->errnum == ENOMEM)
			return dlki_system(err, a->errnum, host);
		why = dlki_errno_text(a->errnum);
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
