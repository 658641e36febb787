/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/source.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "core/base/attendant.h"

/* ---- Places, with the mutex held ----------------------------------------- */

static size_t find_place(const struct dlki_attendant *by)
{
	size_t i = 0;

	while (i < by->n && by->v[i])
		i++;
	return i;
}

/* 0, or an errno value. */
static int take_place(struct dlki_attendant *by, struct dlki_source *s)
{
	s->place = find_place(by);
	if (s->place == by->n) {
		struct dlki_source **v = realloc(
			by->v, (by->n + 1) * sizeof(struct dlki_source *));

		if (!v)
			return ENOMEM;
		by->v = v;
		by->v[by->n++] = NULL;
	}
	if (dlki_heap_reserve(&by->times, by->n) != 0)
		return ENOMEM;
	s->serial = ++by->serial;
	s->fd = -1;
	by->v[s->place] = s;
	return 0;
}

/* Free the descriptors and tables after the thread's last source has left. */
static void tidy(struct dlki_attendant *by)
{
	if (by->is_own || by->base.users > 0 || by->base.stop)
		return;
	dlki_attendant_close(by);
	free(by->v);
	by->v = NULL;
	by->n = 0;
	dlki_heap_destroy(&by->times);
	by->times = (struct dlki_heap){ 0 };
}

static void give_place(struct dlki_attendant *by, struct dlki_source *s)
{
	by->v[s->place] = NULL;
	dlki_heap_remove(&by->times, &s->timer);
	if (s->fd >= 0)
		(void)dlki_attendant_control(by, EPOLL_CTL_DEL, s->fd, 0, 0, 0);
}

static int has_place(const struct dlki_attendant *by,
		     const struct dlki_source *s)
{
	return s->place < by->n && by->v[s->place] == s;
}

/* ---- Sources ------------------------------------------------------------- */

/* With the mutex held. */
static int join(struct dlki_attendant *by, struct dlki_source *s)
{
	int rc = 0;

	dlki_common_settle(&by->base);
	if (!by->is_own && !by->base.runs)
		rc = dlki_attendant_open(by);
	if (rc == 0)
		rc = take_place(by, s);
	if (rc == 0 && !by->is_own) {
		rc = dlki_common_join(&by->base, "dlock-loop",
				      dlki_attendant_main);
		if (rc != 0)
			give_place(by, s);
	}
	if (rc == 0)
		atomic_store(&s->by, by);
	tidy(by);
	return rc;
}

int dlki_source_join(struct dlki_source *s, struct dlki_attendant *own)
{
	struct dlki_attendant *by = own;
	int rc;

	if (!by)
		by = dlki_attendant_here();
	if (!by)
		return ENOMEM;
	pthread_mutex_lock(&by->base.mu);
	rc = join(by, s);
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

void dlki_source_leave(struct dlki_source *s)
{
	struct dlki_attendant *by = atomic_load(&s->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	give_place(by, s);
	while (by->calling == s)
		dlk_cond_wait(&by->base.changed, &by->base.mu, DLK_FOREVER);
	atomic_store(&s->by, NULL);
	if (!by->is_own)
		dlki_common_leave(&by->base, dlki_attendant_end);
	tidy(by);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_source_at(struct dlki_source *s, dlk_time at)
{
	struct dlki_attendant *by = atomic_load(&s->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	if (has_place(by, s))
		dlki_heap_set(&by->times, &s->timer, at);
	dlki_attendant_arm(by);
	pthread_mutex_unlock(&by->base.mu);
}

int dlki_source_set_fd(struct dlki_source *s, int fd)
{
	struct dlki_attendant *by = atomic_load(&s->by);
	int rc = 0;

	if (!by)
		return 0;
	pthread_mutex_lock(&by->base.mu);
	if (s->fd >= 0)
		(void)dlki_attendant_control(by, EPOLL_CTL_DEL, s->fd, 0, 0, 0);
	s->fd = -1;
	if (fd >= 0 && dlki_attendant_control(by, EPOLL_CTL_ADD, fd, 0,
					      s->place, s->serial) < 0)
		rc = errno;
	else
		s->fd = fd;
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

void dlki_source_listen(struct dlki_source *s, int on)
{
	const struct dlki_attendant *by = atomic_load(&s->by);

	if (by)
		(void)dlki_attendant_control(by, EPOLL_CTL_MOD, s->fd,
					     on ? (uint32_t)EPOLLIN : 0,
					     s->place, s->serial);
}
