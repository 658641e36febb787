/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"

void chaos_say(const struct chaos *c, const char *format, ...)
{
	va_list ap;

	if (!c->o.verbose)
		return;
	printf("%8.3f ", (double)(lab_now() - c->begun) / 1e9);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}
