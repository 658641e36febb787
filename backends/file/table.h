/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open names of a session: by key, by inotify watch, and the idle names.
 */
#ifndef DLOCK_BACKENDS_FILE_TABLE_H
#define DLOCK_BACKENDS_FILE_TABLE_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define FILE_IDLE_NAMES 32 /* kept open per session */

struct file_name;
struct file_session;

/* Under session->mu, except `parked`. */
struct file_table {
	struct file_name **by_key, **by_wd;
	size_t n_buckets, n_names;
	uint64_t sweep;           /* number of the last sweep */
	size_t sweep_bucket, sweep_buckets;
	TAILQ_HEAD(, file_name) idle;
	unsigned int n_idle;
	_Atomic(struct file_name *) parked; /* with a reference */
};

int dlki_file_table_init(struct file_session *s);
void dlki_file_table_free(struct file_session *s);

/* Get a reference to the name of a key, which is created if need be; NULL: no
 * memory. */
struct file_name *dlki_file_name_get(struct file_session *s, const char *key);
void dlki_file_name_put(struct file_name *n);
/* Put the name, too, and faster if the next get is for the same name. */
void dlki_file_name_park(struct file_name *n);

/* Find a name by the watch; a reference, or NULL. */
struct file_name *dlki_file_name_find(struct file_session *s, int wd);
/* Sweep: return all names in turn.  `last` is put; NULL begins.  For one
 * thread. */
struct file_name *dlki_file_name_next(struct file_session *s,
				      struct file_name *last);

/* Call dlki_file_entry(), and if no descriptor is free, once more after closing
 * the idle names. */
int dlki_file_table_entry(struct file_session *s, const char *file, int *fd,
			  struct stat *st, struct dlk_error *err);

/* Call dlki_file_floor(), and dlki_file_floor_lock(), likewise. */
int dlki_file_table_floor(struct file_session *s, uint64_t *token);
int dlki_file_table_floor_lock(struct file_session *s, dlk_time deadline,
			       struct dlk_error *err);

/* Remove the name and the watch, with s->mu held, and n->mu if the name has
 * references.  The watch belongs to the file: a name in this name's place may
 * have the same watch. */
void dlki_file_name_unlist(struct file_name *n);

/* Enter the name under the watch. */
void dlki_file_name_enter_wd(struct file_name *n, int wd);

#endif
