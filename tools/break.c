/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "party.h"
#include "print.h"
#include "store.h"

#include <stdlib.h>
#include <unistd.h>

/* Tell who would lose the lock, as far as the store can say. */
static void show_holders(const struct options *o, const struct store *s,
			 dlock_lock *lock)
{
	struct parties p = { 0 };

	if (!(dlock_caps(s->client) & DLOCK_CAP_INSPECT))
		return;
	if (parties_fetch(&p, lock, o) == 0) {
		for (size_t i = 0; i < p.count; i++)
			if (!p.list[i].waiting)
				say("held by %s", p.list[i].label);
	}
	parties_free(&p);
}

static int confirmed(const char *name)
{
	char question[600], *line = NULL;
	size_t size = 0;
	int yes = 0;

	escape(question, sizeof(question), name);
	fprintf(stderr,
		"Break the lock \"%s\"?  Who holds it may still be at "
		"work.  [y/N] ",
		question);
	if (getline(&line, &size, stdin) > 0)
		yes = line[0] == 'y' || line[0] == 'Y';
	free(line);
	return yes;
}

static int break_lock(const struct options *o, const struct store *s,
		      dlock_lock *lock, const char *name)
{
	int code;

	if (!o->yes) {
		show_holders(o, s, lock);
		if (!confirmed(name))
			return fail(LEAVE_BUSY, "not broken");
	}
	code = dlock_break(lock, o->wait_ms < 0 ? ASK_MS : o->wait_ms);
	return code < 0 ? fail_dlock(code) : 0;
}

static int break_main(const struct command *self, int argc, char **argv)
{
	struct options o;
	struct store s;
	dlock_lock *lock;
	int status;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args != 1)
		return fail(LEAVE_USAGE, "dlock break wants one NAME");
	if (!o.yes && !isatty(STDIN_FILENO))
		return fail(LEAVE_USAGE,
			    "there is no terminal to ask on: "
			    "use -y to break the lock without a question");
	status = store_choose(&s, &o);
	if (status == 0)
		status = store_open(&s, &o, NULL, NULL);
	if (status == 0)
		status = store_lock(&lock, &s, &o, o.args[0]);
	if (status == 0) {
		status = break_lock(&o, &s, lock, o.args[0]);
		dlock_free(lock);
	}
	store_close(&s);
	return status;
}

const struct command cmd_break = {
	.name = "break",
	.args = "[-u URI] [-m | -S PERMITS] [-y] NAME",
	.summary = "take a lock away from whoever holds it",
	.text = "Takes NAME away from its holders, who learn of it as a loss, "
		"at the latest after\n"
		"a third of their lease: until then they may still be at "
		"work.  Asks first; -y does\n"
		"not.\n",
	.options = "uwmSyv",
	.main = break_main,
};
