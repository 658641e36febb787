/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once, in every scene. */
#include "torture/torture.h"

#include <errno.h>

#include "support/closed.h"

void torture_memory(const char *uri)
{
	static const int codes[] = { DLOCK_ENOMEM, 0 };

	for (const struct scene *s = scenes; s->name; s++) {
		if (scene_is_for(s, uri))
			torture(s, uri, SEAM_MEMORY, ENOMEM, codes, "memory");
	}
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
