/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors are the client library's. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "backends/zk/fds.h"

/* A thread that looks into a directory meanwhile has a descriptor for an
 * instant, whose number one of the pipes may get. */
Test(zk_fds, a_pipe_may_get_a_number_that_was_in_use)
{
	struct zk_fds before;
	int passing = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ends[2];

	CHECK_INT(passing, >=, 0);
	CHECK_INT(dlki_zk_fds_before(&before), ==, 0);
	close(passing);
	CHECK(pipe(ends) == 0);
	CHECK(ends[0] == passing || ends[1] == passing);
	dlki_zk_fds_pipes(&before);
	for (int i = 0; i < 2; i++) {
		CHECK(fcntl(ends[i], F_GETFD) & FD_CLOEXEC);
		close(ends[i]);
	}
}

/* ... and so may the number of a pipe that is closed meanwhile. */
Test(zk_fds, a_pipe_may_get_the_number_of_another)
{
	struct zk_fds before;
	int old[2], ends[2];

	CHECK(pipe(old) == 0);
	CHECK_INT(dlki_zk_fds_before(&before), ==, 0);
	close(old[0]);
	close(old[1]);
	CHECK(pipe(ends) == 0);
	CHECK(ends[0] == old[0] && ends[1] == old[1]);
	dlki_zk_fds_pipes(&before);
	for (int i = 0; i < 2; i++) {
		CHECK(fcntl(ends[i], F_GETFD) & FD_CLOEXEC);
		close(ends[i]);
	}
}

Test(zk_fds, pipes_of_others_are_left_alone)
{
	struct zk_fds before;
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK_INT(dlki_zk_fds_before(&before), ==, 0);
	dlki_zk_fds_pipes(&before);
	for (int i = 0; i < 2; i++) {
		CHECK(!(fcntl(ends[i], F_GETFD) & FD_CLOEXEC));
		close(ends[i]);
	}
}
