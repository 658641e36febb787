/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A foreign lock: a command that speaks the line protocol of docs/compare.md on
 * standard input and output.  Internal to the lab.
 */
#ifndef DLOCK_LAB_FOREIGN_H
#define DLOCK_LAB_FOREIGN_H

#include "lab/worker/order.h"

#include <dlock/dlock.h>

struct lab_foreign;

/* Start the command; files left in `dir`, the command's TMPDIR, do no harm.
 * NULL: lab_errmsg(). */
struct lab_foreign *lab_foreign_start(const char *command, const char *dir);
void lab_foreign_free(struct lab_foreign *f);

/* Return the command's description of itself, behind "ready". */
const char *lab_foreign_about(const struct lab_foreign *f);

/* As the functions of dlock.h, with their codes.  A timeout < 0 is for ever. */
int lab_foreign_acquire(struct lab_foreign *f, const char *name,
			int64_t timeout_ms, uint64_t *token);
int lab_foreign_release(struct lab_foreign *f);

#endif
