/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "namesake.h"
#include "one_lock.h"
#include "participants.h"
#include "print.h"

#include <inttypes.h>

static int show_table(const struct participants *p)
{
	struct table t = { .columns = 7 };
	struct dlock_permits n;
	int status;

	table_row(&t, "STATE", "SIDE", "SINCE", "TOKEN", "LEFT", "ID", "LABEL");
	for (size_t i = 0; i < p->count; i++)
		participant_row(&t, &p->list[i]);
	status = table_print(&t);
	table_free(&t);
	if (status == 0 && participants_permits(p, &n)) {
		printf("permits: limit %" PRIu32 ", %" PRIu32 " free\n",
		       n.limit, n.free);
		status = finish_output(LEAVE_OK);
	}
	return status;
}

static int show(const struct options *o, const struct store *s,
		dlock_lock *lock)
{
	const char *name = o->args[0];
	struct participants p = { 0 };
	int status = participants_fetch(&p, lock, o);

	if (status == 0 && o->kind == KIND_LOCK)
		namesake_fetch(&p, s, o, name);
	if (status == 0 && o->json) {
		status = json_print(participants_json(&p, name, o));
	} else if (status == 0 && p.count > 0) {
		status = show_table(&p);
	} else if (status == 0) {
		puts("free");
		status = finish_output(LEAVE_OK);
	}
	if (status == 0 && participants_holders(&p) == 0)
		status = LEAVE_BUSY;
	participants_free(&p);
	return status;
}

static int show_main(const struct command *self, int argc, char **argv)
{
	return one_lock_main(self, argc, argv, NULL, show);
}

static const enum option_id show_options[] = {
	OPTION_URI,     OPTION_WAIT,    OPTION_SEMAPHORE, OPTION_JSON,
	OPTION_VERBOSE, OPTION_BACKEND, OPTION_END,
};

const struct command cmd_show = {
	.name = "show",
	.args = "[-u URI] [-S PERMITS] [--json] NAME",
	.summary = "print the holders and waiters of a lock",
	.text = "Prints the holders of NAME and, in order, its waiters; "
		"\"free\" if there are none.\n"
		"Exits with 0 if somebody holds it, with 1 if nobody does.\n"
		"Permits of the semaphore NAME are listed as well, and how "
		"many there are and\n"
		"are free; -S leaves out the lock.\n",
	.options = show_options,
	.main = show_main,
};
