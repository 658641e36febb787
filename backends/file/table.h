/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a session has open: by key, by inotify watch, and which of
 * them are idle.
 */
#ifndef DLOCK_BACKENDS_FILE_TABLE_H
#define DLOCK_BACKENDS_FILE_TABLE_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define FILE_IDLE_NAMES 32 /* kept open per session */

struct file_name;
struct file_session;

/* Under session->mu, except `parked`. */
struct file_table {
	struct file_name **by_key, **by_wd;
	size_t n_buckets, n_names;
	uint64_t sweep;           /* number of the last one */
	size_t sweep_bucket, sweep_buckets;
	struct file_name *idle_first, *idle_last;
	unsigned int n_idle;
	_Atomic(struct file_name *) parked; /* with a reference */
};

int dlki_file_table_init(struct file_session *s);
void dlki_file_table_free(struct file_session *s);

/* A reference to the name of a key, created if need be; NULL: no memory. */
struct file_name *dlki_file_name_get(struct file_session *s, const char *key);
void dlki_file_name_put(struct file_name *n);
/* The same, and faster if the same name is asked for next. */
void dlki_file_name_park(struct file_name *n);

/* A reference by watch, or NULL. */
struct file_name *dlki_file_name_find(struct file_session *s, int wd);
/* A sweep: every name, one after the other.  `last` is put; NULL begins.  For
 * one thread. */
struct file_name *dlki_file_name_next(struct file_session *s,
				      struct file_name *last);

/* dlki_file_entry(), and if no descriptor is free, once more after the idle
 * names have been closed. */
int dlki_file_table_entry(struct file_session *s, const char *file, int *fd,
			  struct stat *st, struct dlk_error *err);

/* Remove the name and its watch, with s->mu held, and n->mu unless nobody has a
 * reference.  dlki_file_change_end() comes before: that watch is of the file,
 * and so is the one of the name that takes this one's place. */
void dlki_file_name_unlist(struct file_name *n);

/* Enter the name under its watch. */
void dlki_file_name_enter_wd(struct file_name *n, int wd);

#endif
