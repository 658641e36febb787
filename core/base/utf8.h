/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: UTF-8 in the shortest forms, without surrogates and without control
 * characters (C0, DEL, C1).
 */
#ifndef DLOCK_CORE_BASE_UTF8_H
#define DLOCK_CORE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Read the character at `s`, of which `len` >= 1 bytes are left.  Returns the
 * character's length, 1 to 4, or 0 if it is not well-formed. */
size_t dlki_utf8_next(const char *s, size_t len, uint32_t *code);

int dlki_utf8_is_control(uint32_t code);

/* Return NULL if `s` is text, else the flaw, to follow "byte 3 of the name ",
 * and the place, counted from 1. */
const char *dlki_text_flaw(const char *s, size_t len, size_t *at);

#endif
