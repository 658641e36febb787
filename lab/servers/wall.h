/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that a test can step while a server runs: a page shared with the
 * server, which lab/servers/wallshim.c, preloaded there, reads.  Internal.
 *
 * The page is three numbers: the shift in ns; after how many looks at the time
 * the shift changes, or 0; the shift after the change.
 */
#ifndef DLOCK_LAB_WALL_H
#define DLOCK_LAB_WALL_H

#include <stddef.h>
#include <stdint.h>

#define LAB_WALL_FILE "wall"
#define LAB_WALL_VARIABLE "DLOCK_LAB_WALL"

enum { LAB_WALL_SHIFT, LAB_WALL_LEFT, LAB_WALL_THEN, LAB_WALL_NUMBERS };

/* Make the page, LAB_WALL_FILE in `dir`, and map it.  NULL: failed. */
int64_t *lab_wall_map(const char *dir);
void lab_wall_unmap(int64_t *page);

/* Return the shared object to preload: $DLOCK_LAB_WALLSHIM, else the shim built
 * or installed with this program.  NULL: there is none.  Valid until the
 * thread's next call. */
const char *lab_wall_shim(void);

#endif
