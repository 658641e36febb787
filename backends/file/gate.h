/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate keeps later tickets out while a ticket waits: the first writer that
 * waits for readers locks GATE, and the first request that waits for several
 * permits locks LINE.
 */
#ifndef DLOCK_BACKENDS_FILE_GATE_H
#define DLOCK_BACKENDS_FILE_GATE_H

struct file_ticket;

/*
 * With name->mu held: does another ticket at the gate keep this ticket out?  If
 * the other ticket can be granted for a second, and still does not go, the
 * other process is stopped or stuck, and this ticket passes.  While this ticket
 * holds the lock, others follow.  They do not lock PASS, or the passing would
 * never end.
 */
int dlki_file_gate_is_shut(struct file_ticket *t, int fd);

/*
 * With name->mu held: shut the gate if the ticket is the first to wait there.
 * While a writer holds the lock, the gate is of no use: no reader gets in.
 */
void dlki_file_gate_shut(struct file_ticket *t);

#endif
