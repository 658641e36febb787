/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/proxy/proxy.h"
#include "lab/base/fail.h"
#include "lab/proxy/impl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int open_all(struct lab_proxy *p, const struct lab_proxy_options *o)
{
	p->to = o->to;
	p->patience_ms = o->patience_ms;
	p->port = lab_reserve_port(&p->reserved);
	if (p->port < 0)
		return -1;
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake < 0)
		return lab_fail("eventfd: %s", strerror(errno));
	return lab_proxy_listen(p);
}

static int start_thread(struct lab_proxy *p)
{
	pthread_condattr_t attr;
	sigset_t all;
	sigset_t old;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->counted, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&p->lock, NULL);
	/* Signals are for the threads of the test. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p->thread, NULL, lab_proxy_loop, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? lab_fail("pthread_create: %s", strerror(rc)) : 0;
}

static void close_all(struct lab_proxy *p)
{
	struct lab_link *l;

	while (p->links) {
		l = p->links;
		p->links = l->next;
		lab_link_free(p, l);
	}
	if (p->listener >= 0)
		close(p->listener);
	if (p->reserved >= 0)
		close(p->reserved);
	if (p->wake >= 0)
		close(p->wake);
	free(p);
}

struct lab_proxy *lab_proxy_new(const struct lab_proxy_options *options)
{
	struct lab_proxy *p = calloc(1, sizeof(*p));

	if (!p) {
		lab_fail("out of memory");
		return NULL;
	}
	p->listener = p->reserved = p->wake = -1;
	p->fault[LAB_UP].cut = p->fault[LAB_DOWN].cut = -1;
	if (open_all(p, options) < 0 || start_thread(p) < 0) {
		close_all(p);
		return NULL;
	}
	return p;
}

void lab_proxy_free(struct lab_proxy *p)
{
	if (!p)
		return;
	lab_proxy_lock(p);
	p->stop = true;
	lab_proxy_unlock(p);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->counted);
	close_all(p);
}
