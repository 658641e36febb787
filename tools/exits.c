/* SPDX-License-Identifier: Apache-2.0 */
#include "exits.h"

#include <dlock/dlock.h>
#include <errno.h>

int exit_for(int dlock_code)
{
	switch (dlock_code) {
	case DLOCK_OK:
		return LEAVE_OK;
	case DLOCK_EBUSY:
		return LEAVE_BUSY;
	case DLOCK_EUNREACHABLE:
		return LEAVE_UNREACHABLE;
	case DLOCK_ELOST:
		return LEAVE_LOST;
	case DLOCK_EINVAL:
		return LEAVE_USAGE;
	case DLOCK_ENOTSUP:
		return LEAVE_NOTSUP;
	case DLOCK_EDENIED:
		return LEAVE_DENIED;
	case DLOCK_EEXHAUSTED:
		return LEAVE_LIMIT;
	case DLOCK_EPROTO:
		return LEAVE_PROTOCOL;
	case DLOCK_ENOMEM:
	case DLOCK_ESYSTEM:
		return LEAVE_SYSTEM;
	default:
		/* ECANCELED, EDEADLK, EFORKED: no command asks for them. */
		return LEAVE_INTERNAL;
	}
}

int exit_for_errno(int errnum)
{
	switch (errnum) {
	case EMFILE:
	case ENFILE:
	case EAGAIN: /* of a thread or a process */
		return LEAVE_LIMIT;
	default:
		return LEAVE_SYSTEM;
	}
}

void exits_print(FILE *out)
{
#define X(name, value, text) fprintf(out, "  %3d  %s\n", value, text);
	EXITS(X)
#undef X
}
