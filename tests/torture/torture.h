/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture: play a scene over and over, each time with one more allocation, or
 * one more system call, gone well before one fails.
 *
 * The linker sends the library's calls through seam.c: see --wrap in ld(1).
 * Those of the servers' client libraries stay as they are.
 *
 * torture         on the stores that need no server
 * torture server  on that of $DLOCK_TEST_URIS
 */
#ifndef DLOCK_TESTS_TORTURE_H
#define DLOCK_TESTS_TORTURE_H

#include <dlock/dlock.h>
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
	SEAM_SOCKET,
	SEAM_CONNECT,
	SEAM_SETSOCKOPT,
	SEAM_SEND,
	SEAM_RECV,
	SEAM_MMAP,
	SEAM_MADVISE
};

/* The k-th call from now fails with errnum; `all`: those after it, too. */
void seam_arm(enum seam seam, long k, int errnum, int all);

/* Did one fail?  None will from now on. */
int seam_disarm(void);

/* Blocks that the library has and has not freed. */
long seam_blocks(void);

/* pthread_create() that never fails on purpose. */
int seam_thread(pthread_t *out, void *(*run)(void *arg), void *arg);

/* ---- Scenes: play.c, scenes.c -------------------------------------------- */

/* What a scene met. */
struct play {
	const char *uri;
	int failed;       /* calls that answered what they may not */
	int hurt;         /* calls that answered one of the codes below */
	const int *codes; /* what a failure may be answered with, ends in 0 */
	char text[300];   /* about the first of `failed` */
};

struct scene {
	const char *name;
	void (*play)(struct play *p);
	const char *scheme; /* the only one that it is for, or NULL */
};

extern const struct scene scenes[]; /* ends in {0} */

/* `rc` may be `want`, or a code that the failure explains.  1: it is `want`. */
int may(struct play *p, const char *call, int rc, int want);
void must(struct play *p, const char *what, int is_so);

#define MAY(p, call, want) may(p, #call, call, want)
#define MUST(p, what) must(p, #what, what)

dlock_client *open_it(struct play *p);        /* NULL: it failed */
void release(struct play *p, dlock_hold *h); /* which may be NULL */

/* What a release returned.  What the store could not be told for want of memory
 * is told later. */
int released(const struct play *p, int rc, const char *why);

void play_async(struct play *p);  /* calls.c */
void play_async_multi(struct play *p);
void play_wanted(struct play *p); /* calls.c */
void play_options(struct play *p); /* calls.c */

int scene_is_for(const struct scene *s, const char *uri);

/* ---- Results: main.c ----------------------------------------------------- */

struct leaks {
	long blocks;
	int fds, threads;
};

struct leaks leaks_now(void);

/* Count a result and print it.  `text` is printed of what failed. */
void passed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void skipped(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Play until the scene gets through without a failure; 0, or -1. */
int torture(const struct scene *scene, const char *uri, enum seam seam,
	    int errnum, const int *codes, const char *what);

void torture_memory(const char *uri);   /* oom.c */
void torture_name(const char *uri);     /* oom.c; of a server */
void torture_register(void);            /* oom.c */
void torture_syscalls(const char *uri); /* syscalls.c */
void torture_sockets(const char *uri);  /* syscalls.c; of a server */
void torture_marker(void);              /* syscalls.c; in a fresh process */

#endif
