/* SPDX-License-Identifier: Apache-2.0 */
/* The first user of a common thread finds no memory, and the second does. */
#include <criterion/criterion.h>
#include <errno.h>

#include "core/base/job.h"
#include "core/base/source.h"
#include "support/census.h"
#include "support/fault.h"

static int no_more(struct dlki_job *job)
{
	(void)job;
	return 0;
}

Test(common_fault, a_job)
{
	struct dlki_job job = { .run = no_more };
	struct census before;

	census_take(&before);
	fault_in("calloc", 1, ENOMEM);
	cr_assert_eq(dlki_job_join(&job, NULL), ENOMEM);
	cr_assert(fault_came());
	dlki_job_post(&job);
	dlki_job_leave(&job);
	cr_assert_eq(dlki_job_join(&job, NULL), 0);
	dlki_job_leave(&job);
	census_same(&before);
}

Test(common_fault, a_source)
{
	struct dlki_source s = { 0 };
	struct census before;

	census_take(&before);
	fault_in("calloc", 1, ENOMEM);
	cr_assert_eq(dlki_source_join(&s, NULL), ENOMEM);
	cr_assert(fault_came());
	cr_assert_eq(dlki_source_join(&s, NULL), 0);
	dlki_source_leave(&s);
	census_same(&before);
}
