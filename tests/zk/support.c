/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fail.h"

atomic_int at_risk, safe, lost;

struct lab_server *server(const struct lab_zk_options *options)
{
	struct lab_server *s = lab_zk_start(options);

	if (!s)
		FAIL("%s", lab_errmsg());
	return s;
}

struct lab_proxy *proxy(const struct lab_server *s)
{
	struct lab_proxy_options o = { .to = lab_server_address(s) };
	struct lab_proxy *p = lab_proxy_new(&o);

	if (!p)
		FAIL("%s", lab_errmsg());
	return p;
}

static void uri(char out[512], int port, const char *params)
{
	snprintf(out, 512, "zk://127.0.0.1:%d/%s", port, params);
}

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)hold;
	(void)why;
	(void)arg;
	atomic_fetch_add(event == DLOCK_AT_RISK ? &at_risk :
			 event == DLOCK_SAFE    ? &safe :
						  &lost,
			 1);
}

dlock_client *client_with(int port, const char *params,
			  const dlock_options *opts)
{
	dlock_client *c = NULL;
	char text[512];

	uri(text, port, params);
	CHECK_OK(dlock_open(&c, text, opts));
	return c;
}

dlock_client *client(int port, const char *params)
{
	return client_with(port, params, NULL);
}

dlock_client *watched_client(int port, const char *params)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;

	opts.on_event = on_event;
	return client_with(port, params, &opts);
}

void refused(int port, const char *params, int code, const char *part)
{
	dlock_client *c = NULL;
	char text[512];

	uri(text, port, params);
	CHECK_RC(dlock_open(&c, text, NULL), code);
	CHECK_TEXT(dlock_errmsg(), part);
}

static dlock_lock *locks[256];
static size_t n_locks;

static void free_locks(void)
{
	while (n_locks > 0)
		dlock_free(locks[--n_locks]);
}

static dlock_lock *keep(dlock_lock *l)
{
	CHECK_INT(n_locks, <, sizeof(locks) / sizeof(locks[0]));
	if (n_locks == 0)
		atexit(free_locks);
	locks[n_locks++] = l;
	return l;
}

dlock_lock *mutex(dlock_client *c, const char *name)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	return keep(l);
}

dlock_lock *rwlock(dlock_client *c, const char *name)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_rwlock_new(&l, c, name));
	return keep(l);
}

dlock_hold *take(dlock_lock *l, int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire(l, timeout_ms, &h));
	return h;
}

struct dlock_stats stats(dlock_client *c)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(c, &s));
	return s;
}

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;

	w->rc = dlock_acquire(w->lock, w->timeout_ms, &w->hold);
	atomic_store(&w->over, 1);
	if (w->rc == DLOCK_OK)
		w->released = dlock_release(w->hold);
	return NULL;
}

void waiter_start(struct waiter *w, dlock_lock *lock, int64_t timeout_ms)
{
	*w = (struct waiter){ .lock = lock, .timeout_ms = timeout_ms };
	CHECK_INT(pthread_create(&w->thread, NULL, wait_for_it, w), ==, 0);
}

int waiter_join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	CHECK_OK(w->released);
	return w->rc;
}

/* ---- Looking at the server ----------------------------------------------- */

static void no_watch(zhandle_t *zh, int type, int state, const char *path,
		     void *context)
{
	(void)zh;
	(void)type;
	(void)state;
	(void)path;
	(void)context;
}

static void no_log(const char *message)
{
	(void)message;
}

zhandle_t *bare(int port)
{
	char host[64];
	zhandle_t *zh;

	snprintf(host, sizeof(host), "127.0.0.1:%d", port);
	zh = zookeeper_init2(host, no_watch, 60000, NULL, NULL, 0, no_log);
	CHECK(zh);
	EVENTUALLY(zoo_state(zh) == ZOO_CONNECTED_STATE);
	return zh;
}

int children(zhandle_t *zh, const char *path, char name[256])
{
	struct String_vector v = { 0 };
	int rc = zoo_get_children(zh, path, 0, &v);
	int n = v.count;

	if (rc == ZNONODE)
		return 0;
	CHECK_INT(rc, ==, ZOK);
	if (name && n > 0)
		snprintf(name, 256, "%s", v.data[0]);
	deallocate_String_vector(&v);
	return n;
}

int children_are(zhandle_t *zh, const char *path, int n)
{
	return children(zh, path, NULL) == n;
}

int64_t watches(struct lab_server *s)
{
	return lab_zk_number(s, "wchs", "Total watches");
}

void make(zhandle_t *zh, const char *path)
{
	CHECK_INT(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0),
		  ==, ZOK);
}

void drop(zhandle_t *zh, const char *dir, const char *name)
{
	char path[512];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = zoo_delete(zh, path, -1);
	CHECK(rc == ZOK || rc == ZNONODE);
}
