/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend.h>
#include "core/base/error.h"

#include <errno.h>
#include <sys/random.h>

/* Loop: more than 256 bytes at once may come short or be interrupted. */
int dlk_random(void *out, size_t size, struct dlk_error *err)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = getrandom((char *)out + got, size - got, 0);

		if (n > 0)
			got += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return dlk_fail(err, DLOCK_ESYSTEM, "getrandom: %s",
					n == 0 ? "no bytes" :
						 dlki_errno_text(errno));
	}
	return 0;
}
