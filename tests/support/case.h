/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases whose end is a part of them.
 *
 * What a case was given - clients, locks, servers - is handed to at_end() by
 * the function that made it, and ended behind the last line of the case, last
 * made first.  What goes wrong there is a failure of the case.  In a suite's
 * .fini it would not be: Criterion prints it, and the case has passed.
 *
 * A case runs in a process of its own.
 */
#ifndef DLOCK_TESTS_CASE_H
#define DLOCK_TESTS_CASE_H

/* Outside of a case, which does not end what it was given, this does nothing:
 * a Test() ends its things itself. */
void at_end(void (*end)(void *), void *what);

/* Do it now, before the case ends. */
void end_now(void *what);

/* The case ends it itself. */
void not_at_end(const void *what);

/* Called by CASE(); and by an .init that makes things for the case. */
void case_begin(void);
void case_end(void);

/* CASE(suite, name, Criterion's options of a Test()...) { what is tested } */
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
