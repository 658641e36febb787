/* SPDX-License-Identifier: Apache-2.0 */
/* Recorder, guarded resource and checker together, with stopped and killed
 * processes. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "lab/history/check.h"
#include "lab/history/history.h"
#include "lab/history/resource.h"

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static void set_up(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/history.XXXXXX", tmp ? tmp : "/tmp");
	cr_assert(mkdtemp(dir));
}

static void tear_down(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(history, .init = set_up, .fini = tear_down, .timeout = 120);

static struct lab_history *begin(void)
{
	struct lab_history *h = lab_history_open(dir);

	cr_assert(h, "%s", lab_errmsg());
	return h;
}

Test(history, what_is_recorded_is_loaded)
{
	struct lab_written w = { true, 3, 4 };
	struct lab_history *h = begin();
	struct lab_record *r;
	int64_t before = lab_now();
	uint64_t op = lab_history_acquire(h, "some/name", LAB_PERMIT, 7, 1500);
	char text[300];
	size_t n;

	lab_history_acquired(h, op, 0, 99, before + 5);
	lab_history_until(h, op, before + 6);
	lab_history_checked(h, op, before + 1, DLOCK_ELOST);
	lab_history_lost(h, op);
	lab_history_release(h, op, 0);
	lab_history_released(h, op, DLOCK_ELOST);
	lab_history_wrote(h, op, "some/name", 99, &w);
	lab_history_process(h, LAB_KILLED, 1234);
	lab_history_wiped(h, "", before, true);
	lab_history_left(h, "some/name", 2);
	lab_history_note(h, "seed %d", 42);
	cr_expect_neq(lab_history_acquire(h, "x", LAB_MUTEX, 0, 0), op);
	cr_assert_eq(lab_history_close(h), 0);

	cr_assert_eq(lab_history_load(dir, &r, &n), 0, "%s", lab_errmsg());
	cr_assert_eq(n, 13);
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(r[i].pid, (uint32_t)getpid());
		cr_expect_geq(r[i].at, before);
		cr_expect_eq(r[i].op, i < 8 ? op : i < 12 ? 0 : op + 1);
	}
	cr_expect_eq(r[0].what, LAB_ACQUIRE);
	cr_expect_eq(r[0].mode, LAB_PERMIT);
	cr_expect_eq(r[0].limit, 7);
	cr_expect_eq(r[0].value, 1500);
	cr_expect_str_eq(r[0].name, "some/name");
	cr_expect_eq(r[1].token, 99);
	cr_expect_eq(r[1].until, before + 5);
	cr_expect_eq(r[3].at, before + 1);
	cr_expect_eq(r[6].rc, DLOCK_ELOST);
	cr_expect_eq(r[7].rc, 1);
	cr_expect_eq(r[7].value, 3);
	cr_expect_eq(r[7].until, 4);
	cr_expect_eq(r[9].value, before);
	cr_expect_str_eq(r[11].name, "seed 42");
	lab_record_print(&r[0], text, sizeof(text));
	cr_expect(strstr(text, "acquire permit 'some/name'"), "%s", text);
	free(r);
}

Test(history, the_end_of_a_lease)
{
	cr_expect_eq(lab_until(100, -1), LAB_FOREVER);
	cr_expect_eq(lab_until(100, 0), 0);
	cr_expect_eq(lab_until(100, 3), 100 + 3 * LAB_MS);
}

Test(history, long_names_are_cut_and_the_rest_left_alone)
{
	char name[300];
	struct lab_history *h = begin();
	struct lab_record *r;
	size_t n;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	lab_history_acquire(h, name, LAB_MUTEX, 0, -1);
	lab_history_note(h, "%s", name);
	lab_history_close(h);
	cr_assert_eq(lab_history_load(dir, &r, &n), 0);
	cr_expect_eq(n, 2);
	cr_expect_eq(strlen(r[0].name), LAB_NAME - 3);
	cr_expect_eq(strlen(r[1].name), LAB_NAME - 3);
	free(r);
}

Test(history, a_record_that_is_not_whole_is_left_out)
{
	struct lab_history *h = begin();
	char path[128];
	struct lab_record *r;
	struct stat st;
	size_t n;

	for (int i = 0; i < 3; i++)
		lab_history_note(h, "%d", i);
	lab_history_close(h);
	snprintf(path, sizeof(path), "%s/%d.history", dir, (int)getpid());
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq((size_t)st.st_size, 3 * sizeof(*r));
	cr_assert_eq(truncate(path, st.st_size - 1), 0);
	cr_assert_eq(lab_history_load(dir, &r, &n), 0);
	cr_expect_eq(n, 2);
	free(r);
}

Test(history, failures_are_told)
{
	struct lab_record *r;
	struct lab_verdict v;
	size_t n;

	cr_expect_null(lab_history_open("/no/such/directory"));
	cr_expect(strstr(lab_errmsg(), "/no/such/directory"));
	cr_expect_lt(lab_history_load("/no/such/directory", &r, &n), 0);
	cr_expect_lt(lab_check_dir("/no/such/directory", NULL, &v), 0);
	cr_expect_null(lab_resource_open("/no/such/directory", "x"));
	cr_expect_eq(lab_history_close(NULL), 0);
	lab_resource_close(NULL);
}

static void *write_notes(void *h)
{
	for (int i = 0; i < 1000; i++)
		lab_history_acquire(h, "n", LAB_MUTEX, 0, i);
	return NULL;
}

Test(history, threads_share_a_recorder)
{
	struct lab_history *h = begin();
	struct lab_verdict v;
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_notes, h),
			     0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(lab_history_close(h), 0);
	cr_assert_eq(lab_check_dir(dir, NULL, &v), 0);
	cr_expect_eq(v.acquires, 4000);
	cr_expect_eq(v.violations, 0, "%s", v.words[0]);
}

Test(history, the_resource_refuses_smaller_tokens)
{
	struct lab_resource *r = lab_resource_open(dir, "a/b c");
	struct lab_resource *again = lab_resource_open(dir, "a/b c");
	struct lab_resource *other = lab_resource_open(dir, "a/b d");
	struct lab_written w;

	cr_assert(r && again && other, "%s", lab_errmsg());
	cr_assert_eq(lab_resource_write(r, 5, &w), 0);
	cr_expect(w.accepted && w.place == 0 && w.largest == 0);
	cr_assert_eq(lab_resource_write(again, 5, &w), 0);
	cr_expect(w.accepted && w.place == 1 && w.largest == 5);
	cr_assert_eq(lab_resource_write(r, 4, &w), 0);
	cr_expect(!w.accepted && w.place == 2 && w.largest == 5);
	cr_assert_eq(lab_resource_write(other, 4, &w), 0);
	cr_expect(w.accepted && w.place == 0);
	cr_expect_eq(lab_resource_accepted(r), 2);
	cr_expect_eq(lab_resource_refused(again), 1);
	lab_resource_close(r);
	lab_resource_close(again);
	lab_resource_close(other);
}

/* A worker of a lock made of flock(2) and a counter in a file. A broken worker
 * takes tokens, but no lock. */
struct worker {
	struct lab_history *h;
	struct lab_resource *resource;
	int lock;
	int counter;
	bool broken;
};

static uint64_t next_token(const struct worker *w)
{
	uint64_t token = 0;

	/* An append is atomic, and the size is a counter that only grows. */
	if (write(w->counter, "x", 1) == 1)
		token = (uint64_t)lseek(w->counter, 0, SEEK_CUR);
	return token;
}

static void work_once(struct worker *w)
{
	uint64_t op = lab_history_acquire(w->h, "l", LAB_MUTEX, 0, -1);
	struct lab_written written;
	uint64_t token;

	if (!w->broken)
		flock(w->lock, LOCK_EX);
	token = next_token(w);
	lab_history_acquired(w->h, op, DLOCK_OK, token, LAB_FOREVER);
	for (int i = 0; i < 3; i++) {
		lab_resource_write(w->resource, token, &written);
		lab_history_wrote(w->h, op, "l", token, &written);
	}
	lab_history_release(w->h, op, LAB_FOREVER);
	if (!w->broken)
		flock(w->lock, LOCK_UN);
	lab_history_released(w->h, op, DLOCK_OK);
}

static int open_in(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static pid_t start_worker(int times, bool broken)
{
	struct worker w = { .broken = broken };
	pid_t pid = fork();

	if (pid)
		return pid;
	w.h = lab_history_open(dir);
	w.resource = lab_resource_open(dir, "l");
	w.lock = open_in("lock");
	w.counter = open_in("counter");
	for (int i = 0; i < times; i++)
		work_once(&w);
	_exit(lab_history_close(w.h) < 0);
}

static void run_workers(int times, bool broken, struct lab_verdict *v)
{
	pid_t pids[4];
	int status;

	for (int i = 0; i < 4; i++)
		pids[i] = start_worker(times, broken);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
		cr_expect_eq(status, 0);
	}
	cr_assert_eq(lab_check_dir(dir, NULL, v), 0, "%s", lab_errmsg());
}

Test(history, processes_that_exclude_each_other_are_found_to)
{
	struct lab_verdict v;

	run_workers(500, false, &v);
	cr_expect_eq(v.violations, 0, "%s", v.words[0]);
	cr_expect_eq(v.granted, 2000);
	cr_expect_eq(v.accepted, 6000);
	cr_expect_eq(v.refused, 0);
}

Test(history, and_those_that_do_not_as_well)
{
	struct lab_verdict v;

	for (int i = 0; i < 20; i++) {
		run_workers(300, true, &v);
		if (v.broken[LAB_RULE_OVERLAP] && v.refused)
			break;
	}
	cr_expect_gt(v.broken[LAB_RULE_OVERLAP], 0);
	/* The resource kept the order of writers all the same. */
	cr_expect_gt(v.refused, 0);
	cr_expect_eq(v.broken[LAB_RULE_WRITER], 0, "%s", v.words[0]);
}

/* A killed worker loses the flock, and leaves a history with holes, but only
 * whole records. */
Test(history, workers_that_are_paused_and_killed)
{
	struct lab_history *h = begin();
	struct lab_verdict v;
	pid_t pids[3];

	for (int round = 0; round < 15; round++) {
		for (int i = 0; i < 3; i++)
			pids[i] = start_worker(1000000, false);
		lab_nap_ms(5);
		cr_assert_eq(lab_pause(pids[0]), 0, "%s", lab_errmsg());
		lab_history_process(h, LAB_PAUSED, pids[0]);
		lab_nap_ms(5);
		lab_history_process(h, LAB_RESUMED, pids[0]);
		cr_assert_eq(lab_resume(pids[0]), 0, "%s", lab_errmsg());
		lab_nap_ms(2);
		for (int i = 0; i < 3; i++) {
			kill(pids[i], SIGKILL);
			cr_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
			lab_history_process(h, LAB_KILLED, pids[i]);
		}
	}
	cr_assert_eq(lab_history_close(h), 0);
	cr_assert_eq(lab_check_dir(dir, NULL, &v), 0);
	cr_expect_gt(v.granted, 100);
	/* Another worker may be granted the lock between a death and the note
	 * of the death: an flock has no lease to tell. */
	cr_expect_eq(v.broken[LAB_RULE_WRITER], 0, "%s", v.words[0]);
	cr_expect_eq(v.broken[LAB_RULE_SHAPE], 0, "%s", v.words[0]);
	cr_expect_eq(v.broken[LAB_RULE_TOKEN], 0, "%s", v.words[0]);
}

static void *offer(void *resource)
{
	struct lab_written w;
	unsigned seed = (unsigned)(uintptr_t)&w;
	uint64_t last = 0;

	for (uint64_t i = 1; i <= 20000; i++) {
		uint64_t token = i / 16 + (uint64_t)rand_r(&seed) % 64 + 1;

		lab_resource_write(resource, token, &w);
		/* The largest token never becomes smaller. */
		if (w.largest < last || w.accepted != (token >= w.largest))
			return (void *)"broken";
		last = w.accepted ? token : w.largest;
	}
	return NULL;
}

Test(history, the_resource_keeps_order_among_threads)
{
	struct lab_resource *r = lab_resource_open(dir, "t");
	struct lab_written w;
	pthread_t threads[4];
	void *result;

	cr_assert(r);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, offer, r), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		cr_expect_null(result);
	}
	cr_expect_eq(lab_resource_accepted(r) + lab_resource_refused(r), 80000);
	cr_expect_gt(lab_resource_refused(r), 0);
	cr_expect_eq(lab_resource_write(r, UINT64_MAX, &w), 0);
	lab_resource_close(r);
}
