/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail once: the linker leads a program's calls of a function to a
 * FAULT_WRAP() of the program, see --wrap in ld(1).
 */
#ifndef DLOCK_TESTS_FAULT_H
#define DLOCK_TESTS_FAULT_H

/* Have this thread's n-th call of the function from now fail, with `errnum`. */
void fault_in(const char *function, int n, int errnum);

/* Has the call failed since?  No call fails from now on. */
int fault_came(void);

/* For wraps: is this the call to fail?  Sets errno then. */
int fault_hits(const char *function);

/* Define a function that fails by returning `bad`; `params` and `names` are the
 * list of parameters and the list of their names, in parentheses. */
#define FAULT_WRAP(type, bad, f, params, names)                                \
	type __real_##f params;                                                \
	type __wrap_##f params;                                                \
	type __wrap_##f params                                                 \
	{                                                                      \
		return fault_hits(#f) ? bad : __real_##f names;                \
	}

#endif
