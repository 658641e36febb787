/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's inotify descriptor, which the core polls.
 */
#ifndef DLOCK_BACKENDS_FILE_INOTIFY_H
#define DLOCK_BACKENDS_FILE_INOTIFY_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/inotify.h>

struct dlk_session;
struct file_name;
struct file_session;

/* The events of a file, or of a directory, no longer at its path: */
#define FILE_GONE (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT)
#define FILE_DIR_GONE (IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_ONLYDIR)

struct file_inotify {
	/* Called for each event, with no lock held. */
	void (*on_event)(struct file_session *s,
			 const struct inotify_event *ev);
	int running;              /* under s->mu: 0 not yet, 1 yes, -1 no
				   * more */
	int fd;
	atomic_int warned;        /* warned: watching is impossible */
};

/* With n->mu held: watch the name's file for `what` and removal.  The first
 * call makes the descriptor, or the next call after a failure.  The watch's
 * number, or -1. */
int dlki_file_inotify_watch(struct file_name *n, uint32_t what);

/* Watch the file open as file_fd for `what`, on the inotify descriptor `fd`.
 * The watch's number, or -1 and errno. */
int dlki_file_inotify_add(int fd, int file_fd, uint32_t what);

/* Watch the directory now at the session's path. */
void dlki_file_inotify_follow_dir(struct file_session *s);

/* Take in the queued events; stop closes the descriptor afterwards. */
void dlki_file_pump(struct dlk_session *s);
void dlki_file_inotify_stop(struct file_session *s);

#endif
