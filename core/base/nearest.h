/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean": how far a misspelt word is from an existing word, in letters
 * added, left out, changed, or swapped with their neighbour.
 */
#ifndef DLOCK_CORE_BASE_NEAREST_H
#define DLOCK_CORE_BASE_NEAREST_H

#define DLKI_FAR 1000u

/* Return the distance, or DLKI_FAR when more than a third of the longer word
 * differs or a word has more than 31 bytes. */
unsigned int dlki_distance(const char *a, const char *b);

#endif
