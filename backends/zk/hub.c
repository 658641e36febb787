/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"
#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLICE_NS                                                               \
	(5000 * ZK_MS) /* the boot-time clock is looked at this often */
#define RETRY_NS (200 * ZK_MS)

void dlki_zk_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

int dlki_zk_sleep(pthread_cond_t *cond, struct zk_hub *h, dlk_time until)
{
	dlk_time left = until == DLK_FOREVER ? SLICE_NS : until - dlk_now();
	struct timespec ts;

	if (left <= 0)
		return 0;
	if (left > SLICE_NS)
		left = SLICE_NS;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	left += ts.tv_nsec;
	ts.tv_sec += left / 1000000000;
	ts.tv_nsec = left % 1000000000;
	pthread_cond_timedwait(cond, &h->mu, &ts);
	return 1;
}

static void unref(struct zk_hub *h)
{
	int last = --h->refs == 0;

	pthread_mutex_unlock(&h->mu);
	if (!last)
		return;
	dlki_zk_watches_free(h);
	dlki_zk_debris_free(h);
	dlki_zk_flights_free(h);
	pthread_cond_destroy(&h->changed);
	pthread_cond_destroy(&h->work);
	pthread_mutex_destroy(&h->mu);
	if (h->auth)
		explicit_bzero(h->auth, strlen(h->auth));
	free(h->auth);
	free(h->hosts);
	free(h);
}

/* ---- The thread ---------------------------------------------------------- */

/* With the hub locked, which is given up: no session, make one.  The old handle
 * is closed behind that, since closing takes time. */
static void new_session(struct zk_hub *h)
{
	struct zk_link *old = h->link, *l;
	struct dlk_error err;

	h->link = NULL;
	h->proved = 0;
	pthread_mutex_unlock(&h->mu);
	l = dlki_zk_link_open(h, &err);
	pthread_mutex_lock(&h->mu);
	if (l) {
		l->life = ++h->lives;
		h->link = l;
		h->connects++; /* it may be connected by now, unnoticed */
		pthread_cond_broadcast(&h->changed);
	} else {
		dlki_zk_news(h, 0, "no session: %s", err.text);
		dlki_zk_news_tell(h);
	}
	if (old) {
		pthread_mutex_unlock(&h->mu);
		dlki_zk_link_close(old);
		pthread_mutex_lock(&h->mu);
	}
	if (!l && !h->stop)
		dlki_zk_sleep(&h->work, h, dlk_now() + RETRY_NS);
}

/*
 * A server that comes back without its data refuses us for ever, and one that
 * comes back late would revive nodes that nobody remembers: who is cut off for
 * as long as the session lasts begins anew.
 */
static dlk_time replace_when_cut_off(struct zk_hub *h)
{
	struct zk_link *l = h->link;
	dlk_time end;

	if (!l || l->state != ZK_DOWN || l->id == 0)
		return DLK_FOREVER;
	end = l->down_at + l->timeout_ms * ZK_MS;
	if (dlk_now() < end)
		return end;
	dlki_zk_link_over(l, ZK_EXPIRED,
			  "cut off for longer than the session lasts");
	return dlk_now();
}

/* What is due; returns when to look again. */
static dlk_time work(struct zk_hub *h)
{
	dlk_time next = dlki_zk_guard_young(h);
	dlk_time sweep = dlki_zk_debris_sweep(h);
	dlk_time replace = replace_when_cut_off(h);

	if (sweep < next)
		next = sweep;
	return replace < next ? replace : next;
}

static void *run(void *arg)
{
	struct zk_hub *h = arg;
	struct zk_link *l;

	pthread_mutex_lock(&h->mu);
	while (!h->stop) {
		dlk_time next;

		/* A new session before its news: the sink may take long. */
		if (!h->link || h->link->state == ZK_EXPIRED) {
			new_session(h);
			continue;
		}
		if (dlki_zk_news_tell(h))
			continue;
		next = work(h);
		if (h->stop)
			break;
		dlki_zk_sleep(&h->work, h, next);
	}
	l = h->link;
	h->link = NULL;
	pthread_mutex_unlock(&h->mu);
	if (l)
		dlki_zk_link_close(l);
	pthread_mutex_lock(&h->mu);
	h->closed = 1;
	pthread_cond_broadcast(&h->changed);
	unref(h);
	return NULL;
}

/* ---- Opening ------------------------------------------------------------- */

static char *host_list(const struct dlk_uri *uri)
{
	char *text = NULL, *longer;

	for (size_t i = 0; i < uri->n_hosts; i++) {
		const struct dlk_host *host = &uri->hosts[i];
		int six = strchr(host->name, ':') != NULL;

		if (asprintf(&longer, "%s%s%s%s%s:%u", text ? text : "",
			     text ? "," : "", six ? "[" : "", host->name,
			     six ? "]" : "",
			     host->port ? (unsigned int)host->port : 2181u) < 0)
			longer = NULL;
		free(text);
		text = longer;
		if (!text)
			break;
	}
	return text;
}

static int set_root(struct zk_hub *h, const struct dlk_uri *uri,
		    struct dlk_error *err)
{
	const char *path = uri->path ? uri->path : "";
	size_t len = strlen(path);

	if (len > 0 && path[len - 1] == '/')
		len--;
	if (len > ZK_ROOT_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: the path has more than %d bytes",
				uri->shown, ZK_ROOT_MAX);
	snprintf(h->root, sizeof(h->root), "%.*s", (int)len, path);
	snprintf(h->base, sizeof(h->base), "%s/%s", h->root,
		 dlk_param_text(uri, "prefix"));
	for (const char *p = h->root; *p; p++) {
		size_t n = strcspn(p + 1, "/");

		if (*p == '/' && (n == 0 || (p[1] == '.' && n == 1) ||
				  (strncmp(p + 1, "..", 2) == 0 && n == 2)))
			return dlk_fail(err, DLOCK_EINVAL,
					"%s: the path has an empty part, or "
					"one that is '.' or '..'",
					uri->shown);
	}
	return 0;
}

static int set_up(struct zk_hub *h, const struct dlk_session *s,
		  struct dlk_error *err)
{
	const struct dlk_uri *uri = s->uri;
	int rc = set_root(h, uri, err);

	if (rc != 0)
		return rc;
	if (uri->n_hosts == 0)
		return dlk_fail(err, DLOCK_EINVAL, "%s: a host must be named",
				uri->shown);
	if (!uri->user != !uri->password)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: user and password go together",
				uri->shown);
	h->ask_ms = (int)s->ttl_ms;
	h->hosts = host_list(uri);
	if (uri->user &&
	    asprintf(&h->auth, "%s:%s", uri->user, uri->password) < 0)
		h->auth = NULL;
	if (!h->hosts || (uri->user && !h->auth))
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return 0;
}

static struct zk_hub *new_hub(struct dlk_session *s)
{
	struct zk_hub *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	pthread_mutex_init(&h->mu, NULL);
	dlki_zk_cond_init(&h->changed);
	dlki_zk_cond_init(&h->work);
	h->young_end = &h->young;
	h->refs = 1;
	h->session = s;
	return h;
}

int dlki_zk_hub_open(struct zk_hub **out, struct dlk_session *s,
		     dlk_time deadline, struct dlk_error *err)
{
	struct zk_hub *h = new_hub(s);
	int rc;

	if (!h)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	rc = set_up(h, s, err);
	pthread_mutex_lock(&h->mu);
	if (rc == 0) {
		rc = dlk_thread(&h->thread, "dlock-zk", run, h);
		if (rc == 0)
			h->refs++;
		else
			rc = dlki_system(err, rc, "starting a thread");
	}
	if (rc != 0) {
		unref(h);
		return rc;
	}
	pthread_mutex_unlock(&h->mu);
	/* Some time is left for tidying up. */
	rc = dlki_zk_enter(h, deadline - (deadline - dlk_now()) / 10, err);
	if (rc != 0) {
		dlki_zk_hub_close(h, deadline);
		return rc;
	}
	dlki_zk_leave(h);
	*out = h;
	return 0;
}

void dlki_zk_hub_close(struct zk_hub *h, dlk_time deadline)
{
	int closed;

	pthread_mutex_lock(&h->mu);
	h->stop = 1;
	pthread_cond_signal(&h->work);
	dlki_zk_news_end(h);
	while (!h->closed && dlki_zk_sleep(&h->changed, h, deadline) != 0)
		continue;
	closed = h->closed;
	/* A frozen server is left to the thread, which touches nothing but the
	 * hub. */
	if (!closed)
		pthread_detach(h->thread);
	else {
		pthread_mutex_unlock(&h->mu);
		pthread_join(h->thread, NULL);
		pthread_mutex_lock(&h->mu);
	}
	unref(h);
}

int dlki_zk_enter(struct zk_hub *h, dlk_time deadline, struct dlk_error *err)
{
	enum zk_state state;

	pthread_mutex_lock(&h->mu);
	for (;;) {
		state = h->link ? h->link->state : ZK_DOWN;
		if (state == ZK_UP)
			return 0;
		if (state == ZK_DENIED ||
		    dlki_zk_sleep(&h->changed, h, deadline) == 0)
			break;
	}
	pthread_mutex_unlock(&h->mu);
	if (state == ZK_DENIED)
		return dlk_fail(err, DLOCK_EDENIED,
				"the server refused the credentials");
	return dlk_fail(err, DLOCK_EUNREACHABLE, "no connection to %.150s",
			h->hosts);
}

void dlki_zk_leave(struct zk_hub *h)
{
	pthread_mutex_unlock(&h->mu);
}
