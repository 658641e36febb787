/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "namesake.h"
#include "one_lock.h"
#include "participants.h"

static int revoke_lock(const struct options *o, const struct store *s,
		       dlock_lock *lock)
{
	const char *name = o->args[0];
	struct participants p = { 0 };
	int status = 0, code;

	if (dlock_caps(s->client) & DLOCK_CAP_INSPECT) {
		status = participants_fetch(&p, lock, o);
		if (status == 0 && participants_holders(&p) == 0)
			status = namesake_fail(o, s, name, "nobody was asked");
	}
	if (status == 0) {
		code = dlock_revoke(lock, ask_ms(o));
		status = code < 0 ? fail_dlock(code) : 0;
	}
	if (status == 0)
		participants_tell(&p, "asked for: it is held");
	participants_free(&p);
	return status;
}

static int revoke_main(const struct command *self, int argc, char **argv)
{
	return one_lock_main(self, argc, argv, NULL, revoke_lock);
}

static const enum option_id revoke_options[] = {
	OPTION_URI,     OPTION_WAIT,    OPTION_SEMAPHORE,
	OPTION_VERBOSE, OPTION_BACKEND, OPTION_END,
};

const struct command cmd_revoke = {
	.name = "revoke",
	.args = "[-u URI] [-S PERMITS] NAME",
	.summary = "ask the holders of a lock to give it up",
	.text = "Asks the holders of NAME to give NAME up, and does not wait "
		"for that.  A holder\n"
		"that does not listen keeps NAME: see `dlock run --on-wanted` "
		"and\n"
		"dlock_revocable().  Says who holds NAME, and since when; "
		"without a holder, it\n"
		"exits with 1.  Of a semaphore not on memcached:.\n",
	.options = revoke_options,
	.main = revoke_main,
};
