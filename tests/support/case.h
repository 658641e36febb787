/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases with an end: CASE() frees the things of a case.
 *
 * A function that makes a client, a lock or a server hands the thing to
 * at_end().  After the last line of the case the things end, last made first.
 * A failure there is a failure of the case.  In a suite's .fini, Criterion
 * would print the failure, and the case would pass.
 *
 * Each case runs in a process apart.
 */
#ifndef DLOCK_TESTS_CASE_H
#define DLOCK_TESTS_CASE_H

/* Has `end` called with `what` at the end of the case.  In a Test(), at_end()
 * has no effect: a Test() must free the things itself. */
void at_end(void (*end)(void *), void *what);

/* Ends the thing now. */
void end_now(void *what);

/* Leaves the end of the thing to the case. */
void not_at_end(const void *what);

/* In a forked child: begins a case that ends nothing of the parent's. */
void case_begin_child(void);

/* Called by CASE(), and by an .init with things for the case. */
void case_begin(void);
void case_end(void);

/* CASE(suite, name, Criterion's options of a Test()...) { the lines } */
#define CASE(...) CASE_(__VA_ARGS__, .disabled = 0)
#define CASE_(suite, name, ...)                                                \
	static void suite##_##name(void);                                      \
	Test(suite, name, __VA_ARGS__)                                         \
	{                                                                      \
		case_begin();                                                  \
		suite##_##name();                                              \
		case_end();                                                    \
	}                                                                      \
	static void suite##_##name(void)

#endif
