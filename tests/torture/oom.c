/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once, in every scene. */
#include "torture/torture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/closed.h"

void torture_memory(const char *uri)
{
	static const int codes[] = { DLOCK_ENOMEM, 0 };

	for (const struct scene *s = scenes; s->name; s++) {
		if (!scene_is_for(s, uri))
			continue;
		/* The core's, tried on the others; here each look at the line
		 * is another 70 allocations. */
		if (strncmp(uri, "zk:", 3) == 0 && strcmp(s->name, "many") == 0)
			continue;
		torture(s, uri, SEAM_MEMORY, ENOMEM, codes, "memory");
	}
}

/* A host name takes memory, and a thread, before there is a connection. */
void torture_name(const char *uri)
{
	static const char by_address[] = "//127.0.0.1:";
	static const char by_name[] = "//localhost:";
	static const int memory[] = { DLOCK_ENOMEM, 0 };
	static const int threads[] = { DLOCK_EEXHAUSTED, 0 };
	const char *at = strstr(uri, by_address);
	char named[400];

	if (!at ||
	    snprintf(named, sizeof(named), "%.*s%s%s", (int)(at - uri), uri,
		     by_name, at + strlen(by_address)) >= (int)sizeof(named)) {
		failed("%s: no address of a server to replace by a name", uri);
		return;
	}
	torture(&scenes[0], named, SEAM_MEMORY, ENOMEM, memory, "memory");
	torture(&scenes[0], named, SEAM_THREAD, EAGAIN, threads,
		"pthread_create EAGAIN");
}

/* Not a scene: a registration stays. */
void torture_register(void)
{
	static const char *const schemes[] = { "tortured", NULL };
	static struct dlock_backend b;
	dlock_client *c = NULL;
	int first, unknown, second;

	b = closed_backend(schemes);
	seam_arm(SEAM_MEMORY, 1, ENOMEM, 0);
	first = dlock_backend_register(&b);
	seam_disarm();
	unknown = dlock_open(&c, "tortured:", NULL);
	second = dlock_backend_register(&b);
	if (first == DLOCK_ENOMEM && unknown == DLOCK_EINVAL && second == 0)
		passed("memory register: 1 failure, 1 reported");
	else
		failed("memory register: %d, %d, %d", first, unknown, second);
}
