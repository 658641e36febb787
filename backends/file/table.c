/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/table.h"

#include <stdlib.h>
#include <string.h>

#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/floor.h"
#include "backends/file/name.h"
#include "backends/file/sweep.h"

static uint32_t hash_key(const char *key)
{
	uint32_t h = 2166136261u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return h;
}

static struct file_name **key_bucket(struct file_table *t, uint32_t h)
{
	return &t->by_key[h & (t->n_buckets - 1)];
}

static struct file_name **wd_bucket(struct file_table *t, int wd)
{
	return &t->by_wd[(unsigned int)wd & (t->n_buckets - 1)];
}

static int allocate_buckets(struct file_table *t, size_t n_buckets)
{
	t->by_key = calloc(n_buckets, sizeof(struct file_name *));
	t->by_wd = calloc(n_buckets, sizeof(struct file_name *));
	t->n_buckets = n_buckets;
	if (t->by_key && t->by_wd)
		return 0;
	free(t->by_key);
	free(t->by_wd);
	t->by_key = t->by_wd = NULL;
	return -1;
}

/* Grow to twice the size.  Without memory, the table only gets slower. */
static void grow(struct file_table *t)
{
	struct file_name **by_key = t->by_key, **by_wd = t->by_wd;
	size_t n_buckets = t->n_buckets, i;
	struct file_name *n, **at;

	if (allocate_buckets(t, 2 * n_buckets) < 0) {
		t->by_key = by_key;
		t->by_wd = by_wd;
		t->n_buckets = n_buckets;
		return;
	}
	for (i = 0; i < n_buckets; i++) {
		while ((n = by_key[i])) {
			by_key[i] = n->by_key;
			at = key_bucket(t, n->hash);
			n->by_key = *at;
			*at = n;
		}
		while ((n = by_wd[i])) {
			by_wd[i] = n->by_wd;
			at = wd_bucket(t, n->wd);
			n->by_wd = *at;
			*at = n;
		}
	}
	free(by_key);
	free(by_wd);
}

static struct file_name *name_new(struct file_session *s, const char *key,
				  uint32_t h)
{
	size_t dir = strlen(s->dir), prefix = strlen(s->prefix);
	size_t len = strlen(key);
	struct file_name *n;
	char *path;

	n = calloc(1, sizeof(*n) + dir + 1 + prefix + len + 1);
	if (!n)
		return NULL;
	if (pthread_mutex_init(&n->mu, NULL)) {
		free(n);
		return NULL;
	}
	path = (char *)(n + 1);
	memcpy(path, s->dir, dir);
	path[dir] = '/';
	memcpy(path + dir + 1, s->prefix, prefix);
	memcpy(path + dir + 1 + prefix, key, len);
	TAILQ_INIT(&n->writers);
	TAILQ_INIT(&n->waiting);
	TAILQ_INIT(&n->holding);
	n->session = s;
	n->path = path;
	n->file = path + dir + 1;
	n->key = n->file + prefix;
	n->hash = h;
	n->wd = n->inode_fd = -1;
	return n;
}

static void name_free(struct file_name *n)
{
	/* Before the sweep, which needs a descriptor. */
	while (n->n_fds)
		dlki_file_fds_close(n->fds[--n->n_fds]);
	dlki_file_sweep(n);
	dlki_file_fds_close(n->inode_fd);
	pthread_mutex_destroy(&n->mu);
	free(n);
}

static void idle_remove(struct file_table *t, struct file_name *n)
{
	TAILQ_REMOVE(&t->idle, n, in_idle);
	t->n_idle--;
}

static void idle_append(struct file_table *t, struct file_name *n)
{
	TAILQ_INSERT_TAIL(&t->idle, n, in_idle);
	t->n_idle++;
}

void dlki_file_name_unlist(struct file_name *n)
{
	struct file_session *s = n->session;
	struct file_name **at;

	for (at = key_bucket(&s->table, n->hash); *at && *at != n;)
		at = &(*at)->by_key;
	if (*at) {
		*at = n->by_key;
		s->table.n_names--;
	}
	if (n->wd < 0)
		return;
	for (at = wd_bucket(&s->table, n->wd); *at && *at != n;)
		at = &(*at)->by_wd;
	if (*at)
		*at = n->by_wd;
	(void)inotify_rm_watch(s->inotify.fd, n->wd);
	n->wd = -1;
}

static struct file_name *unpark(struct file_session *s, const char *key)
{
	struct file_name *n = atomic_exchange(&s->table.parked, NULL);

	if (!n || !strcmp(n->key, key))
		return n;
	dlki_file_name_park(n);
	return NULL;
}

void dlki_file_name_park(struct file_name *n)
{
	struct file_name *none = NULL;

	if (!atomic_compare_exchange_strong(&n->session->table.parked, &none,
					    n))
		dlki_file_name_put(n);
}

struct file_name *dlki_file_name_get(struct file_session *s, const char *key)
{
	struct file_name *n = unpark(s, key);
	struct file_name **at;
	uint32_t h;

	if (n)
		return n;
	h = hash_key(key);
	pthread_mutex_lock(&s->mu);
	for (n = *key_bucket(&s->table, h); n; n = n->by_key) {
		if (n->hash == h && !strcmp(n->key, key))
			break;
	}
	if (!n) {
		if (s->table.n_names >= s->table.n_buckets)
			grow(&s->table);
		n = name_new(s, key, h);
		if (n) {
			at = key_bucket(&s->table, h);
			n->by_key = *at;
			*at = n;
			s->table.n_names++;
		}
	} else if (!n->refs) {
		idle_remove(&s->table, n);
	}
	if (n)
		n->refs++;
	pthread_mutex_unlock(&s->mu);
	return n;
}

/* Take the longest idle name off the table, with s->mu held.  The caller frees
 * the name without the mutex. */
static struct file_name *idle_pop(struct file_session *s)
{
	struct file_name *n = TAILQ_FIRST(&s->table.idle);

	if (!n)
		return NULL;
	idle_remove(&s->table, n);
	dlki_file_name_unlist(n);
	return n;
}

void dlki_file_name_put(struct file_name *n)
{
	struct file_session *s = n->session;
	struct file_name *gone = NULL;

	pthread_mutex_lock(&s->mu);
	if (!--n->refs) {
		if (n->stale) {
			gone = n;
		} else {
			idle_append(&s->table, n);
			if (s->table.n_idle > FILE_IDLE_NAMES)
				gone = idle_pop(s);
		}
	}
	pthread_mutex_unlock(&s->mu);
	if (gone)
		name_free(gone);
}

/* Close all idle names; 0: there was none. */
static int close_idle(struct file_session *s)
{
	struct file_name *n = atomic_exchange(&s->table.parked, NULL);
	int any = 0;

	if (n)
		dlki_file_name_put(n);
	do {
		pthread_mutex_lock(&s->mu);
		n = idle_pop(s);
		pthread_mutex_unlock(&s->mu);
		if (n)
			name_free(n);
		any |= n != NULL;
	} while (n);
	return any;
}

int dlki_file_table_entry(struct file_session *s, const char *file, int *fd,
			  struct stat *st, struct dlk_error *err)
{
	int rc;

	do
		rc = dlki_file_entry(s, file, fd, st, err);
	while (rc > 0 && close_idle(s));
	return rc > 0 ? err->code : rc;
}

int dlki_file_table_floor(struct file_session *s, uint64_t *token)
{
	int rc;

	do
		rc = dlki_file_floor(s, token);
	while (rc < 0 && close_idle(s));
	return rc;
}

int dlki_file_table_floor_lock(struct file_session *s, dlk_time deadline,
			       struct dlk_error *err)
{
	int rc;

	do
		rc = dlki_file_floor_lock(s, deadline, err);
	while (rc == DLOCK_EEXHAUSTED && close_idle(s));
	return rc;
}

struct file_name *dlki_file_name_find(struct file_session *s, int wd)
{
	struct file_name *n;

	pthread_mutex_lock(&s->mu);
	for (n = *wd_bucket(&s->table, wd); n && n->wd != wd;)
		n = n->by_wd;
	if (n && !n->refs++)
		idle_remove(&s->table, n);
	pthread_mutex_unlock(&s->mu);
	return n;
}

struct file_name *dlki_file_name_next(struct file_session *s,
				      struct file_name *last)
{
	struct file_table *t = &s->table;
	struct file_name *n = NULL;

	pthread_mutex_lock(&s->mu);
	if (!last)
		t->sweep++;
	/* From the first bucket again if the table grew: names say whether this
	 * sweep has met them. */
	if (!last || t->sweep_buckets != t->n_buckets)
		t->sweep_bucket = 0;
	t->sweep_buckets = t->n_buckets;
	for (; t->sweep_bucket < t->n_buckets; t->sweep_bucket++) {
		for (n = t->by_key[t->sweep_bucket]; n; n = n->by_key) {
			if (n->sweep != t->sweep)
				break;
		}
		if (n)
			break;
	}
	if (n) {
		n->sweep = t->sweep;
		if (!n->refs++)
			idle_remove(t, n);
	}
	pthread_mutex_unlock(&s->mu);
	if (last)
		dlki_file_name_put(last);
	return n;
}

int dlki_file_table_init(struct file_session *s)
{
	TAILQ_INIT(&s->table.idle);
	return allocate_buckets(&s->table, 64);
}

void dlki_file_table_free(struct file_session *s)
{
	struct file_name *n = atomic_load(&s->table.parked);
	size_t i;

	if (n)
		dlki_file_name_put(n);
	for (i = 0; i < s->table.n_buckets; i++) {
		while ((n = s->table.by_key[i])) {
			s->table.by_key[i] = n->by_key;
			name_free(n);
		}
	}
	free(s->table.by_key);
	free(s->table.by_wd);
}

void dlki_file_name_enter_wd(struct file_name *n, int wd)
{
	struct file_session *s = n->session;
	struct file_name **at;

	pthread_mutex_lock(&s->mu);
	n->wd = wd;
	n->checked = 0;
	at = wd_bucket(&s->table, wd);
	n->by_wd = *at;
	*at = n;
	pthread_mutex_unlock(&s->mu);
}
