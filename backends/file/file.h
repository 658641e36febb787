/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file store from inside.
 *
 * A lock is a file; what is locked are bytes of it, by open file description
 * (F_OFD_SETLK, never the form that blocks), and the kernel drops the locks of
 * a process that dies.  Bytes lie far beyond the end of the file:
 *
 *   MAIN   a mutex, the writer (exclusive), the readers (shared)
 *   GATE   kept by the first writer that waits: readers that come later stand
 *          behind it
 *   SEAL   held for microseconds while shares are given out
 *   PASS   shared by readers that have found the gate's keeper stopped: others
 *          follow them
 *   SEATS  one for each share: the permits of a semaphore, and of up to
 *          FILE_SEATS readers, so that inspect() can tell who lives
 *   BENCH  one for each of up to FILE_BENCH waiters, likewise
 *
 * How a waiter is woken, and how a holder knows without a system call that
 * nobody waits: bell.c.
 */
#ifndef DLOCK_BACKENDS_FILE_FILE_H
#define DLOCK_BACKENDS_FILE_FILE_H

#include "state.h"

#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define FILE_MAIN ((off_t)1 << 32)
#define FILE_GATE (FILE_MAIN + 1)
#define FILE_SEAL (FILE_MAIN + 2)
#define FILE_PASS (FILE_MAIN + 3)
#define FILE_SEAT0 ((off_t)1 << 33)
#define FILE_SEAT_BYTES ((off_t)1 << 32)
#define FILE_BENCH0 (FILE_SEAT0 + FILE_SEAT_BYTES)

#define FILE_FREE_FDS 4    /* kept open per name for the next acquire */
#define FILE_IDLE_NAMES 32 /* kept open per session */

struct file_list {
	struct file_ticket *head;
};

/*
 * One lock file as this session has it open: an inode, not a name.  When the
 * file is removed or replaced it is made stale and leaves the table; a new
 * file_name takes its place, and this one goes with its last ticket.
 *
 * refs, pass and the links: under session->mu.  stale and wd are read under
 * either mutex and written under both.  The rest from `mu` on: under mu, which
 * is taken before session->mu and never after it.
 */
struct file_name {
	struct file_session *session;
	const char *file;         /* within the directory */
	const char *path;         /* the whole of it */
	const char *key;
	uint32_t hash;
	unsigned int refs;
	uint64_t pass;            /* the sweep that met it last */
	struct file_name *by_key, *by_wd;  /* next in their buckets */
	struct file_name *idle_prev, *idle_next;

	pthread_mutex_t mu;
	int opened;               /* dev and ino are known */
	int stale;                /* `path` is another file now, or none */
	int pin;                  /* never closed before; locks BENCH only */
	uint64_t benched;         /* the bytes of it that are locked */
	dev_t dev;
	ino_t ino;
	int wd;                   /* inotify watch, or -1 */
	uint32_t hears;           /* what the watch is for */
	int fds[FILE_FREE_FDS];
	unsigned int n_fds;

	unsigned int held;        /* tickets that lock any byte */
	int contended;            /* someone may wait for us: ring at release */
	int unrung;               /* released without ringing since */
	dlk_time settle_until;    /* there was a ring a moment ago */
	struct file_list waiting, holding;
	unsigned int round;       /* of waking those who wait */
	unsigned int knocks;

	int known;                /* the header is that of this lock */
	int quiet_wd;             /* inotify watch of quiet.c, or -1 */
	uint32_t quiet_what;      /* ... for FILE_WRITTEN, or just removal */
	uint64_t looked;          /* session->changes before we looked at the
				   * file and its path; 0: not to be used */
	/* Tokens that the file says are ours, if it is still so. */
	uint64_t seq, next, last;
	uint64_t batch, streak, drawn_us;
	uint32_t seat;            /* the one used last */
};

/* That nothing can be watched is said once, and never with a lock held. */
enum file_warning { FILE_WARN_NONE, FILE_WARN_WRITTEN, FILE_WARN_DUE,
		    FILE_WARN_SAID };

/*
 * mu protects the tables of names, `idle` and the start of the watcher.
 */
struct file_session {
	struct dlk_session base;
	char *dir;
	char *prefix;             /* of every file, with a dot */
	int dirfd;                /* the number stays; dup3() may change what
				   * it means */
	int remote_ok, sync;
	uint64_t id;              /* random, no secret */

	pthread_mutex_t mu;
	struct file_name **by_key, **by_wd;
	size_t n_buckets, n_names;
	size_t sweep, sweep_size; /* of dlki_file_name_next() */
	uint64_t pass;
	struct file_name *idle_first, *idle_last;
	unsigned int n_idle;

	int watching;             /* 0 not yet, 1 yes, -1 cannot */
	int inotify, guard;
	pthread_t watcher;
	_Atomic(struct file_name *) parked; /* with a reference */
	atomic_int stopping;
	atomic_uint draws;        /* the first few */
	int quiet_tried;
	int quiet;                /* inotify descriptor of quiet.c, or -1 */
	_Atomic uint64_t changes; /* raised when there were events; odd while
				   * they are taken out; from 2 */
	_Atomic(enum file_warning) warning;
	const char *warning_what; /* constant once it is due */
	int warning_errnum;
};

enum file_stake {
	FILE_NONE,                /* no byte is locked, fd means nothing */
	FILE_KEEPER,              /* fd locks GATE: a writer that waits */
	FILE_HOLDER
};

struct file_ticket {
	struct dlk_ticket base;
	struct file_name *name;
	enum file_stake stake;
	int fd;
	dlk_time deadline;        /* of this attempt */
	int waits;                /* is in name->waiting */
	uint32_t bench;           /* its place there, from 1; 0: none */
	int ring, wake;           /* to do when name->mu is unlocked */
	const char *damaged;      /* to say then: where tokens go on from */
	unsigned int looks;       /* failed ones since a ring */
	unsigned int soons;       /* since then, that ended in FILE_SOON */
	unsigned int round;       /* in which it was woken last */
	uint64_t seen;            /* the state's seq at the last failed look */
	dlk_time idle_gate;       /* since when the gate was kept for nobody */
	uint32_t seat;
	struct file_ticket *prev, *next;
};

static inline struct file_session *file_session(struct dlk_session *s)
{
	return (struct file_session *)(void *)s;
}

static inline struct file_ticket *file_ticket(struct dlk_ticket *t)
{
	return (struct file_ticket *)(void *)t;
}

/* ---- dir.c: the directory and what may lie in it ------------------------- */

/* Open the session's directory, making it if its parent is there. */
int dlki_file_dir_open(struct file_session *s, struct dlk_error *err);

/* If the directory was moved or removed, open what is at its path now. */
int dlki_file_dir_follow(struct file_session *s, struct dlk_error *err);

/* Open `file`, creating it, and refuse what is not a lock file of ours. */
int dlki_file_entry(struct file_session *s, const char *file, int *fd,
		    struct stat *st, struct dlk_error *err);

/* Open it as those do who only look. */
int dlki_file_entry_read(const struct file_session *s, const char *file);

/* The name of the key's file with `tail` after it; allocated. */
char *dlki_file_entry_name(const struct file_session *s, const char *key,
			   const char *tail);

/* The error of a failed system call on a lock file, by errno. */
int dlki_file_fail(struct dlk_error *err, int errnum, const char *doing,
		   const char *what);

/* ---- fds.c: descriptors that a forked child closes ----------------------- */

/* Between the two no fork() happens.  hold: 0, or an errno value, also in
 * errno. */
int dlki_file_fds_hold(void);
int dlki_file_fds_keep(int fd); /* records it unless < 0; keeps errno */
void dlki_file_fds_close(int fd);

/* ---- table.c: the names that a session has open -------------------------- */

struct file_name *dlki_file_name_get(struct file_session *s, const char *key);
void dlki_file_name_put(struct file_name *n);
/* The same, and cheaper for the name that is asked for next. */
void dlki_file_name_park(struct file_name *n);
/* Close those that nobody uses; 0: there was none. */
int dlki_file_names_shed(struct file_session *s);
/* By its watch, or NULL; put it back. */
struct file_name *dlki_file_name_find(struct file_session *s, int wd);
/* Every name, one after the other: `last` is put back, NULL begins.  For one
 * thread. */
struct file_name *dlki_file_name_next(struct file_session *s,
				      struct file_name *last);
int dlki_file_names_init(struct file_session *s);
void dlki_file_names_free(struct file_session *s);

/* Out of the table, with its watch; with s->mu held, and n->mu unless nobody
 * has a reference.  By then it must be out of quiet.c, too: its watches are of
 * the file, and so are those of the name that takes its place. */
void dlki_file_name_unlist(struct file_name *n);
/* Into the table by its watch. */
void dlki_file_name_wd(struct file_name *n, int wd);

/* ---- name.c: one file; all with n->mu held ------------------------------- */

/* A descriptor with no lock on it, an open file description of its own. */
int dlki_file_fd_get(struct file_name *n, int *fd, struct dlk_error *err);
void dlki_file_fd_put(struct file_name *n, int fd);
/* Is `path` still this file?  1, 0, or -1 and errno when it cannot be told. */
int dlki_file_name_stands(const struct file_name *n);
/* It is not: tell holders and waiters. */
void dlki_file_name_stale(struct file_name *n);
void dlki_file_list_add(struct file_list *l, struct file_ticket *t);
void dlki_file_list_del(struct file_list *l, struct file_ticket *t);

/* ---- bytes.c: locks on bytes --------------------------------------------- */

/* 1 it is ours, 0 others have it, -1 and errno.  Shared if type is F_RDLCK. */
int dlki_file_lock(int fd, short type, off_t at);
void dlki_file_unlock(int fd, off_t at);
void dlki_file_unlock_all(int fd);
/* Would a lock of `type` on len bytes meet one of another description?  The
 * type of that one, or F_UNLCK. */
short dlki_file_probe(int fd, short type, off_t at, off_t len);

/* ---- watch.c: the watcher ------------------------------------------------ */

/* What to listen for: */
#define FILE_GONE (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT)
#define FILE_DIR_GONE (IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_ONLYDIR)
#define FILE_KNOCK IN_CLOSE_NOWRITE
#define FILE_RING IN_CLOSE_WRITE

/* Watch the directory that is at the session's path. */
void dlki_file_watch_dir(struct file_session *s);
/* With n->mu held: begin to listen for knocks.  -1: not possible. */
int dlki_file_watch(struct file_name *n);
/* The number of a new watch of n's file, its removal included. */
int dlki_file_add_watch(struct file_name *n, int inotify, uint32_t what);
void dlki_file_watch_stop(struct file_session *s);
/* Without n->mu: say, once, that it was not possible. */
void dlki_file_watch_warn(struct file_session *s);

/* ---- bell.c: waiting, and being waited for ------------------------------- */

/* Listen for rings, and tell holders that somebody waits.  -1: they cannot be
 * told.  May find the name stale.  With n->mu held. */
int dlki_file_knock(struct file_name *n);
/* After bytes were unlocked, with n->mu held: is a ring due?  If so, close a
 * description of the file that may write, or call dlki_file_ring(). */
int dlki_file_released(struct file_name *n);
/* Tell waiters elsewhere, and here, to look again; without n->mu. */
void dlki_file_ring(struct file_name *n);
void dlki_file_wake_all(struct file_name *n);
/* The watcher has heard one. */
int dlki_file_knocked(struct file_name *n);
void dlki_file_rung(struct file_name *n);

/* ---- quiet.c: what nobody has touched need not be read again ------------- */

#define FILE_WRITTEN IN_MODIFY

/* With n->mu held: begin, or change what for, before session->changes is read
 * and the file looked at; end; and is everything as it was at n->looked? */
void dlki_file_quiet_begin(struct file_name *n, uint32_t what);
void dlki_file_quiet_end(struct file_name *n);
int dlki_file_quiet(const struct file_name *n);

/* ---- token.c ------------------------------------------------------------- */

/* Draw a token for a ticket whose bytes on `fd` are locked.  1, 0: the file is
 * no longer the one at its path, or what dlk_fail() returned. */
int dlki_file_draw(struct file_ticket *t, int fd, struct dlk_error *err);
/* EINVAL if permits are out, and not of as many as this ticket says. */
int dlki_file_limit(struct file_ticket *t, int fd, struct dlk_error *err);
/* Make the file tell the exact token of a mutex that is held. */
void dlki_file_publish(struct file_ticket *t);

/* ---- look.c: one try ----------------------------------------------------- */

enum file_look {
	FILE_MINE,
	FILE_BUSY,
	FILE_SOON,   /* nobody may ring: look again in a moment */
	FILE_STALE,  /* the file is no longer the one at its path */
	FILE_FAILED
};

/* With n->mu held; what it has locked and does not need is unlocked. */
enum file_look dlki_file_look(struct file_ticket *t, struct dlk_error *err);
/* Turn a writer's lock into a reader's.  -1 and errno. */
int dlki_file_share(struct file_ticket *t);

/* ---- the verbs ----------------------------------------------------------- */

enum dlk_verdict dlki_file_attempt(struct dlk_ticket *t, dlk_time deadline,
				   struct dlk_error *err);
int dlki_file_release(struct dlk_ticket *t, dlk_time deadline,
		      struct dlk_error *err);
int dlki_file_downgrade(struct dlk_ticket *t, dlk_time deadline,
			struct dlk_error *err);
int dlki_file_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		      void (*each)(const struct dlock_party *p, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_file_list(struct dlk_session *s,
		   void (*each)(const struct dlock_entry *e, void *arg),
		   void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_file_break(struct dlk_session *s, const struct dlk_claim *claim,
		    dlk_time deadline, struct dlk_error *err);

#endif
