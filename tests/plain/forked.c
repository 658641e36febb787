/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every public call in a forked child, which must neither hang nor reach
 * the store. The child leaves by exit() where possible, to count for the
 * coverage. */
#include <dlock/dlock.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

static dlock_client *client;
static dlock_lock *mutex, *multi;
static dlock_hold *hold, *all;

static void see_participant(const struct dlock_participant *p, void *arg)
{
	(void)p;
	(void)arg;
}

static void see_entry(const struct dlock_lock_info *e, void *arg)
{
	(void)e;
	(void)arg;
}

/* Returns 0, or the number of the call with the wrong result. */
static int child(void)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_lock *lock = NULL, *members[] = { mutex };
	dlock_hold *h = NULL;
	const int rc[] = {
		dlock_mutex_new(&lock, client, "a"),
		dlock_rwlock_new(&lock, client, "a"),
		dlock_semaphore_new(&lock, client, "a", 1),
		dlock_multi_new(&lock, members, 1),
		dlock_acquire(mutex, -1, &h),
		dlock_acquire(multi, -1, &h),
		dlock_release(hold),
		dlock_release(all),
		dlock_check(hold),
		dlock_check(all),
		dlock_hold_fd(hold),
		dlock_hold_fd(all),
		dlock_inspect(mutex, see_participant, NULL, -1),
		dlock_list(client, see_entry, NULL, -1),
		dlock_break(mutex, -1),
		dlock_get_stats(client, &st),
	};
	int n = sizeof(rc) / sizeof(rc[0]);

	for (int i = 0; i < n; i++) {
		if (rc[i] != DLOCK_EFORKED)
			return 1 + i;
	}
	if (dlock_remaining_ms(hold) != 0 || dlock_remaining_ms(all) != 0)
		return 100;
	dlock_cancel(mutex);
	dlock_cancel(multi);
	dlock_lock_free(multi);
	dlock_lock_free(mutex);
	dlock_close(client);
	return 0;
}

extern void __asan_init(void) __attribute__((weak));

/* Ends the child. A sanitizer would take the parent's memory for leaks. */
static void leave(int status)
{
	if (__asan_init)
		_exit(status);
	exit(status);
}

static int play(const char *uri)
{
	int status = -1;
	pid_t pid;

	if (dlock_open(&client, uri, NULL) < 0 ||
	    dlock_mutex_new(&mutex, client, "m") < 0 ||
	    dlock_multi_new(&multi, &mutex, 1) < 0 ||
	    dlock_acquire(mutex, 1000, &hold) < 0 ||
	    dlock_acquire(multi, 1000, &all) < 0) {
		printf("FAILED %s: %s\n", uri, dlock_errmsg());
		return 1;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(30);
		leave(child());
	}
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		printf("FAILED %s: the child's call %d, status %x\n", uri,
		       WEXITSTATUS(status), (unsigned int)status);
		return 1;
	}
	/* The parent's holds still stand. */
	if (dlock_check(hold) < 0 || dlock_release(all) < 0 ||
	    dlock_release(hold) < 0) {
		printf("FAILED %s: the parent: %s\n", uri, dlock_errmsg());
		return 1;
	}
	dlock_lock_free(multi);
	dlock_lock_free(mutex);
	dlock_close(client);
	return 0;
}

int main(void)
{
	int failed;

	if (fake_register() != 0)
		return 1;
	failed = play("mem:") + play("fake:?ttl=5s");
	if (fake_complaint()) {
		printf("FAILED %s\n", fake_complaint());
		failed++;
	}
	printf("%d passed, %d failed, 0 skipped\n", 3 - failed, failed);
	return failed != 0;
}
