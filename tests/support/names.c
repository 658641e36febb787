/* SPDX-License-Identifier: Apache-2.0 */
#include "support/names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int ports[2];

void names_lead_to(int port, int other_port)
{
	ports[0] = port;
	ports[1] = other_port;
}

/* Replaces the C library's getaddrinfo() in this program. */
int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **out)
{
	int (*real)(const char *, const char *, const struct addrinfo *,
		    struct addrinfo **) = NULL;
	void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
	int rc = EAI_NONAME;

	memcpy(&real, &symbol, sizeof(real));
	if ((hints->ai_flags & AI_NUMERICHOST) ||
	    strcmp(host, "many.test") != 0)
		return real(host, port, hints, out);
	for (int i = 0; i < 2; i++) {
		char text[12];

		if (ports[i] == 0)
			continue;
		snprintf(text, sizeof(text), "%d", ports[i]);
		rc = real("127.0.0.1", text, hints, out);
		if (rc != 0)
			break;
		out = &(*out)->ai_next;
	}
	return rc;
}
