/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "metrics.h"
#include "participants.h"
#include "print.h"
#include "since.h"
#include "store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *name;
	char kind[16];
	uint32_t permits;
	struct participants who; /* of list -l */
};

struct entries {
	struct entry *list;
	size_t count, room;
	int failed;
};

static void collect(const struct dlock_lock_info *from, void *arg)
{
	struct entries *e = arg;
	struct entry *to;

	if (e->failed)
		return;
	if (e->count == e->room) {
		size_t room = e->room ? e->room * 2 : 64;

		to = reallocarray(e->list, room, sizeof(*to));
		if (!to) {
			e->failed = 1;
			return;
		}
		e->list = to;
		e->room = room;
	}
	to = &e->list[e->count];
	*to = (struct entry){ 0 };
	to->name = strdup(from->name);
	if (!to->name) {
		e->failed = 1;
		return;
	}
	snprintf(to->kind, sizeof(to->kind), "%s", from->kind);
	to->permits = from->permits;
	e->count++;
}

/* Stores report in no order; people and diff(1) want a sorted list. */
static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->kind, y->kind);
}

/* Convert "lock" to KIND_LOCK; 0 if the name is unknown. */
static int kind_of(const char *name, enum kind *out)
{
	for (enum kind kind = KIND_LOCK; kind <= KIND_SEMAPHORE; kind++) {
		if (!strcmp(kind_name(kind), name)) {
			*out = kind;
			return 1;
		}
	}
	return 0;
}

/* Ask for the holders and waiters. */
static int look_at(struct entry *e, const struct options *o,
		   const struct store *s)
{
	struct options one = *o;
	dlock_lock *lock;
	int status;

	one.permits = e->permits;
	/* The store reports too little of the lock to ask about it. */
	if (!kind_of(e->kind, &one.kind) ||
	    (one.kind == KIND_SEMAPHORE && !e->permits))
		return 0;
	status = store_lock(&lock, s, &one, e->name);
	if (status)
		return status;
	status = participants_fetch(&e->who, lock, o);
	dlock_lock_free(lock);
	return status;
}

static void add_rows(struct table *t, const struct entry *e,
		     const char *permits)
{
	size_t holders = participants_holders(&e->who);
	char waiters[24], since[SINCE_SIZE];

	snprintf(waiters, sizeof(waiters), "%zu", e->who.count - holders);
	for (size_t i = 0; i < e->who.count; i++) {
		const struct participant *one = &e->who.list[i];

		since_local(since, one->since_ms);
		if (!one->waiting)
			table_row(t, e->kind, permits, e->name, since, waiters,
				  one->label);
	}
	if (!holders)
		table_row(t, e->kind, permits, e->name, "-", waiters, "-");
}

static int print_table(const struct entries *e, int in_full)
{
	struct table t = { .columns = in_full ? 6 : 3 };
	int status;

	if (e->count > 0)
		table_row(&t, "KIND", "PERMITS", "NAME", "SINCE", "WAITERS",
			  "HOLDER");
	for (size_t i = 0; i < e->count; i++) {
		char permits[16] = "-";

		if (e->list[i].permits)
			snprintf(permits, sizeof(permits), "%" PRIu32,
				 e->list[i].permits);
		if (in_full)
			add_rows(&t, &e->list[i], permits);
		else
			table_row(&t, e->list[i].kind, permits,
				  e->list[i].name);
	}
	status = table_print(&t);
	table_free(&t);
	return status;
}

static json_t *make_json(const struct entries *e, int in_full)
{
	json_t *all = json_array();

	for (size_t i = 0; i < e->count; i++) {
		const struct entry *one = &e->list[i];
		json_t *permits = one->permits ? json_integer(one->permits) :
						 json_null();
		json_t *row = json_pack("{s:o, s:o, s:o}", "name",
					json_text(one->name), "kind",
					json_text(one->kind), "permits",
					permits);

		if (in_full &&
		    json_object_set_new(row, "participants",
					participants_array(&one->who)) < 0) {
			json_decref(row);
			row = NULL;
		}
		if (json_array_append_new(all, row) < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static int print_metrics(const struct entries *e)
{
	struct metrics_lock *locks = calloc(e->count + 1, sizeof(*locks));
	int status;

	if (!locks)
		return fail(LEAVE_SYSTEM, "out of memory");
	for (size_t i = 0; i < e->count; i++)
		locks[i] = (struct metrics_lock){ .name = e->list[i].name,
						  .kind = e->list[i].kind,
						  .permits = e->list[i].permits,
						  .who = &e->list[i].who };
	status = metrics_print(locks, e->count);
	free(locks);
	return status;
}

static int print_entries(struct entries *e, const struct options *o,
			 const struct store *s)
{
	int status = 0;

	int ask = o->in_full || o->metrics;

	for (size_t i = 0; ask && status == 0 && i < e->count; i++)
		status = look_at(&e->list[i], o, s);
	if (status)
		return status;
	if (o->metrics)
		return print_metrics(e);
	return o->json ? json_print(make_json(e, o->in_full)) :
			 print_table(e, o->in_full);
}

static int list(const struct options *o, const struct store *s)
{
	struct entries e = { 0 };
	int code = dlock_list(s->client, collect, &e, ask_ms(o));
	int status;

	if (code < 0) {
		status = fail_dlock(code);
	} else if (e.failed) {
		status = fail(LEAVE_SYSTEM, "out of memory");
	} else {
		if (e.count > 0)
			qsort(e.list, e.count, sizeof(*e.list), by_name);
		status = print_entries(&e, o, s);
	}
	for (size_t i = 0; i < e.count; i++) {
		free(e.list[i].name);
		participants_free(&e.list[i].who);
	}
	free(e.list);
	return status;
}

static int list_main(const struct command *self, int argc, char **argv)
{
	struct options o;
	struct store s;
	int status;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args != 0)
		return fail(LEAVE_USAGE, "dlock list takes no argument; "
					 "`dlock show NAME` shows one lock");
	if (o.metrics && o.json)
		return fail(LEAVE_USAGE,
			    "--metrics and --json are two formats: "
			    "give one of them");
	status = store_choose(&s, &o);
	if (status == 0)
		status = store_open(&s, &o, NULL, NULL);
	if (status == 0)
		status = list(&o, &s);
	store_close(&s);
	return status;
}

static const enum option_id list_options[] = {
	OPTION_URI,     OPTION_WAIT,    OPTION_LONG,    OPTION_JSON,
	OPTION_METRICS, OPTION_VERBOSE, OPTION_BACKEND, OPTION_END,
};

const struct command cmd_list = {
	.name = "list",
	.args = "[-u URI] [-l] [--json|--metrics]",
	.summary = "list the locks that a store knows",
	.text = "Lists the locks under the URI's prefix that are held or "
		"waited for, or that the\n"
		"store remembers.  With -l, it asks about each lock, and "
		"lists its holders, since\n"
		"when they hold it, and how many wait.  With --metrics, it "
		"prints these counts for\n"
		"Prometheus.  A store that cannot list its locks says so "
		"(exit code 78).\n",
	.options = list_options,
	.main = list_main,
};
