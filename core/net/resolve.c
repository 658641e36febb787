/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/resolve.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/net/names.h"

void dlki_resolve_free(struct addrinfo *list)
{
	free(list);
}

int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 dlk_time deadline, struct dlk_error *err)
{
	struct dlki_answer a;
	char text[6];
	int rc;

	snprintf(text, sizeof(text), "%u", (unsigned int)port);
	a = dlki_answer_get(host, text, AI_NUMERICHOST);
	if (a.rc == EAI_NONAME) {
		rc = dlki_names_ask(&a, host, text, deadline, err);
		if (rc != 0)
			return rc;
	}
	if (a.rc != 0)
		return dlki_answer_failed(&a, host, err);
	*out = a.list;
	return 0;
}
