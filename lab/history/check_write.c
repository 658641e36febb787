/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By resource, then by place; at a place the accepted write last, since the
 * refused writes found the place empty. */
static int by_write_place(const void *a, const void *b)
{
	const struct lab_record *x = *(struct lab_record *const *)a;
	const struct lab_record *y = *(struct lab_record *const *)b;
	int names = strcmp(x->name, y->name);

	if (names)
		return names;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->rc > y->rc) - (x->rc < y->rc);
}

static void violation(struct lab_ops *o, const struct lab_record *w,
		      const char *what, uint64_t other)
{
	char text[256];

	lab_record_print(w, text, sizeof(text));
	lab_violation(o->verdict, LAB_RULE_WRITER, "%s %" PRIu64 ": %s", what,
		      other, text);
}

static void check_one(struct lab_ops *o, const struct lab_record *w,
		      const struct lab_record *last)
{
	uint64_t largest = (uint64_t)w->until;

	if (!w->rc) {
		o->verdict->refused++;
		if (w->token >= largest)
			violation(o, w, "refused, though the largest token was",
				  largest);
		return;
	}
	o->verdict->accepted++;
	if (w->token < largest)
		violation(o, w, "accepted, though the largest token was",
			  largest);
	if (last && last->value == w->value)
		violation(o, w, "accepted in the same place as token",
			  last->token);
	else if (last && w->token < last->token)
		violation(o, w, "accepted after token", last->token);
}

/* Some writes may be missing: a killed writer did not record the last write. */
int lab_check_writes(struct lab_ops *o)
{
	const struct lab_record **writes;
	const struct lab_record *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < o->nrecords; i++)
		n += o->records[i].what == LAB_WROTE;
	writes = malloc((n + 1) * sizeof(*writes));
	if (!writes)
		return -1;
	n = 0;
	for (size_t i = 0; i < o->nrecords; i++)
		if (o->records[i].what == LAB_WROTE)
			writes[n++] = &o->records[i];
	qsort(writes, n, sizeof(*writes), by_write_place);
	for (size_t i = 0; i < n; i++) {
		if (last && strcmp(last->name, writes[i]->name) != 0)
			last = NULL;
		check_one(o, writes[i], last);
		if (writes[i]->rc)
			last = writes[i];
	}
	free(writes);
	return 0;
}
