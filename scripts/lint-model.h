/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clang-tidy, which reads one file at a time, cannot know: that these
 * functions return the code they are given, and never 0.  Without it every
 * early return looks as if it might not be one.
 */
#include "core/base/error.h"

#define dlk_fail(err, code, ...) \
	((void)(dlk_fail)(err, code, __VA_ARGS__), (code))
#define dlki_report(err) ((void)(dlki_report)(err), DLOCK_ESYSTEM)
#define dlki_nomem(err) ((void)(dlki_nomem)(err), DLOCK_ENOMEM)
#define dlki_system(err, errnum, doing) \
	((void)(dlki_system)(err, errnum, doing), DLOCK_ESYSTEM)
