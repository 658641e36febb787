/* SPDX-License-Identifier: Apache-2.0 */
/* Every program that links this can open redis2: and rediss2: URIs. */
#include <dlock/backend.h>

extern const struct dlock_backend dlki_redis2_backend, dlki_rediss2_backend;

__attribute__((constructor)) static void register_redis2(void)
{
	(void)dlock_backend_register(&dlki_redis2_backend);
	(void)dlock_backend_register(&dlki_rediss2_backend);
}
