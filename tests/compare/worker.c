/* SPDX-License-Identifier: Apache-2.0 */
/* The log of workers. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/history/check.h"
#include "lab/worker/order.h"
#include "temp.h"

#define TTL_MS 300

struct worker {
	pthread_t thread;
	int ours, its;
};

static char dir[PATH_MAX];
static struct lab_history *history;

static void set_up(void)
{
	cr_assert_eq(fake_register(), 0);
	cr_assert_eq(temp_make(dir), 0);
	history = lab_history_open(dir);
	cr_assert(history, "%s", lab_errmsg());
}

TestSuite(worker, .init = set_up, .timeout = 60);

static void *work(void *arg)
{
	struct worker *w = arg;

	lab_work(w->its, history);
	return NULL;
}

static struct lab_reply hear_any(struct worker *w)
{
	struct lab_reply r;

	cr_assert_eq(recv(w->ours, &r, sizeof(r), 0), (ssize_t)sizeof(r));
	return r;
}

static void hear(struct worker *w)
{
	struct lab_reply r = hear_any(w);

	cr_assert_eq(r.rc, DLOCK_OK, "%s", r.text);
}

static void tell(struct worker *w, struct lab_order e)
{
	cr_assert_eq(send(w->ours, &e, sizeof(e), 0), (ssize_t)sizeof(e));
}

static void start(struct worker *w, const char *label)
{
	struct lab_hello hello = { .parent = getpid() };
	int fd[2];

	snprintf(hello.uri, sizeof(hello.uri), "fake:?ttl=%dms&ask=20ms",
		 TTL_MS);
	snprintf(hello.dir, sizeof(hello.dir), "%.500s", dir);
	snprintf(hello.label, sizeof(hello.label), "%s", label);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);
	w->ours = fd[0];
	w->its = fd[1];
	cr_assert_eq(pthread_create(&w->thread, NULL, work, w), 0);
	send(w->ours, &hello, sizeof(hello), 0);
	hear(w);
}

static void quit(struct worker *w)
{
	tell(w, (struct lab_order){ .verb = LAB_DO_QUIT });
	pthread_join(w->thread, NULL);
	close(w->ours);
	close(w->its);
}

/* Take both, once, and keep them for so long. */
static struct lab_order both(int64_t hold_ms)
{
	return (struct lab_order){ .verb = LAB_DO_MULTI,
				   .timeout_ms = 10000,
				   .run_ms = 1,
				   .hold_us = hold_ms * 1000,
				   .name = "x",
				   .other = "y" };
}

static void judge(struct lab_verdict *v)
{
	/* Lateness on a busy machine is not judged here. */
	const struct lab_check check = { .slack_ns = 30000 * LAB_MS };
	char text[4096];

	cr_assert_eq(lab_history_close(history), 0);
	cr_assert_eq(lab_check_dir(dir, &check, v), 0);
	lab_verdict_print(v, text, sizeof(text));
	cr_assert_eq(v->violations, 0, "%s", text);
}

Test(worker, tells_of_the_leases_of_a_multi_lock_at_its_release)
{
	struct lab_record *all;
	struct lab_verdict v;
	struct worker a;
	size_t n, releases = 0;

	start(&a, "A");
	tell(&a, both(2 * TTL_MS));
	hear(&a);
	quit(&a);
	cr_assert_eq(lab_history_load(dir, &all, &n), 0);
	for (size_t i = 0; i < n; i++) {
		if (all[i].what != LAB_RELEASE)
			continue;
		releases++;
		cr_expect_leq(all[i].until, all[i].at + TTL_MS * LAB_MS,
			      "a promise for ever");
	}
	free(all);
	cr_assert_eq(releases, 2);
	judge(&v);
	cr_assert_eq(v.granted, 2);
}

/* A grant by surprise, and then a second try: for the history, a second hold of
 * the same lock. */
Test(worker, does_not_take_what_it_holds)
{
	const struct lab_order take = { .verb = LAB_DO_ACQUIRE, .name = "x" };
	struct lab_reply again;
	struct lab_verdict v;
	struct worker a;

	start(&a, "A");
	tell(&a, take);
	hear(&a);
	tell(&a, take);
	again = hear_any(&a);
	cr_assert_eq(again.rc, DLOCK_EINVAL);
	cr_assert_str_eq(again.text, "this worker holds a lock");
	tell(&a, (struct lab_order){ .verb = LAB_DO_RELEASE });
	hear(&a);
	quit(&a);
	judge(&v);
	cr_assert_eq(v.granted, 1);
}

/* Like a worker that is stopped meanwhile. */
Test(worker, may_keep_a_multi_lock_past_its_lease)
{
	struct lab_verdict v;
	struct worker a, b;

	start(&a, "A");
	start(&b, "B");
	FAKE_SCRIPT(fake_store(""), FAKE_RENEW, .fault = FAKE_REFUSE,
		    .times = FAKE_ALWAYS);
	tell(&a, both(4 * TTL_MS));
	while (fake_count(fake_store(""), FAKE_ATTEMPT) < 2)
		lab_nap_ms(1);
	tell(&b, both(1));
	hear(&b);
	hear(&a);
	quit(&a);
	quit(&b);
	judge(&v);
	cr_assert_eq(v.granted, 4);
	cr_assert_geq(v.lost, 2, "nobody said so");
}
