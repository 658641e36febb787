/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/scene.h"

/* Lose the answer to A's grant: the lock must come free. */
static void run_reply_lost(struct lab_trial *t)
{
	/* End the connection, too: TCP never loses an answer and delivers the
	 * next. */
	static const enum lab_then then[2] = { LAB_THEN_CLOSE, LAB_THEN_RESET };
	struct lab_worker *a = lab_join(t, "A: not told", LAB_JOIN_PROXIED);
	struct lab_worker *b = lab_join(t, "B", 0);
	int rounds = (int)lab_of(t, 4, 12);

	for (int i = 0; i < rounds && !t->failed && !t->broken; i++) {
		struct lab_reply r;

		if (i == 0)
			lab_fault_begins(t, "an answer of the server is lost");
		for (size_t n = 0; n < t->sut->n_nodes; n++)
			lab_proxy_swallow(t->sut->proxies[n], NULL,
					  then[i % 2]);
		r = lab_take(a, 300);
		lab_expect(t,
			   r.rc == DLOCK_OK || r.rc == DLOCK_EUNREACHABLE ||
				   r.rc == DLOCK_EBUSY,
			   "a lost answer was told as: %s", r.text);
		if (r.rc == DLOCK_OK)
			lab_give(a);
		r = lab_take(b, lab_free_bound_ms(t));
		lab_expect(t, r.rc == DLOCK_OK,
			   "the lock did not come free in time: %s", r.text);
		lab_give(b);
	}
	lab_fault_ends(t);
}

const struct lab_scenario lab_scenario_reply_lost = {
	.id = "reply-lost",
	.title = "reply lost",
	.guarantee = "what was granted and not heard of is given back",
	.place = 270,
	.needs = LAB_NEEDS_LIBRARY | LAB_NEEDS_PROXY,
	.fault = true,
	.run = run_reply_lost,
};
