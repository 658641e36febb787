/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "compare/broken.h"
#include "lab/worker/order.h"

/* Criterion starts the tests' processes by this symbol. */
__attribute__((visibility("default"))) int main(int argc, char *argv[])
{
	struct criterion_test_set *set;
	int failed = 0;

	if (argc == 2 && !strcmp(argv[1], "--worker")) {
		broken_register();
		return lab_worker_main();
	}
	set = criterion_initialize();
	if (criterion_handle_args(argc, argv, true))
		failed = !criterion_run_all_tests(set);
	criterion_finalize(set);
	return failed;
}
