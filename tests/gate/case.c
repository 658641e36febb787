/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every Criterion program, around the function that calls a case:
 *
 *  - the processor time of the case, with that of its children, becomes a line
 *    "SECONDS SUITE::CASE" of the file $DLOCK_GATE_CPU;
 *  - the process of a case is searched for leaks, and Criterion's own is not.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void __real_criterion_internal_test_main(void (*fn)(void));
void __wrap_criterion_internal_test_main(void (*fn)(void));

/* LeakSanitizer asks at the end of a process. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

static int in_case;

int __lsan_is_turned_off(void)
{
	return !in_case;
}

static double used(int who)
{
	struct rusage r;

	if (getrusage(who, &r) != 0)
		return 0;
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

void __wrap_criterion_internal_test_main(void (*fn)(void))
{
	const char *path = getenv("DLOCK_GATE_CPU");
	char *file = path ? strdup(path) : NULL;
	char line[256];
	int fd, n;

	n = snprintf(line, sizeof(line), "%s::%s\n",
		     criterion_current_test->category,
		     criterion_current_test->name);
	in_case = 1;
	__real_criterion_internal_test_main(fn);
	fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			 0600) :
		    -1;
	free(file);
	if (fd < 0 || n < 0 || (size_t)n >= sizeof(line))
		return;
	dprintf(fd, "%.3f %s", used(RUSAGE_SELF) + used(RUSAGE_CHILDREN), line);
	close(fd);
}
