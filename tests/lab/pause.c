/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"

TestSuite(pause, .timeout = 60);

static int until[2]; /* a pipe: the child lives until the pipe is closed */

/* Until the child ends, only SIGKILL reaches the thread. */
static void *stay_in_kernel(void *arg)
{
	pid_t child = vfork();
	char c;

	(void)arg;
	if (child == 0) {
		(void)!read(until[0], &c, 1);
		_exit(0);
	}
	return NULL;
}

static pid_t start_process(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(until[1]);
	if (pthread_create(&thread, NULL, stay_in_kernel, NULL))
		_exit(1);
	for (;;)
		pause();
}

/* Count the threads in a state, by the letter of /proc. */
static int count(pid_t pid, char wanted)
{
	char path[300], state;
	struct dirent *d;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	cr_assert(dir);
	for (d = readdir(dir); d; d = readdir(dir)) {
		FILE *f = NULL;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid,
			 d->d_name);
		if (d->d_name[0] != '.')
			f = fopen(path, "re");
		if (f) {
			n += fscanf(f, "%*d (%*[^)]) %c", &state) == 1 &&
			     state == wanted;
			fclose(f);
		}
	}
	closedir(dir);
	return n;
}

static int one_is_in_kernel(void *pid)
{
	return count(*(pid_t *)pid, 'D') == 1;
}

Test(pause, is_complete_though_a_thread_is_in_the_kernel)
{
	pid_t pid;

	cr_assert_eq(pipe(until), 0);
	pid = start_process();
	cr_assert_gt(
		lab_wait_until(lab_after_ms(20000), one_is_in_kernel, &pid), 0);
	cr_assert_eq(lab_pause(pid), 0, "%s", lab_errmsg());
	cr_expect_eq(count(pid, 'T'), 1);
	cr_expect_eq(count(pid, 'D'), 1);
	cr_assert_eq(lab_resume(pid), 0, "%s", lab_errmsg());
	cr_expect_eq(count(pid, 'T'), 0);
	close(until[1]);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

static void *stay(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static int first_has_ended(void *pid)
{
	return count(*(pid_t *)pid, 'Z') == 1;
}

/* /proc shows the first thread as a zombie until the last has ended, and each
 * other thread for a moment. */
Test(pause, reaches_a_process_of_which_a_thread_has_ended)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, stay, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	cr_assert_gt(lab_wait_until(lab_after_ms(20000), first_has_ended, &pid),
		     0);
	cr_assert_eq(lab_pause(pid), 0, "%s", lab_errmsg());
	cr_expect_eq(count(pid, 'T'), 1);
	cr_assert_eq(lab_resume(pid), 0, "%s", lab_errmsg());
	cr_expect_eq(count(pid, 'T'), 0);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_lt(lab_pause(pid), 0);
}
