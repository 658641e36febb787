/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock-bench: what dlock costs, next to what the bare primitive costs.
 *
 * A bench is one file with one `struct bench`, listed in main.c.  It measures
 * with the parts declared here and in handoff.h, fills in a result, and hands
 * that to bench_emit().
 */
#ifndef DLOCK_BENCH_BENCH_H
#define DLOCK_BENCH_BENCH_H

#include <dlock/dlock.h>

#include <stddef.h>
#include <stdint.h>

struct bench_run;

struct bench {
	const char *name;     /* "file.pair": the store, what is done */
	const char *summary;  /* one line for --list */
	/* Measure, emit.  0, or what bench_fail() or bench_skip() returned. */
	int (*run)(struct bench_run *r);
};

extern const struct bench bench_mem_pair, bench_mem_handoff;
extern const struct bench bench_file_pair, bench_file_handoff;
extern const struct bench bench_redis_pair, bench_redis_handoff;
extern const struct bench bench_redis_contended, bench_redis_waiters;
extern const struct bench bench_redis_threads, bench_redis_holds;
extern const struct bench bench_memcached_pair, bench_memcached_handoff;
extern const struct bench bench_memcached_waiters, bench_memcached_threads;
extern const struct bench bench_zk_pair, bench_zk_handoff, bench_zk_waiters;
extern const struct bench bench_zk_threads, bench_zk_killed;
extern const struct bench bench_holds, bench_threads_mem, bench_open_close;

/* One bench under way. */
struct bench_run {
	const struct bench *bench;
	double seconds;       /* to spend on measuring, about */
	int check, json, pin; /* --check, --json, no --no-pin */
	int cpu;              /* all is pinned to this one; -1: it is not */
	const char *dir;      /* for files; private, removed at the end */
	uint64_t errors;      /* failed calls */
	int skipped;
	unsigned int emitted, judged, passed; /* results, and their limits */
};

/* ---- Outcomes ------------------------------------------------------------ */

/* Count a failed call and say what failed on standard error, the first time.
 * Returns -1. */
int bench_fail(struct bench_run *r, const char *fmt, ...) DLOCK_PRINTF(2, 3);

/* As bench_fail(), of a call that answered `rc`: adds dlock's own message. */
int bench_fail_dlock(struct bench_run *r, int rc, const char *doing);

/* This machine lacks what the bench needs: neither good nor bad.  Returns 1. */
int bench_skip(struct bench_run *r, const char *fmt, ...) DLOCK_PRINTF(2, 3);

/* ---- Results ------------------------------------------------------------- */

#define BENCH_NONE (-1.0) /* a figure that there is not; shown as null */

/* A promise about a figure: value <= target.  --check fails above `guard`,
 * which leaves room for a machine that does something else meanwhile. */
struct bench_limit {
	const char *of;
	double value, target, guard;
	enum {
		BENCH_ALWAYS, /* counts that nothing excuses */
		BENCH_PLAIN,  /* not judged under a sanitizer */
		BENCH_TIME    /* nor in a build without optimisation */
	} when;
};

struct bench_extra {
	const char *name;
	double value;
	const char *text;     /* instead of value, if not NULL */
};

/* Start from BENCH_RESULT_INIT. */
struct bench_result {
	const char *unit;     /* says what `ratio` is, too */
	double value, floor, ratio, p50, p99;
	size_t samples;
	struct bench_extra extra[16];
	size_t n_extras;
	struct bench_limit limit[6];
	size_t n_limits;
};

#define BENCH_RESULT_INIT(unit)                                               \
	{ (unit), BENCH_NONE, BENCH_NONE, BENCH_NONE, BENCH_NONE, BENCH_NONE, \
	  0, { { 0 } }, 0, { { 0 } }, 0 }

void bench_extra(struct bench_result *res, const char *name, double value);
void bench_text(struct bench_result *res, const char *name, const char *text);
void bench_limit(struct bench_result *res, struct bench_limit limit);

/* Print it, and judge its limits.  A run may emit several results. */
void bench_emit(struct bench_run *r, const struct bench_result *res);

/* How a run ended, after its results. */
void bench_emit_end(const struct bench_run *r, const char *verdict);

/* ---- Samples ------------------------------------------------------------- */

/* As many of the first samples as there is room for; zeroed: empty. */
struct bench_samples {
	double *v;
	size_t n, room;
};

/* 0, or -1 without memory.  All of it is touched, so that adding does not
 * fault. */
int bench_samples_init(struct bench_samples *s, size_t room);
void bench_samples_free(struct bench_samples *s);
void bench_sample(struct bench_samples *s, double value);

/* The smallest sample that `percent` of them do not exceed; sorts them.
 * BENCH_NONE of none. */
double bench_percentile(struct bench_samples *s, double percent);

/* ---- Pairs: take and give back, over and over ---------------------------- */

/* One round: 0, or what bench_fail() returned. */
struct bench_op {
	int (*pair)(void *arg);
	void *arg;
};

/*
 * Time `ours` against `floor` in turns, r->seconds long in all.  Sets every
 * figure of `res`, in nanoseconds: value, floor and ratio are medians over the
 * rounds, of whole batches; p50 and p99 are of single pairs, and hold one
 * reading of the clock each, whose cost is given as clock_ns.
 */
int bench_pairs(struct bench_run *r, struct bench_op floor,
		struct bench_op ours, struct bench_result *res);

/* ---- A lock of dlock's --------------------------------------------------- */

struct bench_lock {
	struct bench_run *run;
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;
	int borrowed;         /* client and lock are another's */
};

/* Open `uri` and a mutex in it; takes it once, to see that it works and has a
 * token.  A store that is not built in is skipped. */
int bench_lock_open(struct bench_lock *l, struct bench_run *r, const char *uri);
void bench_lock_close(struct bench_lock *l);

int bench_lock_take(struct bench_lock *l); /* waits for 10 s at most */
int bench_lock_give(struct bench_lock *l);
int bench_lock_pair(void *lock);           /* for a struct bench_op */

/* ---- The machine --------------------------------------------------------- */

int64_t bench_now(void); /* CLOCK_MONOTONIC, ns: the same in all processes */

/* Is it past `until`, or has the user had enough? */
int bench_over(int64_t until);
void bench_sleep(int64_t ns);

/* Pin the calling thread, and the threads and processes that it starts from now
 * on, to one CPU: on a virtual machine, waking another CPU costs ten times the
 * rest, and would be all that is measured.  main() undoes it. */
void bench_pin(struct bench_run *r);

/* Text is the caller's to free; NULL without memory. */
char *bench_path(const struct bench_run *r, const char *name);
char *bench_file_uri(const struct bench_run *r);

/* "ext4", or the file system's magic number. */
const char *bench_file_system(const char *path);

/* Why times say nothing in this build, or NULL. */
const char *bench_no_time(void);
const char *bench_sanitizer(void);

#endif
