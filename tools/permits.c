/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "number.h"
#include "one_lock.h"
#include "participants.h"
#include "print.h"

#include <inttypes.h>
#include <string.h>

/* To look at a semaphore, a handle with any number of permits will do. */
static int choose_number(struct options *o)
{
	o->kind = KIND_SEMAPHORE;
	o->permits = UINT32_MAX;
	if (o->n_args == 2 &&
	    !parse_number(o->args[1], 1, UINT32_MAX, &o->permits))
		return fail(LEAVE_USAGE,
			    "\"%s\" is no number of permits: 1 to %" PRIu32,
			    o->args[1], UINT32_MAX);
	return 0;
}

/* 0, or an exit code with a message. */
static int look(struct dlock_permits *n, dlock_lock *lock,
		const struct options *o)
{
	struct participants p = { 0 };
	int status = participants_fetch(&p, lock, o);

	if (status == 0 && !participants_permits(&p, n))
		status = fail(LEAVE_BUSY,
			      "nobody uses the semaphore \"%s\": until "
			      "somebody does, its users say how many permits "
			      "it has",
			      o->args[0]);
	participants_free(&p);
	return status;
}

static int resize(dlock_lock *lock, const struct options *o)
{
	int code = dlock_semaphore_resize(lock, o->permits, ask_ms(o));

	return code < 0 ? fail_dlock(code) : 0;
}

static int print_permits(const struct dlock_permits *n, const struct options *o)
{
	if (o->json)
		return json_print(permits_json(n));
	printf("limit %" PRIu32 ", %" PRIu32 " free\n", n->limit, n->free);
	return finish_output(LEAVE_OK);
}

static int work(const struct options *o, const struct store *s,
		dlock_lock *lock)
{
	struct dlock_permits n;
	int status = look(&n, lock, o);

	(void)s;
	if (status == 0 && o->n_args == 2) {
		status = resize(lock, o);
		if (status == 0)
			status = look(&n, lock, o);
	}
	return status == 0 ? print_permits(&n, o) : status;
}

static int permits_main(const struct command *self, int argc, char **argv)
{
	return one_lock_main(self, argc, argv, choose_number, work);
}

static const enum option_id permits_options[] = {
	OPTION_URI,     OPTION_WAIT,    OPTION_JSON,
	OPTION_VERBOSE, OPTION_BACKEND, OPTION_END,
};

const struct command cmd_permits = {
	.name = "permits",
	.args = "[-u URI] [--json] NAME [PERMITS]",
	.summary = "print or change how many permits a semaphore has",
	.text = "Prints how many permits the semaphore NAME has, and how many "
		"are free.  With\n"
		"PERMITS it has that many from now on, whatever its users say, "
		"until nobody uses it.\n"
		"If there are fewer than before, holders keep theirs, and the "
		"next one waits until\n"
		"enough have released.\n"
		"If nobody uses the semaphore, it exits with 1.\n",
	.options = permits_options,
	.more_args = 1,
	.main = permits_main,
};
