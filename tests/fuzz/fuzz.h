/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of a fuzzer.  A flaw ends the fuzzer by an abort. */
#ifndef DLOCK_TESTS_FUZZ_H
#define DLOCK_TESTS_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

/* Require a text of printable bytes that is not empty. */
static inline void require_text(const char *text)
{
	size_t at;

	REQUIRE(text[0] && !dlki_text_flaw(text, strlen(text), &at));
}

#endif
