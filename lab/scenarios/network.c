/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the network between a holder and the server. */
#include "lab/scenarios/scene.h"

#define SLOW_MS 100

/* Delay answers before the cut: a lease counted from the answer, not from the
 * request, then reaches into the next hold. */
void lab_run_network_cut(struct lab_trial *t)
{
	struct lab_scene s;

	for (size_t i = 0; i < t->sut->n_nodes; i++)
		lab_proxy_delay(t->sut->proxies[i], LAB_DOWN, SLOW_MS);
	lab_scene(t, &s, LAB_JOIN_PROXIED);
	lab_fault_begins(t, "the network of the holder is cut");
	lab_hole(t, LAB_UP, true);
	lab_hole(t, LAB_DOWN, true);
	lab_measured(
		t, "recover-cut",
		"granted to another after the holder was cut off", "ms", false,
		lab_scene_inherit(t, &s, t->fault_from, lab_free_bound_ms(t)));
	lab_hole(t, LAB_UP, false);
	lab_hole(t, LAB_DOWN, false);
	lab_fault_ends(t);
	lab_expect(t, lab_scene_end(t, &s) == DLOCK_ELOST || t->failed,
		   "A was cut off past its lease, and was not told");
}

void lab_run_network_slow(struct lab_trial *t)
{
	static const enum lab_mode modes[3] = { LAB_MUTEX, LAB_MUTEX,
						LAB_MUTEX };

	lab_fault_begins(t, "every message takes 20 ms");
	for (size_t i = 0; i < t->sut->n_nodes; i++) {
		lab_proxy_delay(t->sut->proxies[i], LAB_UP, 20);
		lab_proxy_delay(t->sut->proxies[i], LAB_DOWN, 20);
	}
	lab_crowd(t, modes, 3, 0, LAB_JOIN_PROXIED, lab_of(t, 2000, 4000));
	lab_fault_ends(t);
}

/* Requests arrive, renewals too: the store may think that A is well. */
void lab_run_network_one_way(struct lab_trial *t)
{
	struct lab_scene s;

	lab_scene(t, &s, LAB_JOIN_PROXIED);
	lab_fault_begins(t, "what the server sends to the holder is lost");
	lab_hole(t, LAB_DOWN, true);
	lab_busy(s.b, t->ttl_ms * 3 / 2);
	lab_hole(t, LAB_DOWN, false);
	lab_fault_ends(t);
	lab_expect(t, lab_scene_end(t, &s) == DLOCK_ELOST || t->failed,
		   "A heard nothing past its lease, and was not told");
	lab_scene_inherit(t, &s, t->fault_to, lab_free_bound_ms(t));
}

/* Lose the answer to A's grant: the lock must come free. */
void lab_run_reply_lost(struct lab_trial *t)
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
