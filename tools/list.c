/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "party.h"
#include "print.h"
#include "store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *name;
	char kind[16];
	uint32_t permits;
};

struct entries {
	struct entry *list;
	size_t count, room;
	int failed;
};

static void collect(const struct dlock_entry *from, void *arg)
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
	to->name = strdup(from->name);
	if (!to->name) {
		e->failed = 1;
		return;
	}
	snprintf(to->kind, sizeof(to->kind), "%s", from->kind);
	to->permits = from->permits;
	e->count++;
}

/* Stores report in no order; people and diff(1) want one. */
static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->kind, y->kind);
}

static int print_table(const struct entries *e)
{
	struct table t = { .columns = 3 };
	int status;

	if (e->count > 0)
		table_row(&t, "KIND", "PERMITS", "NAME");
	for (size_t i = 0; i < e->count; i++) {
		char permits[16] = "-";

		if (e->list[i].permits)
			snprintf(permits, sizeof(permits), "%" PRIu32,
				 e->list[i].permits);
		table_row(&t, e->list[i].kind, permits, e->list[i].name);
	}
	status = table_print(&t);
	table_free(&t);
	return status;
}

static json_t *make_json(const struct entries *e)
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

		if (json_array_append_new(all, row) < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static int list(const struct options *o, const struct store *s)
{
	int64_t wait_ms = o->wait_ms < 0 ? ASK_MS : o->wait_ms;
	struct entries e = { 0 };
	int code = dlock_list(s->client, collect, &e, wait_ms);
	int status;

	if (code < 0) {
		status = fail_dlock(code);
	} else if (e.failed) {
		status = fail(LEAVE_SYSTEM, "out of memory");
	} else {
		if (e.count > 0)
			qsort(e.list, e.count, sizeof(*e.list), by_name);
		status = o->json ? json_print(make_json(&e)) : print_table(&e);
	}
	for (size_t i = 0; i < e.count; i++)
		free(e.list[i].name);
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
	status = store_choose(&s, &o);
	if (status == 0)
		status = store_open(&s, &o, NULL, NULL);
	if (status == 0)
		status = list(&o, &s);
	store_close(&s);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.args = "[-u URI] [--json]",
	.summary = "the locks that a store knows",
	.text = "Lists the locks under the URI's prefix that somebody holds, "
		"waits for, or has\n"
		"used and the store remembers.  A store that cannot tell "
		"says so (exit code 78).\n",
	.options = "uwJv",
	.main = list_main,
};
