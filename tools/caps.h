/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities by their names.
 */
#ifndef DLOCK_TOOLS_CAPS_H
#define DLOCK_TOOLS_CAPS_H

#include <stdint.h>

/* DLOCK_CAP_ bits there can be. */
#define CAP_BITS 32

/*
 * Parse "FENCE,wake" to bits: names in any case, commas or blanks between them.
 * "none" is no bits.  `from` is where the text stands, for the message.  0 or
 * an exit code, with a message.
 */
int caps_parse(const char *text, const char *from, uint32_t *out);

/* The names, a blank between; to be freed.  NULL: out of memory. */
char *caps_text(uint32_t caps);

#endif
