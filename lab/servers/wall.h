/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that a test can step while a server runs: a page shared with the
 * server, into which lab/servers/wallshim.c, preloaded there, looks.  Internal.
 *
 * The page is three numbers: the shift in ns; how many times the server is
 * still to ask for the time, if not 0, before that becomes another; that one.
 */
#ifndef DLOCK_LAB_WALL_H
#define DLOCK_LAB_WALL_H

#include <stddef.h>
#include <stdint.h>

#define LAB_WALL_FILE "wall"
#define LAB_WALL_VARIABLE "DLOCK_LAB_WALL"

enum { LAB_WALL_SHIFT, LAB_WALL_LEFT, LAB_WALL_THEN, LAB_WALL_NUMBERS };

/* Make the page, LAB_WALL_FILE in `dir`, and map it.  NULL: it failed. */
int64_t *lab_wall_map(const char *dir);
void lab_wall_unmap(int64_t *page);

/* The shared object to preload: $DLOCK_LAB_WALLSHIM, else the one that was
 * built or installed with this program.  NULL: there is none.  Valid until the
 * thread's next call. */
const char *lab_wall_shim(void);

#endif
