/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"
#include "bench/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define ROUNDS 11
#define SAMPLES 100000
#define ANSWER_NS (10000 * MS)
#define LOOK_NS 100000 /* between two looks whether the waiter sleeps */

struct holder {
	struct handoff_party party;
	uint32_t ordered; /* takes, so far */
	int stat_fd;      /* the waiter's in /proc */
	struct bench_samples rounds[2], all[2], ratios;
};

/* ---- One hand-off -------------------------------------------------------- */

static void order(struct holder *h, enum handoff_order what)
{
	struct handoff_shared *shared = h->party.shared;

	shared->order = what;
	mailbox_post(&shared->to_waiter);
}

/* A user who has had enough is no failure. */
static int stuck(struct holder *h, const char *text)
{
	return bench_stopped ? -1 : bench_fail(h->party.run, "%s", text);
}

/* Hear that it is done. */
static int answer(struct holder *h)
{
	struct handoff_shared *shared = h->party.shared;

	if (mailbox_wait(&shared->to_holder, ANSWER_NS) != 0)
		return stuck(h, "the waiter does not answer");
	if (shared->rc < 0 && !h->party.plan->threads)
		bench_fail(h->party.run, "the waiter failed");
	return shared->rc;
}

static int asleep(const struct holder *h)
{
	char text[256];
	ssize_t n = pread(h->stat_fd, text, sizeof(text) - 1, 0);
	const char *end;

	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* Until the waiter is in its take and sleeps there, by three looks in a row. */
static int until_blocked(struct holder *h)
{
	int64_t until = bench_now() + ANSWER_NS;
	int looks = 0;

	while (looks < 3) {
		if (bench_over(until))
			return stuck(h, "the waiter does not come to wait");
		bench_sleep(LOOK_NS);
		if (atomic_load(&h->party.shared->entered) != h->ordered ||
		    !asleep(h))
			looks = 0;
		else
			looks++;
	}
	return 0;
}

/* Hold, make it wait for `wait_ns` more, give.  -1, or the time it took. */
static int64_t hand_off(struct holder *h, int which, int64_t wait_ns)
{
	const struct handoff_kind *kind = handoff_kind_of(&h->party, which);
	void *lock = h->party.lock[which];
	int64_t begin;

	if (kind->take(lock) != 0)
		return -1;
	h->party.shared->which = which;
	h->ordered++;
	order(h, HANDOFF_TAKE);
	if (until_blocked(h) != 0) {
		kind->give(lock);
		return -1;
	}
	if (wait_ns > 0)
		bench_sleep(wait_ns);
	begin = bench_now();
	if (kind->give(lock) != 0 || answer(h) != 0)
		return -1;
	return h->party.shared->taken_at - begin;
}

/* ---- Rounds -------------------------------------------------------------- */

/* As many as fit into `ns`, five at least; their median. */
static int round_of(struct holder *h, int which, int64_t ns, double *median)
{
	struct bench_samples round;
	int64_t until = bench_now() + ns;
	int rc = bench_samples_init(&round, 4096);

	if (rc != 0)
		return bench_fail(h->party.run, "out of memory");
	while (rc == 0 && (round.n < 5 || !bench_over(until))) {
		int64_t took = hand_off(h, which, h->party.plan->settle_ns);

		if (took < 0) {
			rc = -1;
			break;
		}
		bench_sample(&round, (double)took);
		bench_sample(&h->all[which], (double)took);
	}
	*median = bench_percentile(&round, 50);
	bench_samples_free(&round);
	return rc;
}

static int rounds(struct holder *h)
{
	int64_t ns =
		(int64_t)(h->party.run->seconds * 1e9 / (2 * (ROUNDS + 1)));
	int rc = 0;

	/* The first is to warm up. */
	for (int i = 0; i <= ROUNDS && rc == 0 && !bench_stopped; i++) {
		double median[2];

		for (int j = 0; j < 2 && rc == 0; j++)
			rc = round_of(h, (i + j) % 2, ns, &median[(i + j) % 2]);
		if (i == 0) {
			h->all[0].n = h->all[1].n = 0;
		} else if (rc == 0) {
			bench_sample(&h->rounds[0], median[0]);
			bench_sample(&h->rounds[1], median[1]);
			bench_sample(&h->ratios, median[1] / median[0]);
		}
	}
	return rc;
}

static int idle(struct holder *h, struct bench_result *res)
{
	const struct handoff_idle *idle = &h->party.shared->idle;
	double seconds = h->party.run->seconds;
	double attempts;

	if (seconds > 2)
		seconds = 2;
	if (hand_off(h, HANDOFF_OURS, (int64_t)(seconds * 1e9)) < 0)
		return -1;
	seconds = (double)idle->ns / 1e9;
	/* The one that found it busy and the one that got it are no polls. */
	attempts = (double)idle->attempts - 2;
	bench_extra(res, "waited_s", seconds);
	bench_extra(res, "attempts_per_s",
		    attempts > 0 ? attempts / seconds : 0);
	bench_extra(res, "polls_per_s", (double)idle->polls / seconds);
	bench_extra(res, "wakeups_per_s", (double)idle->wakeups / seconds);
	return 0;
}

static void figures(struct holder *h, struct bench_result *res)
{
	struct bench_samples *floor = &h->all[HANDOFF_FLOOR];
	struct bench_samples *ours = &h->all[HANDOFF_OURS];

	res->value = bench_percentile(&h->rounds[HANDOFF_OURS], 50);
	res->floor = bench_percentile(&h->rounds[HANDOFF_FLOOR], 50);
	res->ratio = bench_percentile(&h->ratios, 50);
	res->p50 = bench_percentile(ours, 50);
	res->p99 = bench_percentile(ours, 99);
	res->samples = ours->n;
	bench_extra(res, "floor_p50", bench_percentile(floor, 50));
	bench_extra(res, "floor_p99", bench_percentile(floor, 99));
	bench_extra(res, "floor_samples", (double)floor->n);
	bench_extra(res, "rounds", (double)h->ratios.n);
}

static int measure(struct holder *h, struct bench_result *res)
{
	struct handoff_shared *shared = h->party.shared;
	char path[64];
	int rc;

	rc = handoff_open(&h->party);
	if (rc == 0) {
		order(h, HANDOFF_OPEN);
		rc = answer(h);
	}
	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/stat",
		 (long)shared->pid, (long)shared->tid);
	h->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (h->stat_fd < 0)
		return bench_skip(h->party.run, "%s: %s", path,
				  strerror(errno));
	rc = rounds(h);
	if (rc == 0) {
		figures(h, res);
		if (!h->party.plan->threads)
			rc = idle(h, res);
	}
	close(h->stat_fd);
	return rc;
}

/* ---- The two parties ----------------------------------------------------- */

static void *thread_main(void *waiter)
{
	handoff_wait(waiter);
	return NULL;
}

static int with_thread(struct holder *h, struct handoff_party *waiter,
		       struct bench_result *res)
{
	pthread_t thread;
	int rc;

	waiter->other = &h->party;
	rc = pthread_create(&thread, NULL, thread_main, waiter);
	if (rc != 0)
		return bench_fail(h->party.run, "pthread_create: %s",
				  strerror(rc));
	rc = measure(h, res);
	order(h, HANDOFF_QUIT);
	pthread_join(thread, NULL);
	return rc;
}

/* The child is made while this process has no client and no other thread. */
static int with_process(struct holder *h, struct handoff_party *waiter,
			struct bench_result *res)
{
	pid_t parent = getpid();
	pid_t child = fork();
	int rc;

	if (child < 0)
		return bench_fail(h->party.run, "fork: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			handoff_wait(waiter);
		_exit(0);
	}
	rc = measure(h, res);
	/* One that waits for a lock does not see the order. */
	if (rc < 0)
		kill(child, SIGKILL);
	order(h, HANDOFF_QUIT);
	waitpid(child, NULL, 0);
	return rc;
}

static int samples_init(struct holder *h)
{
	int rc = bench_samples_init(&h->ratios, ROUNDS);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = bench_samples_init(&h->rounds[i], ROUNDS);
		if (rc == 0)
			rc = bench_samples_init(&h->all[i], SAMPLES);
	}
	return rc;
}

int handoff_measure(struct bench_run *r, const struct handoff *plan,
		    struct bench_result *res)
{
	struct handoff_shared *shared = mmap(NULL, sizeof(*shared),
					     PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct holder h = { .party = { r, plan, shared, NULL, { 0 } },
			    .stat_fd = -1 };
	struct handoff_party waiter = h.party;
	int rc;

	if (shared == MAP_FAILED)
		return bench_fail(r, "mmap: %s", strerror(errno));
	bench_pin(r);
	if (samples_init(&h) != 0)
		rc = bench_fail(r, "out of memory");
	else if (plan->threads)
		rc = with_thread(&h, &waiter, res);
	else
		rc = with_process(&h, &waiter, res);
	handoff_close(&h.party);
	for (int i = 0; i < 2; i++) {
		bench_samples_free(&h.rounds[i]);
		bench_samples_free(&h.all[i]);
	}
	bench_samples_free(&h.ratios);
	munmap(shared, sizeof(*shared));
	return rc;
}
