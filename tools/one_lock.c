/* SPDX-License-Identifier: Apache-2.0 */
#include "one_lock.h"

#include "exits.h"
#include "message.h"

int one_lock_main(const struct command *self, int argc, char **argv,
		  one_lock_check_fn *check, one_lock_fn *work)
{
	struct options o;
	struct store s;
	dlock_lock *lock;
	int status;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args < 1 || o.n_args > 1 + self->more_args)
		return fail(LEAVE_USAGE, "dlock %s wants %s", self->name,
			    self->more_args ? "a NAME, and one argument more "
					      "at most" :
					      "one NAME");
	status = check ? check(&o) : 0;
	if (status != 0)
		return status;
	status = store_choose(&s, &o);
	if (status == 0)
		status = store_open(&s, &o, NULL, NULL);
	if (status == 0)
		status = store_lock(&lock, &s, &o, o.args[0]);
	if (status == 0) {
		status = work(&o, &s, lock);
		dlock_lock_free(lock);
	}
	store_close(&s);
	return status;
}
