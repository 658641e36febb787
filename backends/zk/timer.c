/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/timer.h"
#include "backends/zk/session.h"

void dlki_zk_timer_set(struct zk_session *s, dlk_time at)
{
	if (at >= s->timer.at)
		return;
	s->timer.at = at;
	dlki_source_at(&s->timer.source, at);
}

void dlki_zk_timer_now(struct zk_session *s)
{
	dlki_zk_timer_set(s, dlk_now());
}
