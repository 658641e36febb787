/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock-bench: the costs of dlock, next to the costs of the bare primitive.
 *
 * A bench is a row of table.c: a workload (workloads/) on a store, beside a
 * floor of that store (floors/), and the targets.  Each bench runs in a process
 * of its own: a failed call ends the process, so that callers need not check.
 */
#ifndef DLOCK_BENCH_BENCH_H
#define DLOCK_BENCH_BENCH_H

#include <dlock/dlock.h>

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_store;
struct lock_ops;
struct store_desc;

/* A promise about a figure: figure <= target; is_least: figure >= target.
 * --check fails beyond `guard`, which leaves room for other work on the
 * machine. */
struct bench_target {
	const char *name;
	double target, guard;
	enum {
		BENCH_ALWAYS, /* counts: judged always */
		BENCH_PLAIN,  /* not judged under a sanitizer */
		BENCH_TIME    /* nor in a build without optimisation */
	} when;
	const char *figure;   /* the figure to judge; NULL: the figure `name` */
	double unit;          /* in this unit; 0: 1 */
	int is_least;         /* the figure should be large */
};

struct bench_case {
	unsigned int n;       /* clients, threads, waiters, holds ... */
	const struct store_desc *store; /* NULL: the bench's */
	int variant;          /* of the store: see store.h */
	int hold_ms;          /* how long the lock is held; 0: long */
	int long_only;        /* left out with --check */
	struct bench_target target[5]; /* the last has no name */
};

struct workload {
	void (*measure)(struct bench_store *s, const struct bench_case *c);
	int pin;              /* all on one CPU, the store's server, too */
	int together;         /* `c` is the first case; all take turns */
};

extern const struct workload workload_pair, workload_handoff;
extern const struct workload workload_parked;
extern const struct workload workload_contended, workload_threads;
extern const struct workload workload_waiters, workload_poll_handoff;
extern const struct workload workload_poll_requests, workload_holds;
extern const struct workload workload_killed, workload_open_close;
extern const struct workload workload_passes, workload_keep, workload_recall;
extern const struct workload workload_pending, workload_served;
extern const struct workload workload_pairs;
extern const struct workload workload_revoke, workload_revoke_many;
extern const struct workload workload_revoke_permits;

struct bench {
	const char *name;     /* "file.pair": store and workload */
	const char *summary;  /* a line for --list */
	const char *unit;     /* tells the meaning of `ratio`, too */
	const struct workload *workload;
	const struct store_desc *store;
	const struct lock_ops *floor, *recipe;
	int ttl_ms;           /* in the URI; 0: the store's default */
	const char *query;    /* behind the URI, if there is no ttl_ms */
	struct bench_case cases[5]; /* the last has n == 0 */
};

extern const struct bench bench_table[]; /* the last has no name */

/* The bench under way, in memory shared by all processes of the bench. */
struct bench_run {
	const struct bench *bench;
	double seconds;       /* to spend on measuring, about */
	int check, json, pin; /* --check, --json, no --no-pin */
	int cpu;              /* all is pinned to this CPU; -1: not pinned */
	_Atomic unsigned int errors; /* failed calls */
	int skipped;
	unsigned int emitted, judged, passed; /* results, and their targets */
};

extern struct bench_run *run;

/* ---- Outcomes ------------------------------------------------------------ */

/* Report a failed call on standard error, if it is the first, and end this
 * process. */
_Noreturn void bench_fail(const char *fmt, ...) DLOCK_PRINTF(1, 2);

/* Do as bench_fail() for a call that answered `rc`: adds dlock's own
 * message. */
_Noreturn void bench_fail_dlock(int rc, const char *doing);

/* Skip the bench: this machine lacks a part that the bench needs. */
_Noreturn void bench_skip(const char *fmt, ...) DLOCK_PRINTF(1, 2);

static inline void bench_check(int rc, const char *doing)
{
	if (rc != 0)
		bench_fail_dlock(rc, doing);
}

/* Check, in a wait for others: fails if `until` is past, ends if another
 * process has failed. */
void bench_wait(int64_t until, const char *what);

void *bench_alloc(size_t n, size_t size); /* zeroed; to be freed */
void *bench_shared(size_t size);          /* with forked processes; munmap() */
void bench_thread(pthread_t *thread, void *(*main)(void *), void *arg);

/* ---- Results ------------------------------------------------------------- */

#define BENCH_NONE (-1.0) /* no such figure; shown as null */

struct bench_extra {
	char name[32];
	double value;
	const char *text;     /* instead of value, if not NULL */
};

/* Start from BENCH_RESULT. */
struct bench_result {
	double value, floor, ratio, p50, p99;
	size_t samples, n_extras;
	struct bench_extra extra[16];
};

#define BENCH_RESULT                                                          \
	((struct bench_result){ .value = BENCH_NONE, .floor = BENCH_NONE,     \
				.ratio = BENCH_NONE, .p50 = BENCH_NONE,       \
				.p99 = BENCH_NONE })

/* The name is printed. */
DLOCK_PRINTF(3, 4) void bench_extra(struct bench_result *res, double value,
				    const char *fmt, ...);
void bench_text(struct bench_result *res, const char *name, const char *text);

/* Print the result, and judge it by the targets of `c`; NULL: no targets. */
void bench_emit(const struct bench_result *res, const struct bench_case *c);
void bench_emit_head(void);

/* ---- Samples ------------------------------------------------------------- */

/* As many of the first samples as there is room for. */
struct bench_samples {
	double *v;
	size_t n, room;
};

/* Touches all of the memory, so that adding does not fault. */
struct bench_samples bench_samples(size_t room);
void bench_samples_free(struct bench_samples *s);
void bench_sample(struct bench_samples *s, double value);

/* Return the smallest sample that `percent` of the samples do not exceed; sorts
 * them.  BENCH_NONE without samples. */
double bench_percentile(struct bench_samples *s, double percent);

/* These free the samples: the median; value, p50, p99, samples of `res`. */
double bench_median(struct bench_samples *s);
void bench_samples_figures(struct bench_samples *s, struct bench_result *res);

/* Floor and dlock by turns: a figure a round, and single operations. */
enum { BENCH_FLOOR, BENCH_OURS };

struct bench_turns {
	struct bench_samples round[2], ratio, single[2];
};

struct bench_turns bench_turns(size_t rounds, size_t singles);
void bench_turn(struct bench_turns *t, const double figure[2]);

/* Value, floor and ratio of `res` are the medians of the rounds. */
void bench_turns_figures(struct bench_turns *t, struct bench_result *res);

/* ---- The machine --------------------------------------------------------- */

#define BENCH_MS INT64_C(1000000)

int64_t bench_now(void); /* CLOCK_MONOTONIC, ns: the same in all processes */
void bench_sleep(int64_t ns);

/* Pin the calling thread, and the threads and processes that it starts from now
 * on, to one CPU: on a virtual machine, waking another CPU costs ten times the
 * rest, and would dominate the figures. */
void bench_pin(void);

/* Does the thread of which `stat_fd` is open sleep?  bench_open_stat() opens
 * /proc/PID/task/TID/stat, or skips the bench. */
int bench_open_stat(pid_t pid, pid_t tid);
int bench_is_asleep(int stat_fd);

/* The memory of this process, in bytes. */
struct bench_memory {
	double heap, resident;
};

struct bench_memory bench_memory(void);

/* "ext4", or the file system's magic number. */
const char *bench_file_system(const char *path);

#endif
