/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite as Criterion tests, a test for each case and store:
 * file::mutex_try. conform-plain runs the case, so the case's process loads
 * neither Criterion nor Criterion's libraries, and only that process has a
 * sanitizer.
 *
 * Criterion knows the tests at link time, but the stores are named at run time.
 * So suites for eight stores are linked, and main() keeps a suite for each URI.
 */
#include <criterion/criterion.h>
#include <criterion/internal/ordered-set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/runner.h"

enum { STORES = 8 };

static void stamp(size_t store, const char *name)
{
	static struct outcome out;
	char *uri = conform_uri(store);

	cr_assert(uri, "no such store");
	/* With this variable a process counts as Criterion's. */
	unsetenv("BXFI_MAP");
	conform_run(name, uri, &out);
	free(uri);
	if (out.verdict == SKIPPED)
		cr_skip_test("%.*s", (int)strcspn(out.text, "\n"), out.text);
	cr_assert(out.verdict == PASSED, "%s", out.text);
}

#define STAMP(suite, store, name)                                              \
	Test(suite, name, .timeout = 600)                                      \
	{                                                                      \
		stamp(store, #name);                                           \
	}

#define X(name, needs) STAMP(store0, 0, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store1, 1, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store2, 2, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store3, 3, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store4, 4, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store5, 5, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store6, 6, name)
CONFORM_CASES(X)
#undef X

#define X(name, needs) STAMP(store7, 7, name)
CONFORM_CASES(X)
#undef X

static char names[STORES][24];

static void name_suite(struct criterion_suite_set *s, size_t store)
{
	char *name = names[store];

	conform_uri_name(store, name, sizeof(names[store]));
	s->suite.name = name;
	FOREACH_SET(struct criterion_test * test, s->tests)
	{
		char *id;

		test->category = name;
		if (asprintf(&id, "%s/%s", name, test->name) >= 0)
			test->data->identifier_ = id; /* for --filter */
	}
}

/* Name the suites, in order, after the stores. Cut off and return the suites
 * without a store. */
static struct criterion_ordered_set_node *name_stores(
	struct criterion_test_set *set)
{
	struct criterion_ordered_set_node *n, *last = NULL, *cut;
	size_t store = 0;

	for (n = set->suites->first; n; n = n->next) {
		struct criterion_suite_set *s = (void *)(n + 1);
		char *uri = conform_uri(store);

		if (uri) {
			name_suite(s, store++);
			last = n;
		} else {
			set->tests -= s->tests->size;
			set->suites->size--;
		}
		free(uri);
	}
	cut = last->next;
	last->next = NULL;
	return cut;
}

static void put_back(struct criterion_test_set *set,
		     struct criterion_ordered_set_node *cut)
{
	struct criterion_ordered_set_node *n = set->suites->first;

	while (n->next)
		n = n->next;
	n->next = cut;
}

/* Criterion looks up this symbol and overwrites the first bytes of the function
 * to start the processes of tests, so main() must not be short. */
__attribute__((visibility("default"))) int main(int argc, char *argv[])
{
	struct criterion_ordered_set_node *cut;
	struct criterion_test_set *set;
	char *more = conform_uri(STORES);
	int failed = 0;

	if (more) {
		fprintf(stderr, "DLOCK_TEST_URIS: %d stores at most\n", STORES);
		free(more);
		return 2;
	}
	set = criterion_initialize();
	cut = name_stores(set);
	if (criterion_handle_args(argc, argv, true))
		failed = !criterion_run_all_tests(set);
	put_back(set, cut);
	criterion_finalize(set);
	return failed;
}
