/* SPDX-License-Identifier: Apache-2.0 */
/* The facts for Markdown and HTML alike, a row at a time. */
#include "lab/report/impl.h"

#include <math.h>

void lab_each_fact(struct lab_sheet *s, const struct lab_run *r,
		   void (*put)(struct lab_sheet *s, const char *term,
			       const char *text))
{
	char text[LAB_SHORT];

	put(s, "Date", lab_say_date(text, r->began));
	put(s, "Took", lab_say_ms(text, (double)r->took_ms));
	put(s, "Machine", r->machine);
	put(s, "Busy", lab_say_busy(text, r));
	put(s, "dlock", r->version);
	put(s, "Options", r->options);
	put(s, "Seed", lab_say_seed(text, r->seed));
	put(s, "Kind",
	    r->lab ? (r->quick ? "private servers, faults included; quick" :
				 "private servers, faults included") :
		     (r->quick ? "servers as given, no faults; quick" :
				 "servers as given, no faults"));
}

void lab_each_event(struct lab_sheet *s, const struct lab_timeline *t,
		    void (*put)(struct lab_sheet *s, const char *who,
				const char *what, double from, double to))
{
	char text[2 * LAB_SHORT], token[LAB_SHORT];

	for (size_t i = 0; i < t->n_beliefs; i++) {
		const struct lab_belief *b = &t->beliefs[i];

		snprintf(text, sizeof(text), "believed to hold%s%s%s",
			 b->shared ? ", shared" : "",
			 b->token ? ", token " : "",
			 b->token ? lab_say_seed(token, b->token) : "");
		put(s, t->participants[b->participant], text, b->from, b->to);
	}
	for (size_t i = 0; i < t->n_marks; i++)
		put(s, t->participants[t->marks[i].participant],
		    t->marks[i].text, t->marks[i].at, NAN);
	for (size_t i = 0; i < t->n_overlaps; i++)
		put(s, "two at once", "OVERLAP", t->overlaps[i].from,
		    t->overlaps[i].to);
}

const char *lab_store_declares(char text[256], const struct lab_store *it)
{
	return it->foreign ? "nothing: not a store of dlock" :
	       it->caps    ? lab_say_caps(text, it->caps) :
			     "–";
}

const char *lab_store_lease(char text[LAB_SHORT], const struct lab_store *it)
{
	return it->foreign ? "its own" :
	       it->ttl_ms  ? lab_say_ms(text, (double)it->ttl_ms) :
			     "none";
}
