/* SPDX-License-Identifier: Apache-2.0 */
#include "caps.h"
#include "command.h"
#include "exits.h"
#include "message.h"
#include "options.h"
#include "print.h"
#include "store.h"

#include <dlock/dlock.h>
#include <stdlib.h>
#include <string.h>

static json_t *caps_json(uint32_t caps)
{
	json_t *list = json_array();
	int bad = 0;

	for (int bit = 0; bit < CAP_BITS; bit++) {
		const char *name = dlock_cap_name(caps & 1u << bit);

		if ((caps & 1u << bit) && name)
			bad |= json_array_append_new(list, json_string(name));
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

/* A walk over the library's tables. */
struct walk {
	const char *scheme; /* the scheme asked for, or NULL */
	const char **known; /* ends in NULL */
	size_t n_known;
	int found;
	struct table *table; /* this or json; the other is NULL */
	json_t *json;
	int failed; /* out of memory for the output */
};

static json_t *store_json(const struct dlock_store *s)
{
	json_t *missing = s->missing ? json_text(s->missing) : json_null();

	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "scheme", s->scheme,
			 "summary", s->summary, "built", !s->missing, "missing",
			 missing, "caps", caps_json(s->caps));
}

static void add_store(const struct dlock_store *s, void *arg)
{
	struct walk *w = arg;
	char *caps;

	if (w->scheme && strcmp(w->scheme, s->scheme))
		return;
	w->found = 1;
	if (!w->table) {
		w->failed |= json_array_append_new(w->json, store_json(s));
		return;
	}
	caps = caps_text(s->caps);
	if (!caps)
		w->table->failed = 1;
	else if (s->missing)
		table_row(w->table, s->scheme, "no", s->missing);
	else
		table_row(w->table, s->scheme, "yes", s->summary);
	if (caps && !s->missing)
		table_row(w->table, "", "", caps);
	free(caps);
}

static void add_param(const struct dlock_store_param *p, void *arg)
{
	struct walk *w = arg;

	json_t *row;

	if (w->table) {
		table_row(w->table, p->name, p->type, p->range,
			  *p->def ? p->def : "-", p->text);
		return;
	}
	row = json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", p->name, "type",
			p->type, "range", p->range, "default", p->def, "text",
			p->text);
	w->failed |= json_array_append_new(w->json, row);
}

static void add_known(const struct dlock_store *s, void *arg)
{
	struct walk *w = arg;
	const char **known;

	known = reallocarray(w->known, w->n_known + 2, sizeof(*known));
	if (!known)
		return;
	known[w->n_known++] = s->scheme;
	known[w->n_known] = NULL;
	w->known = known;
}

static int no_such_scheme(const char *scheme)
{
	struct walk w = { 0 };
	const char *meant;

	dlock_each_store(add_known, &w);
	meant = w.known ? nearest(scheme, w.known) : NULL;
	if (meant)
		say("there is no store \"%s\": did you mean %s?", scheme,
		    meant);
	else
		say("there is no store \"%s\": `dlock backends` lists them",
		    scheme);
	free(w.known);
	return LEAVE_USAGE;
}

static int print_stores_json(void)
{
	struct walk w = { .json = json_array() };

	dlock_each_store(add_store, &w);
	if (!w.failed)
		return json_print(w.json);
	json_decref(w.json);
	return json_print(NULL);
}

static int print_store_json(const char *scheme)
{
	struct walk stores = { .scheme = scheme, .json = json_array() };
	struct walk params = { .json = json_array() };
	json_t *one;

	dlock_each_store(add_store, &stores);
	one = json_incref(json_array_get(stores.json, 0));
	json_decref(stores.json);
	if (!stores.found) {
		json_decref(params.json);
		return no_such_scheme(scheme);
	}
	(void)dlock_each_param(scheme, add_param, &params);
	if (!stores.failed && !params.failed &&
	    json_object_set(one, "params", params.json) == 0) {
		json_decref(params.json);
		return json_print(one);
	}
	json_decref(params.json);
	json_decref(one);
	return json_print(NULL);
}

static int print_tables(const char *scheme)
{
	struct table stores = { .columns = 3 }, params = { .columns = 5 };
	struct walk a = { .scheme = scheme, .table = &stores };
	struct walk b = { .table = &params };
	int status;

	table_row(&stores, "SCHEME", "BUILT", "WHAT IT IS AND CAN DO");
	dlock_each_store(add_store, &a);
	if (scheme && !a.found)
		status = no_such_scheme(scheme);
	else
		status = table_print(&stores);
	if (status == 0 && scheme) {
		table_row(&params, "PARAMETER", "TYPE", "RANGE", "DEFAULT",
			  "MEANING");
		(void)dlock_each_param(scheme, add_param, &b);
		putchar('\n');
		status = table_print(&params);
	}
	table_free(&stores);
	table_free(&params);
	return status;
}

static int backends_main(const struct command *self, int argc, char **argv)
{
	struct options o;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args > 1)
		return fail(LEAVE_USAGE, "dlock backends takes one SCHEME, or "
					 "none");
	if (o.verbose) {
		int status = store_explain();

		if (status)
			return status;
	}
	if (!o.json)
		return print_tables(o.args[0]);
	return o.args[0] ? print_store_json(o.args[0]) : print_stores_json();
}

static const enum option_id backends_options[] = {
	OPTION_JSON,
	OPTION_VERBOSE,
	OPTION_BACKEND,
	OPTION_END,
};

const struct command cmd_backends = {
	.name = "backends",
	.args = "[--json] [SCHEME]",
	.summary = "list the stores, their promises and URI parameters",
	.text = "Lists the stores that this build knows, and what each can "
		"promise or what would\n"
		"build it in.  With SCHEME, such as redis, it also lists "
		"the scheme's URI\n"
		"parameters.  With -v, it says which store would be used, "
		"and what names it.\n",
	.options = backends_options,
	.main = backends_main,
};
