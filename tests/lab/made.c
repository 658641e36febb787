/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <stdio.h>

void tell_made(struct story *s, const struct made *m, unsigned number)
{
	struct lab_record r = { .op = number, .value = -1 };
	int64_t until = m->until < 0 ? 0 :
				       (m->until ? m->until : 100000) * SCALE;
	int64_t until2 = m->until2 < 0 ? 0 : m->until2 * SCALE;

	r.pid = r.tid = m->pid ? m->pid : number;
	r.mode = (uint8_t)m->mode;
	r.limit = m->limit;
	snprintf(r.name, sizeof(r.name), "%s", m->name ? m->name : "a");
	r.token = m->beside;
	tell_at(s, &r, LAB_ACQUIRE, m->asked * SCALE, 0, (int)m->permits);
	r.token = m->token;
	tell_at(s, &r, LAB_ACQUIRED, m->got * SCALE, until, m->rc);
	tell_at(s, &r, LAB_UNTIL, m->again * SCALE, until2, 0);
	tell_at(s, &r, LAB_LOST, m->lost * SCALE, 0, 0);
	tell_at(s, &r, LAB_LOST, m->lost2 * SCALE, 0, 0);
	tell_at(s, &r, LAB_CHECKED, m->checked * SCALE, 0, 0);
	if (m->again)
		until = until2;
	tell_at(s, &r, LAB_RELEASE, m->release * SCALE, m->over ? 0 : until, 0);
	tell_at(s, &r, LAB_RELEASED, m->released * SCALE, 0, m->release_rc);
}
