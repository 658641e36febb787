/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "party.h"
#include "print.h"
#include "store.h"

static int show_table(const struct parties *p)
{
	struct table t = { .columns = 6 };
	int status;

	table_row(&t, "STATE", "SIDE", "TOKEN", "LEFT", "ID", "LABEL");
	for (size_t i = 0; i < p->count; i++)
		party_row(&t, &p->list[i]);
	status = table_print(&t);
	table_free(&t);
	return status;
}

static int show(const struct options *o, dlock_lock *lock, const char *name)
{
	struct parties p = { 0 };
	int status = parties_fetch(&p, lock, o);

	if (status == 0 && o->json) {
		status = json_print(parties_json(&p, name, o));
	} else if (status == 0 && p.count > 0) {
		status = show_table(&p);
	} else if (status == 0) {
		puts("free");
		status = finish_output(LEAVE_OK);
	}
	parties_free(&p);
	return status;
}

static int show_main(const struct command *self, int argc, char **argv)
{
	struct options o;
	struct store s;
	dlock_lock *lock;
	int status;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args != 1)
		return fail(LEAVE_USAGE, "dlock show wants one NAME");
	status = store_choose(&s, &o);
	if (status == 0)
		status = store_open(&s, &o, NULL, NULL);
	if (status == 0)
		status = store_lock(&lock, &s, &o, o.args[0]);
	if (status == 0) {
		status = show(&o, lock, o.args[0]);
		dlock_free(lock);
	}
	store_close(&s);
	return status;
}

const struct command cmd_show = {
	.name = "show",
	.args = "[-u URI] [-m | -S PERMITS] [--json] NAME",
	.summary = "who holds a lock and who waits for it",
	.text = "Prints the holders of NAME and, in order, those who wait; "
		"\"free\" if there are none.\n"
		"It is the read-write lock that `dlock run` takes, unless -m "
		"or -S says otherwise.\n",
	.options = "uwmSJv",
	.main = show_main,
};
