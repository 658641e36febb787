/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/net/names.h"

void dlki_resolve_free(struct addrinfo *list)
{
	free(list);
}

/* Not gai_strerror(), which speaks the language of the program. */
static int failed(const struct dlki_answer *a, const char *host,
		  struct dlk_error *err)
{
	const char *why = "the name could not be resolved";

	switch (a->rc) {
	case EAI_MEMORY:
		return dlki_nomem(err);
	case EAI_SYSTEM:
		if (a->errnum == EMFILE || a->errnum == ENFILE ||
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

int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 const dlk_flag *stop, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_answer a;
	char text[6];
	int rc;

	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	a = dlki_answer_get(host, text, AI_NUMERICHOST);
	if (a.rc == EAI_NONAME) {
		rc = dlki_names_ask(&a, host, text, stop, deadline, err);
		if (rc != 0)
			return rc;
	}
	if (a.rc != 0)
		return failed(&a, host, err);
	*out = a.list;
	return 0;
}
