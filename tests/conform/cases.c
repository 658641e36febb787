/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/cases.h"

#define X(name, needs) { #name, (uint32_t)(needs), case_##name },
const struct conform_case conform_cases[] = { CONFORM_CASES(X) };
#undef X

const size_t n_conform_cases = sizeof(conform_cases) / sizeof(conform_cases[0]);
