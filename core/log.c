/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/client.h"

static void vlog(struct dlock_client *c, int level, const char *fmt,
		 va_list args)
{
	char text[512];

	if (!c->on_log)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	c->on_log(level, text, c->arg);
}

void dlki_log(struct dlock_client *c, int level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vlog(c, level, fmt, args);
	va_end(args);
}

void dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vlog(s->core, level, fmt, args);
	va_end(args);
}
