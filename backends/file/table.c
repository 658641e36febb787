/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names by key and by watch, and which of them are idle.
 */
#include "file.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *key)
{
	uint32_t h = 2166136261u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return h;
}

static struct file_name **key_bucket(struct file_session *s, uint32_t h)
{
	return &s->by_key[h & (s->n_buckets - 1)];
}

static struct file_name **wd_bucket(struct file_session *s, int wd)
{
	return &s->by_wd[(unsigned int)wd & (s->n_buckets - 1)];
}

static int tables(struct file_session *s, size_t n_buckets)
{
	s->by_key = calloc(n_buckets, sizeof(*s->by_key));
	s->by_wd = calloc(n_buckets, sizeof(*s->by_wd));
	s->n_buckets = n_buckets;
	if (s->by_key && s->by_wd)
		return 0;
	free(s->by_key);
	free(s->by_wd);
	s->by_key = s->by_wd = NULL;
	return -1;
}

/* Grow to twice the size; not to is slower, and no more. */
static void grow(struct file_session *s)
{
	struct file_session old = { .by_key = s->by_key,
				    .by_wd = s->by_wd,
				    .n_buckets = s->n_buckets };
	struct file_name *n, **at;
	size_t i;

	if (tables(s, 2 * old.n_buckets) < 0) {
		s->by_key = old.by_key;
		s->by_wd = old.by_wd;
		s->n_buckets = old.n_buckets;
		return;
	}
	for (i = 0; i < old.n_buckets; i++) {
		while ((n = old.by_key[i])) {
			old.by_key[i] = n->by_key;
			at = key_bucket(s, n->hash);
			n->by_key = *at;
			*at = n;
		}
		while ((n = old.by_wd[i])) {
			old.by_wd[i] = n->by_wd;
			at = wd_bucket(s, n->wd);
			n->by_wd = *at;
			*at = n;
		}
	}
	free(old.by_key);
	free(old.by_wd);
}

static struct file_name *create(struct file_session *s, const char *key,
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
	n->session = s;
	n->path = path;
	n->file = path + dir + 1;
	n->key = n->file + prefix;
	n->hash = h;
	n->wd = n->pin = n->quiet_wd = -1;
	return n;
}

static void destroy(struct file_name *n)
{
	while (n->n_fds)
		dlki_file_fds_close(n->fds[--n->n_fds]);
	dlki_file_fds_close(n->pin);
	pthread_mutex_destroy(&n->mu);
	free(n);
}

static void idle_remove(struct file_session *s, struct file_name *n)
{
	if (n->idle_prev)
		n->idle_prev->idle_next = n->idle_next;
	else
		s->idle_first = n->idle_next;
	if (n->idle_next)
		n->idle_next->idle_prev = n->idle_prev;
	else
		s->idle_last = n->idle_prev;
	n->idle_prev = n->idle_next = NULL;
	s->n_idle--;
}

static void idle_append(struct file_session *s, struct file_name *n)
{
	n->idle_prev = s->idle_last;
	n->idle_next = NULL;
	if (s->idle_last)
		s->idle_last->idle_next = n;
	else
		s->idle_first = n;
	s->idle_last = n;
	s->n_idle++;
}

void dlki_file_name_unlist(struct file_name *n)
{
	struct file_session *s = n->session;
	struct file_name **at;

	for (at = key_bucket(s, n->hash); *at && *at != n;)
		at = &(*at)->by_key;
	if (*at) {
		*at = n->by_key;
		s->n_names--;
	}
	if (n->wd < 0)
		return;
	for (at = wd_bucket(s, n->wd); *at && *at != n;)
		at = &(*at)->by_wd;
	if (*at)
		*at = n->by_wd;
	(void)inotify_rm_watch(s->inotify, n->wd);
	n->wd = -1;
}

static struct file_name *unpark(struct file_session *s, const char *key)
{
	struct file_name *n = atomic_exchange(&s->parked, NULL);

	if (!n || !strcmp(n->key, key))
		return n;
	dlki_file_name_park(n);
	return NULL;
}

void dlki_file_name_park(struct file_name *n)
{
	struct file_name *none = NULL;

	if (!atomic_compare_exchange_strong(&n->session->parked, &none, n))
		dlki_file_name_put(n);
}

struct file_name *dlki_file_name_get(struct file_session *s, const char *key)
{
	struct file_name *n = unpark(s, key);
	struct file_name **at;
	uint32_t h;

	if (n)
		return n;
	h = hash(key);
	pthread_mutex_lock(&s->mu);
	for (n = *key_bucket(s, h); n; n = n->by_key) {
		if (n->hash == h && !strcmp(n->key, key))
			break;
	}
	if (!n) {
		if (s->n_names >= s->n_buckets)
			grow(s);
		n = create(s, key, h);
		if (n) {
			at = key_bucket(s, h);
			n->by_key = *at;
			*at = n;
			s->n_names++;
		}
	} else if (!n->refs) {
		idle_remove(s, n);
	}
	if (n)
		n->refs++;
	pthread_mutex_unlock(&s->mu);
	return n;
}

/* With s->mu held; to be destroyed when it is not. */
static struct file_name *idle_take(struct file_session *s)
{
	struct file_name *n = s->idle_first;

	if (!n)
		return NULL;
	idle_remove(s, n);
	dlki_file_quiet_end(n);
	dlki_file_name_unlist(n);
	return n;
}

int dlki_file_names_shed(struct file_session *s)
{
	struct file_name *n = atomic_exchange(&s->parked, NULL);
	int any = 0;

	if (n)
		dlki_file_name_put(n);
	do {
		pthread_mutex_lock(&s->mu);
		n = idle_take(s);
		pthread_mutex_unlock(&s->mu);
		if (n)
			destroy(n);
		any |= n != NULL;
	} while (n);
	return any;
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
			idle_append(s, n);
			if (s->n_idle > FILE_IDLE_NAMES)
				gone = idle_take(s);
		}
	}
	pthread_mutex_unlock(&s->mu);
	if (gone)
		destroy(gone);
}

struct file_name *dlki_file_name_find(struct file_session *s, int wd)
{
	struct file_name *n;

	pthread_mutex_lock(&s->mu);
	for (n = *wd_bucket(s, wd); n && n->wd != wd;)
		n = n->by_wd;
	if (n && !n->refs++)
		idle_remove(s, n);
	pthread_mutex_unlock(&s->mu);
	return n;
}

struct file_name *dlki_file_name_next(struct file_session *s,
				      struct file_name *last)
{
	struct file_name *n = NULL;

	pthread_mutex_lock(&s->mu);
	if (!last)
		s->pass++;
	/* From the first bucket again if the table grew: marks tell who was
	 * met already. */
	if (!last || s->sweep_size != s->n_buckets)
		s->sweep = 0;
	s->sweep_size = s->n_buckets;
	for (; s->sweep < s->n_buckets; s->sweep++) {
		for (n = s->by_key[s->sweep]; n; n = n->by_key) {
			if (n->pass != s->pass)
				break;
		}
		if (n)
			break;
	}
	if (n) {
		n->pass = s->pass;
		if (!n->refs++)
			idle_remove(s, n);
	}
	pthread_mutex_unlock(&s->mu);
	if (last)
		dlki_file_name_put(last);
	return n;
}

int dlki_file_names_init(struct file_session *s)
{
	return tables(s, 64);
}

void dlki_file_names_free(struct file_session *s)
{
	struct file_name *n = atomic_load(&s->parked);
	size_t i;

	if (n)
		dlki_file_name_put(n);
	for (i = 0; i < s->n_buckets; i++) {
		while ((n = s->by_key[i])) {
			s->by_key[i] = n->by_key;
			dlki_file_quiet_end(n);
			destroy(n);
		}
	}
	free(s->by_key);
	free(s->by_wd);
}

void dlki_file_name_wd(struct file_name *n, int wd)
{
	struct file_session *s = n->session;
	struct file_name **at;

	pthread_mutex_lock(&s->mu);
	n->wd = wd;
	at = wd_bucket(s, wd);
	n->by_wd = *at;
	*at = n;
	pthread_mutex_unlock(&s->mu);
}
