/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "namesake.h"
#include "one_lock.h"
#include "participants.h"
#include "print.h"

#include <stdlib.h>
#include <unistd.h>

static int confirmed(const char *name)
{
	char question[600], *line = NULL;
	size_t size = 0;
	int yes = 0;

	escape(question, sizeof(question), name);
	fprintf(stderr,
		"Break the lock \"%s\"?  Its holder may still be at "
		"work.  [y/N] ",
		question);
	if (getline(&line, &size, stdin) > 0)
		yes = line[0] == 'y' || line[0] == 'Y';
	free(line);
	return yes;
}

static int nobody(const char *name)
{
	return fail(LEAVE_BUSY, "nobody holds \"%s\": nothing was broken",
		    name);
}

/* Ask the user, then look again: the user's answer is about the holders
 * shown. */
static int ask(struct participants *p, dlock_lock *lock,
	       const struct options *o, const char *name)
{
	struct participants now = { 0 };
	int status;

	participants_tell(p, "held");
	if (!confirmed(name))
		return fail(LEAVE_BUSY, "not broken");
	status = participants_fetch(&now, lock, o);
	if (status == 0 && participants_holders(&now) == 0)
		status = nobody(name);
	for (size_t i = 0; status == 0 && i < now.count; i++)
		if (!now.list[i].waiting && !participants_have(p, &now.list[i]))
			status = fail(LEAVE_BUSY,
				      "not broken: by now, \"%s\" is held by "
				      "%s",
				      name, now.list[i].label);
	participants_free(p);
	*p = now;
	return status;
}

/* Break a lock of a store that cannot report holders. */
static int break_blindly(const struct options *o, const struct store *s,
			 dlock_lock *lock, const char *name)
{
	int code;

	if (!o->yes && !confirmed(name))
		return fail(LEAVE_BUSY, "not broken");
	code = dlock_break(lock, ask_ms(o));
	if (code < 0)
		return fail_dlock(code);
	say("whoever held \"%s\" holds it no more; %s cannot say who that was",
	    name, dlock_uri(s->client));
	return 0;
}

static int break_lock(const struct options *o, const struct store *s,
		      dlock_lock *lock)
{
	const char *name = o->args[0];
	struct participants p = { 0 };
	int code, status;

	if (!(dlock_caps(s->client) & DLOCK_CAP_INSPECT))
		return break_blindly(o, s, lock, name);
	status = participants_fetch(&p, lock, o);
	/* A break now could only hit a later holder. */
	if (status == 0 && participants_holders(&p) == 0)
		status = namesake_fail(o, s, name, "nothing was broken");
	if (status == 0 && !o->yes)
		status = ask(&p, lock, o, name);
	if (status == 0) {
		code = dlock_break(lock, ask_ms(o));
		if (code < 0)
			status = fail_dlock(code);
		else
			participants_tell(&p, "broken: it was held");
	}
	participants_free(&p);
	return status;
}

static int can_ask(struct options *o)
{
	if (o->yes || isatty(STDIN_FILENO))
		return 0;
	return fail(LEAVE_USAGE, "there is no terminal to ask on: "
				 "use -y to break the lock without a question");
}

static int break_main(const struct command *self, int argc, char **argv)
{
	return one_lock_main(self, argc, argv, can_ask, break_lock);
}

static const enum option_id break_options[] = {
	OPTION_URI,     OPTION_WAIT,    OPTION_SEMAPHORE, OPTION_YES,
	OPTION_VERBOSE, OPTION_BACKEND, OPTION_END,
};

const struct command cmd_break = {
	.name = "break",
	.args = "[-u URI] [-S PERMITS] [-y] NAME",
	.summary = "take a lock away from its holders",
	.text = "Takes NAME away from its holders.  They learn of it as a "
		"loss, at the latest\n"
		"after a third of their lease, and may still be at work "
		"until then.  Asks first,\n"
		"unless -y is given.  Says who held it, and since when; if "
		"nobody did, it exits\n"
		"with 1.\n",
	.options = break_options,
	.main = break_main,
};
