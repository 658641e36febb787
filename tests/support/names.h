/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host name that leads where a test says: to linked programs, many.test is
 * 127.0.0.1 at these ports, whatever port is asked for.  Other names are left
 * to the system.
 */
#ifndef DLOCK_TESTS_NAMES_H
#define DLOCK_TESTS_NAMES_H

/* Up to two; 0: none.  From now on, in any thread. */
void names_lead_to(int port, int other_port);

#endif
