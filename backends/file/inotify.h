/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's inotify descriptor, which the core polls, and the change
 * detector: has another process removed or written a file since this session
 * checked it?
 *
 * A client that takes a lock again need not check the file's path each time.
 * While no event has come (one FIONREAD), the session's knowledge of the file
 * still holds; in a tight loop without contention, also the session's copy of
 * the state.  The kernel queues the event of a write before the writer can
 * unlock, and the event of a removal before the directory is unlocked: so
 * before another client can have the lock, and before a new file can have the
 * name.
 *
 * The detector does not ask which file an event is about: each makes all names
 * of the session check again.
 */
#ifndef DLOCK_BACKENDS_FILE_INOTIFY_H
#define DLOCK_BACKENDS_FILE_INOTIFY_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/inotify.h>

struct file_name;
struct file_session;

/* The events of a file, or of a directory, no longer at its path: */
#define FILE_GONE (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT)
#define FILE_DIR_GONE (IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_ONLYDIR)
#define FILE_WRITTEN IN_MODIFY

struct file_inotify {
	/* Called for each event, with no lock held. */
	void (*on_event)(struct file_session *s,
			 const struct inotify_event *ev);
	int running;              /* under s->mu: 0 not yet, 1 yes, -1 no
				   * more */
	int fd;
	dlk_time retry_at;        /* no descriptor is made earlier */
	atomic_int warned;        /* warned: watching is impossible */
	_Atomic uint64_t count;   /* raised when files may have changed; odd
				   * while a thread reads the events; begins
				   * with 2 */
	atomic_int blind;         /* the directory is not watched */
};

/* With n->mu held: watch the name's file for `what` and removal.  The first
 * call makes the descriptor, or a call some time after a failure.  The watch's
 * number, or -1. */
int dlki_file_inotify_watch(struct file_name *n, uint32_t what);

/* Watch the file open as file_fd for `what`, on the inotify descriptor `fd`.
 * The watch's number, or -1 and errno. */
int dlki_file_inotify_add(int fd, int file_fd, uint32_t what);

/* Watch the directory now at the session's path, before the session uses the
 * directory.  If the watch is impossible, no file counts as unchanged. */
void dlki_file_inotify_follow_dir(struct file_session *s);

/* With n->mu held: is the file at its path since n->checked?  If the session
 * listens for FILE_WRITTEN, also: is it as this session wrote it? */
int dlki_file_unchanged(const struct file_name *n);

/* Take in the queued events; stop closes the descriptor afterwards. */
void dlki_file_pump(struct dlk_session *s);
void dlki_file_inotify_stop(struct file_session *s);

#endif
