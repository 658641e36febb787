/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/proxy.h"
#include "lab/clock.h"
#include "lab/fail.h"
#include "lab/proxy_impl.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int lab_proxy_listen(struct lab_proxy *p)
{
	struct lab_address at = { LAB_LOOPBACK, p->port,
				  *p->path ? p->path : NULL };
	struct sockaddr_storage addr;
	socklen_t len;
	int on = 1;
	int fd;

	if (lab_sockaddr(&at, &addr, &len) < 0)
		return -1;
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return lab_fail("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (*p->path)
		unlink(p->path);
	if (bind(fd, (struct sockaddr *)&addr, len) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		lab_fail("listening on %s%s%d: %s", p->path,
			 *p->path ? " " : "port ", p->port, strerror(errno));
		close(fd);
		return -1;
	}
	p->listener = fd;
	return 0;
}

static int copy_path(char *out, size_t size, const char *path)
{
	if (path && strlen(path) >= size)
		return lab_fail("%s: too long for a unix socket", path);
	snprintf(out, size, "%s", path ? path : "");
	return 0;
}

int lab_proxy_set_aim(struct lab_proxy *p, const struct lab_address *to)
{
	struct sockaddr_storage addr;
	socklen_t len;

	if (lab_sockaddr(to, &addr, &len) < 0)
		return -1;
	snprintf(p->to_host, sizeof(p->to_host), "%s",
		 to->host ? to->host : LAB_LOOPBACK);
	p->to_port = to->port;
	return copy_path(p->to_path, sizeof(p->to_path), to->path);
}

static int open_all(struct lab_proxy *p, const struct lab_proxy_options *o)
{
	if (lab_proxy_set_aim(p, &o->to) < 0 ||
	    copy_path(p->path, sizeof(p->path), o->listen) < 0)
		return -1;
	p->port = o->port;
	p->patience_ms = o->patience_ms;
	if (!o->listen && !o->port) {
		p->port = lab_reserve_port(&p->reserved);
		if (p->port < 0)
			return -1;
	}
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake < 0)
		return lab_fail("eventfd: %s", strerror(errno));
	if (o->control && lab_control_listen(p, o->control) < 0)
		return -1;
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
	if (rc)
		return lab_fail("pthread_create: %s", strerror(rc));
	return 0;
}

static void close_all(struct lab_proxy *p)
{
	struct lab_link *l;

	while (p->links) {
		l = p->links;
		p->links = l->next;
		lab_link_free(p, l);
	}
	lab_control_close(p);
	if (p->listener >= 0)
		close(p->listener);
	if (*p->path)
		unlink(p->path);
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
	p->listener = p->reserved = p->wake = p->control = -1;
	p->fault[LAB_UP].cut = p->fault[LAB_DOWN].cut = -1;
	for (int i = 0; i < LAB_CONTROLS; i++)
		p->controls[i].fd = -1;
	if (open_all(p, options) < 0 || start_thread(p) < 0) {
		close_all(p);
		return NULL;
	}
	return p;
}

static void wake(struct lab_proxy *p)
{
	uint64_t one = 1;

	/* Full is as good as written. */
	if (write(p->wake, &one, sizeof(one)) < 0)
		return;
}

void lab_proxy_lock(struct lab_proxy *p)
{
	pthread_mutex_lock(&p->lock);
}

/* A socket that is being polled lives on after its close(2): nothing has taken
 * effect before the loop has turned once more.  Control commands run in it. */
void lab_proxy_unlock(struct lab_proxy *p)
{
	uint64_t turn = p->turns;

	wake(p);
	if (!pthread_equal(pthread_self(), p->thread))
		while (p->turns == turn && !p->over)
			pthread_cond_wait(&p->counted, &p->lock);
	pthread_mutex_unlock(&p->lock);
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

int lab_proxy_port(const struct lab_proxy *p)
{
	return p->port;
}

uint64_t lab_proxy_stat(struct lab_proxy *p, enum lab_proxy_stat which)
{
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	n = p->stats[which];
	pthread_mutex_unlock(&p->lock);
	return n;
}

int lab_proxy_wait(struct lab_proxy *p, enum lab_proxy_stat which, uint64_t n,
		   int64_t timeout_ms)
{
	struct timespec until;
	uint64_t now;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * LAB_MS;
	if (until.tv_nsec >= 1000 * LAB_MS) {
		until.tv_sec++;
		until.tv_nsec -= 1000 * LAB_MS;
	}
	pthread_mutex_lock(&p->lock);
	while (p->stats[which] < n && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&p->counted, &p->lock, &until);
	now = p->stats[which];
	pthread_mutex_unlock(&p->lock);
	if (now >= n)
		return 0;
	return lab_fail("the proxy saw %llu, not %llu", (unsigned long long)now,
			(unsigned long long)n);
}
