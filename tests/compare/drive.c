/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/drive.h"
#include "compare/broken.h"
#include "lab/base/fail.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_bool drive_stop;

void drive_init(void)
{
	broken_register();
}

static struct lab_findings *drive_so_long(struct lab_compare_options o,
					  bool quick)
{
	static char self[4096];
	static const char *worker[] = { self, "--worker", NULL };
	struct lab_findings *f = NULL;

	/* Else our workers would be taken for tests by Criterion. */
	unsetenv("BXFI_MAP");
	cr_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	o.worker_command = worker;
	o.stop = &drive_stop;
	o.quick = quick;
	o.seed = 1;
	cr_assert_eq(lab_compare(&o, &f), 0, "%s", lab_errmsg());
	return f;
}

struct lab_findings *drive(struct lab_compare_options o)
{
	return drive_so_long(o, true);
}

struct lab_findings *drive_uri(const char *uri, const char *only)
{
	return drive((struct lab_compare_options){
		.uris = &uri, .n_uris = 1, .only = only });
}

struct lab_findings *drive_at_length(const char *uri, const char *only)
{
	return drive_so_long((struct lab_compare_options){ .uris = &uri,
							   .n_uris = 1,
							   .only = only },
			     false);
}

const struct lab_finding *drive_found(const struct lab_findings *f,
				      const char *store, const char *id)
{
	for (size_t s = 0; s < f->n_stores; s++)
		for (size_t b = 0; b < f->n_scenarios; b++)
			if (!strcmp(f->stores[s].name, store) &&
			    !strcmp(f->scenarios[b].id, id))
				return lab_finding(f, s, b);
	cr_assert_fail("nothing is said of %s and %s", store, id);
	return NULL;
}

void drive_is(const struct lab_findings *f, const char *store, const char *id,
	      enum lab_outcome outcome)
{
	const struct lab_finding *c = drive_found(f, store, id);

	cr_assert_eq(c->outcome, outcome, "%s, %s: %s, not %s: %s", store, id,
		     lab_outcome_words(c->outcome), lab_outcome_words(outcome),
		     c->why);
}

const struct lab_sut_kind *drive_kind(const char *name)
{
	for (size_t i = 0; lab_sut_kinds[i]; i++)
		if (!strcmp(lab_sut_kinds[i]->name, name))
			return lab_sut_kinds[i];
	cr_assert_fail("there is no kind %s", name);
	return NULL;
}
