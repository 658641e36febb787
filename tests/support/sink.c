/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sink.h"
#include "support/wait.h"

#include <string.h>

void sink_waits(const struct dlock_log_line *line, void *sink)
{
	struct sink *s = sink;
	int64_t end = now_ms() + patience_ms();

	if (!strstr(line->text, s->about))
		return;
	s->told++;
	while (!s->used && now_ms() < end)
		nap_ms(1);
	s->in_vain |= !s->used;
}
