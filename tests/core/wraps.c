/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that cases of this program let fail. */
#include <stdlib.h>
#include <sys/eventfd.h>

#include "support/fault.h"

FAULT_WRAP(void *, NULL, calloc, (size_t n, size_t size), (n, size))
FAULT_WRAP(void *, NULL, malloc, (size_t size), (size))
FAULT_WRAP(int, -1, eventfd, (unsigned int value, int flags), (value, flags))
