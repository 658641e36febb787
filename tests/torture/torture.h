/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture: play a scene again and again, and let the first, the second, the
 * third ... allocation or system call fail.
 *
 * The linker sends the library's calls through seam.c: see --wrap in ld(1).
 *
 * The stores have no server.  With the other stores allocations fail in
 * the simulation (dlock-sim-process --scarce), and calls on sockets in
 * tests/loop.
 */
#ifndef DLOCK_TESTS_TORTURE_H
#define DLOCK_TESTS_TORTURE_H

#include <dlock/async.h>
#include <pthread.h>

/* ---- The seam: seam.c ---------------------------------------------------- */

enum seam {
	SEAM_NONE,
	SEAM_MEMORY, /* malloc, calloc, realloc, strdup, asprintf, tsearch... */
	SEAM_GETRANDOM,
	SEAM_TIMERFD,
	SEAM_EVENTFD,
	SEAM_EPOLL_CREATE,
	SEAM_EPOLL_CTL,
	SEAM_THREAD,
	SEAM_MMAP,
	SEAM_MADVISE
};

/* Have the k-th call from now fail with errnum; `all`: and all later calls. */
void seam_arm(enum seam seam, long k, int errnum, int all);

/* Let no call fail from now on.  Return whether a call failed. */
int seam_disarm(void);

/* Blocks of the library that are not freed. */
long seam_blocks(void);

/* pthread_create() without planned failures. */
int seam_thread(pthread_t *out, void *(*run)(void *arg), void *arg);

/* ---- Scenes: play.c, scenes.c -------------------------------------------- */

/* The course of a scene. */
struct play {
	const char *uri;
	int failed;       /* calls with a wrong answer */
	int hurt;         /* calls with an answer of `codes` */
	const int *codes; /* possible answers to a failure, and 0 */
	char text[300];   /* about the first of `failed` */
};

struct scene {
	const char *name;
	void (*play)(struct play *p);
	const char *scheme; /* the only scheme of the scene, or NULL */
};

extern const struct scene scenes[]; /* ends in {0} */

/* Check that `rc` is `want`, or a code explained by the failure.  1: `want`. */
int may(struct play *p, const char *call, int rc, int want);
void must(struct play *p, const char *what, int is_so);

#define MAY(p, call, want) may(p, #call, call, want)
#define MUST(p, what) must(p, #what, what)

dlock_client *open_it(struct play *p);        /* NULL: it failed */
void release(struct play *p, dlock_hold *h); /* which may be NULL */

/* The end of an asynchronous call: written by the callback, once. */
struct answer {
	int over, rc;
	dlock_hold *hold;
};

void answered(const struct dlock_result *r, void *arg); /* calls.c */

/* Return the code of the call's end; a call that does not end is a failure. */
int outcome(struct play *p, dlock_client *c, struct answer *a);

void give_back(struct play *p, dlock_client *c, dlock_hold *h); /* calls.c */

void play_async(struct play *p);  /* calls.c */
void play_async_multi(struct play *p);
void play_wanted(struct play *p); /* calls.c */
void play_options(struct play *p); /* calls.c */
void play_upgrade(struct play *p); /* more_calls.c */
void play_async_questions(struct play *p);
void play_async_close(struct play *p);
void play_async_open(struct play *p); /* more_calls.c */

int scene_is_for(const struct scene *s, const char *uri);

/* ---- Results: main.c ----------------------------------------------------- */

struct leaks {
	long blocks;
	int fds, threads;
};

struct leaks leaks_now(void);

/* Count a result and print it, with `text` if it is a failure. */
void passed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void skipped(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Play until the scene gets through without a failure; 0, or -1. */
int torture(const struct scene *scene, const char *uri, enum seam seam,
	    int errnum, const int *codes, const char *what);

void torture_memory(const char *uri);   /* oom.c */
void torture_register(void);            /* oom.c */
void torture_syscalls(const char *uri); /* syscalls.c */
void torture_marker(void);              /* syscalls.c; in a fresh process */

#endif
