/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite as Criterion's tests, one for each case and store: file::wait_many.
 * The process of a case is conform-plain's: it loads neither Criterion nor the
 * libraries behind Criterion, and under a sanitizer it is the only process with
 * the sanitizer.
 *
 * Criterion knows its tests at link time, while stores are named at run time:
 * so there are suites for eight stores, of which main() keeps as many as there
 * are URIs.
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
	/* By this a process knows that it is one of Criterion's. */
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

/* Name the suites, which are in order, after the stores; cut off and return
 * those that no store is left for. */
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

/* Criterion looks up this symbol, and writes the first bytes of the function
 * over to start the processes of its tests: main() must not be short. */
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
