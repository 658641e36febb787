/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes the processor time of each Criterion case, with what it waited for, as
 * a line "SECONDS SUITE::CASE" of the file $DLOCK_GATE_CPU.  Linked into every
 * Criterion program, around the function that calls the case.
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
