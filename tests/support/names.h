/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host name under the test's control: in linked programs, many.test is
 * 127.0.0.1 at these ports, for any port in the URI.  The system resolves other
 * names.
 */
#ifndef DLOCK_TESTS_NAMES_H
#define DLOCK_TESTS_NAMES_H

/* Sets up to two ports, in all threads; 0: no port. */
void names_lead_to(int port, int other_port);

#endif
