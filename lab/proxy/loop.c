/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/proxy/impl.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The first places of the poll set; links follow. */
enum { WAKE, LISTENER, LINKS };

struct loop {
	struct lab_proxy *p;
	struct pollfd *set;
	nfds_t room;
	nfds_t used;
	int64_t now;  /* when the set was made */
	int64_t next; /* when a chunk or link is due */
};

static void watch(struct pollfd *f, int fd, short events)
{
	f->fd = events ? fd : -1;
	f->events = events;
	f->revents = 0;
}

/* poll(2) reports errors even without requested events: a descriptor
 * that cannot be acted on now stays out of the set. */
static int add_fd(struct loop *loop, int fd, short events)
{
	if (!events || fd < 0)
		return -1;
	watch(&loop->set[loop->used], fd, events);
	return (int)loop->used++;
}

static short wanted(struct loop *loop, struct lab_link *l, int side)
{
	enum lab_way in = side ? LAB_DOWN : LAB_UP;
	enum lab_way out = side ? LAB_UP : LAB_DOWN;
	int64_t due = lab_link_due(loop->p, l, out);
	short events = 0;

	if (lab_link_wants(loop->p, l, in))
		events |= POLLIN;
	if (side && l->dialing)
		events |= POLLOUT;
	if (due <= loop->now)
		events |= POLLOUT;
	else if (due < loop->next)
		loop->next = due;
	return events;
}

static int grow_set(struct loop *loop)
{
	nfds_t need = LINKS;
	struct pollfd *set;

	for (struct lab_link *l = loop->p->links; l; l = l->next)
		need += 2;
	if (need <= loop->room)
		return 0;
	set = realloc(loop->set, 2 * need * sizeof(*set));
	if (!set)
		return -1;
	loop->set = set;
	loop->room = 2 * need;
	return 0;
}

static void prepare_set(struct loop *loop)
{
	struct lab_proxy *p = loop->p;

	loop->now = lab_now();
	loop->next = LAB_FOREVER;
	loop->used = LINKS;
	watch(&loop->set[WAKE], p->wake, POLLIN);
	watch(&loop->set[LISTENER], p->listener, POLLIN);
	for (struct lab_link *l = p->links; l; l = l->next) {
		for (int side = 0; side < 2; side++)
			l->slot[side] = add_fd(loop, l->fd[side],
					       wanted(loop, l, side));
		if (l->linger && l->linger < loop->next)
			loop->next = l->linger;
		if (l->redial && l->redial < loop->next)
			loop->next = l->redial;
	}
}

static int wait_for_events(struct loop *loop)
{
	int64_t left = loop->next - lab_now();
	struct timespec ts;

	if (loop->next == LAB_FOREVER)
		return ppoll(loop->set, loop->used, NULL, NULL);
	if (left < 0)
		left = 0;
	ts.tv_sec = left / (1000 * LAB_MS);
	ts.tv_nsec = left % (1000 * LAB_MS);
	return ppoll(loop->set, loop->used, &ts, NULL);
}

static short events_of(struct loop *loop, struct lab_link *l, int side)
{
	return l->slot[side] < 0 ? (short)0 : loop->set[l->slot[side]].revents;
}

static void serve_link(struct loop *loop, struct lab_link *l)
{
	struct lab_proxy *p = loop->p;

	if (events_of(loop, l, 1) && l->dialing)
		lab_link_dialed(p, l);
	lab_link_redial(p, l);
	/* Answers first: a client's end must not overtake them. */
	for (int side = 1; side >= 0 && !l->dead; side--) {
		enum lab_way in = side ? LAB_DOWN : LAB_UP;

		if (events_of(loop, l, side) && lab_link_wants(p, l, in))
			lab_link_read(p, l, in);
	}
	for (int w = 0; w < 2 && !l->dead; w++)
		lab_link_flush(p, l, w ? LAB_DOWN : LAB_UP);
	if (l->stream[0].shut && l->stream[1].shut &&
	    (!l->linger || lab_now() >= l->linger ||
	     (l->stream[0].ended && l->stream[1].ended)))
		l->dead = true;
}

static void serve_all(struct loop *loop)
{
	struct lab_link **at = &loop->p->links;
	struct lab_link *l;

	while (*at) {
		l = *at;
		if (!l->dead)
			serve_link(loop, l);
		if (l->dead) {
			*at = l->next;
			lab_link_free(loop->p, l);
		} else {
			at = &l->next;
		}
	}
}

static void accept_all(struct lab_proxy *p)
{
	int fd;

	while (p->listener >= 0) {
		fd = accept4(p->listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		lab_link_new(p, fd);
	}
}

static void turn_loop(struct loop *loop)
{
	uint64_t wakes;
	ssize_t n = 0;

	if (loop->set[WAKE].revents)
		n = read(loop->p->wake, &wakes, sizeof(wakes));
	(void)n;
	serve_all(loop);
	if (loop->set[LISTENER].revents)
		accept_all(loop->p);
	loop->p->turns++;
	pthread_cond_broadcast(&loop->p->counted);
}

void *lab_proxy_loop(void *proxy)
{
	struct loop loop = { .p = proxy };
	struct lab_proxy *p = proxy;
	int n;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && grow_set(&loop) == 0) {
		prepare_set(&loop);
		pthread_mutex_unlock(&p->lock);
		n = wait_for_events(&loop);
		pthread_mutex_lock(&p->lock);
		if (n >= 0)
			turn_loop(&loop);
	}
	p->over = true;
	pthread_cond_broadcast(&p->counted);
	pthread_mutex_unlock(&p->lock);
	free(loop.set);
	return NULL;
}
