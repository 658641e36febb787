/* SPDX-License-Identifier: Apache-2.0 */
/* Every program that links this can open memcached2: URIs. */
#include <dlock/backend.h>

extern const struct dlock_backend dlki_memcached2_backend;

__attribute__((constructor)) static void register_memcached2(void)
{
	(void)dlock_backend_register(&dlki_memcached2_backend);
}
