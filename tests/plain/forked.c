/* SPDX-License-Identifier: Apache-2.0 */
/* Makes every public call in a forked child, which must neither hang nor reach
 * the store. The child leaves by exit() where possible, to count for the
 * coverage. */
#include <dlock/async.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

static dlock_client *client;
static dlock_lock *mutex, *multi, *semaphore, *rwlock, *upgradeable;
static dlock_lock *unbound, *unbound_multi;
static dlock_hold *hold, *all, *read_hold;

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

static void free_locks(void)
{
	dlock_lock_free(unbound_multi);
	dlock_lock_free(unbound);
	dlock_lock_free(upgradeable);
	dlock_lock_free(rwlock);
	dlock_lock_free(semaphore);
	dlock_lock_free(multi);
	dlock_lock_free(mutex);
}

static void done(const struct dlock_result *r, void *arg)
{
	(void)r;
	(void)arg;
}

/* Returns 0, or the number of the call with the wrong result. */
static int first_wrong(const int rc[], int n)
{
	for (int i = 0; i < n; i++) {
		if (rc[i] != DLOCK_EFORKED)
			return 1 + i;
	}
	return 0;
}

static int call_async(void)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_op op = 0;
	const int rc[] = {
		dlock_acquire_start(unbound, -1, done, NULL, &op),
		dlock_acquire_start(unbound_multi, -1, done, NULL, &op),
		dlock_acquire_shared_start(rwlock, -1, done, NULL, &op),
		dlock_acquire_opts_start(unbound, &o, done, NULL, &op),
		dlock_upgrade_start(upgradeable, read_hold, -1, done, NULL,
				    &op),
		dlock_release_start(hold, done, NULL),
		dlock_release_start(all, done, NULL),
		dlock_inspect_start(mutex, see_participant, -1, done, NULL),
		dlock_break_start(mutex, -1, done, NULL),
		dlock_cancel_op(client, 1),
		dlock_client_fd(client),
		dlock_process(client, 0),
		dlock_wait(client, -1),
		dlock_nudge(client),
		dlock_events_by_process(client),
		dlock_close_start(client, done, NULL),
	};
	int wrong = first_wrong(rc, sizeof(rc) / sizeof(rc[0]));

	return wrong ? 50 + wrong : 0;
}

static int call_all(void)
{
	struct dlock_permits permits = { .size = sizeof(permits) };
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_lock *lock = NULL, *members[] = { mutex };
	dlock_hold *h = NULL;
	const int rc[] = {
		dlock_mutex_new(&lock, client, "a"),
		dlock_rwlock_new(&lock, client, "a"),
		dlock_semaphore_new(&lock, client, "a", 1),
		dlock_multi_new(&lock, members, 1),
		dlock_upgradeable_new(&lock, rwlock),
		dlock_lock_unbind(mutex),
		dlock_lock_use_read_side(rwlock),
		dlock_lock_sticky_cancel(multi),
		dlock_acquire(mutex, -1, &h),
		dlock_acquire(multi, -1, &h),
		dlock_acquire(upgradeable, -1, &h),
		dlock_acquire_shared(rwlock, -1, &h),
		dlock_acquire_opts(mutex, &o, &h),
		dlock_upgrade(upgradeable, read_hold, -1, &h),
		dlock_extend(hold, 1000),
		dlock_extend(all, 1000),
		dlock_lock_held(mutex),
		dlock_lock_held(multi),
		dlock_release(hold),
		dlock_release(all),
		dlock_check(hold),
		dlock_check(all),
		dlock_hold_fd(hold),
		dlock_hold_fd(all),
		dlock_revocable(hold),
		dlock_revocable(all),
		dlock_wanted_fd(hold),
		dlock_revoke(mutex, -1),
		dlock_semaphore_permits(semaphore, &permits, -1),
		dlock_semaphore_resize(semaphore, 2, -1),
		dlock_inspect(mutex, see_participant, NULL, -1),
		dlock_list(client, see_entry, NULL, -1),
		dlock_break(mutex, -1),
		dlock_get_stats(client, &st),
	};

	return first_wrong(rc, sizeof(rc) / sizeof(rc[0]));
}

static int child(void)
{
	int wrong = call_all();

	if (wrong == 0)
		wrong = call_async();
	if (wrong != 0)
		return wrong;
	if (dlock_remaining_ms(hold) != 0 || dlock_remaining_ms(all) != 0)
		return 100;
	dlock_cancel(mutex);
	dlock_cancel(multi);
	free_locks();
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
	    dlock_semaphore_new(&semaphore, client, "s", 2) < 0 ||
	    dlock_rwlock_new(&rwlock, client, "rw") < 0 ||
	    dlock_lock_unbind(rwlock) < 0 ||
	    dlock_upgradeable_new(&upgradeable, rwlock) < 0 ||
	    dlock_mutex_new(&unbound, client, "u") < 0 ||
	    dlock_lock_unbind(unbound) < 0 ||
	    dlock_multi_new(&unbound_multi, &unbound, 1) < 0 ||
	    dlock_acquire(mutex, 1000, &hold) < 0 ||
	    dlock_acquire(multi, 1000, &all) < 0 ||
	    dlock_acquire(upgradeable, 1000, &read_hold) < 0) {
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
	    dlock_release(hold) < 0 || dlock_release(read_hold) < 0) {
		printf("FAILED %s: the parent: %s\n", uri, dlock_errmsg());
		return 1;
	}
	free_locks();
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
