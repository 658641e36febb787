/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include <errno.h>
#include <string.h>

static _Thread_local const char *failing;
static _Thread_local int left, how;

void fault_in(const char *function, int n, int errnum)
{
	failing = function;
	left = n;
	how = errnum;
}

int fault_came(void)
{
	failing = NULL;
	return left == 0;
}

int fault_hits(const char *function)
{
	if (!failing || left == 0 || strcmp(function, failing) != 0 ||
	    --left > 0)
		return 0;
	errno = how;
	return 1;
}
