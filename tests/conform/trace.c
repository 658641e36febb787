/* SPDX-License-Identifier: Apache-2.0 */
/* Calls preserve errno, and leave no descriptor open over exec. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { ODD_ERRNO = 4321 };

#define KEEPS(call)                                                            \
	do {                                                                   \
		errno = ODD_ERRNO;                                             \
		call;                                                          \
		CHECK_INT(errno, ==, ODD_ERRNO);                               \
	} while (0)

static void no_participant(const struct dlock_participant *participant,
			   void *arg)
{
	(void)participant;
	(void)arg;
}

static void no_entry(const struct dlock_lock_info *entry, void *arg)
{
	(void)entry;
	(void)arg;
}

void case_errno_kept(struct conform *t)
{
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlock_hold *h = NULL, *none = NULL;
	dlock_lock *l = NULL, *other, *both = NULL;
	dlock_client *c = NULL;
	int rc = 0;

	use_mutex(t);
	other = handle(t, another_client(t, NULL, NULL));
	KEEPS(rc |= dlock_open(&c, t->uri, NULL));
	KEEPS(rc |= dlock_mutex_new(&l, c, t->name));
	KEEPS(rc |= dlock_multi_new(&both, &l, 1));
	KEEPS(rc |= acquire(l, 0, &h));
	KEEPS(rc |= dlock_check(h));
	CHECK_INT(rc, ==, 0);
	KEEPS(CHECK(dlock_remaining_ms(h) != 0));
	KEEPS(CHECK(dlock_hold_fd(h) >= 0));
	KEEPS(CHECK_RC(acquire(other, 0, &none), DLOCK_EBUSY));
	KEEPS(CHECK_RC(acquire(other, 20, &none), DLOCK_EBUSY));
	KEEPS(CHECK_RC(dlock_mutex_new(&l, c, ""), DLOCK_EINVAL));
	KEEPS((void)dlock_inspect(l, no_participant, NULL, 100));
	KEEPS((void)dlock_list(c, no_entry, NULL, 100));
	KEEPS((void)dlock_get_stats(c, &stats));
	KEEPS(dlock_cancel(l));
	KEEPS(CHECK_OK(release(h)));
	KEEPS((void)dlock_break(l, 100));
	KEEPS(CHECK_OK(acquire(both, patience_ms(), &h)));
	KEEPS(CHECK_OK(release(h)));
	KEEPS(dlock_lock_free(both));
	KEEPS(dlock_lock_free(l));
	KEEPS(dlock_close(c));
	KEEPS(CHECK_RC(dlock_open(&c, "nosuch:", NULL), DLOCK_EINVAL));
}

static const char *what_is(int fd)
{
	static char what[100];
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what) - 1);
	what[n > 0 ? n : 0] = '\0';
	return what;
}

void case_descriptors_close_on_exec(struct conform *t)
{
	static struct census now;
	struct worker *p;
	dlock_hold *h, *all;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	h = take(t->lock);
	all = take(multi(t, &t->lock, 1));
	CHECK_INT(dlock_hold_fd(h), >=, 0);
	CHECK_INT(dlock_hold_fd(all), >=, 0);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	census_take(&now);
	CHECK_INT(now.fds, >, t->before.fds);
	for (int fd = 0; fd < CENSUS_FDS; fd++) {
		if (now.open[fd] && !t->before.open[fd] &&
		    !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			FAIL("descriptor %d, %s, stays open over exec", fd,
			     what_is(fd));
	}
	give(all);
	give(h);
	HEAR_OK(p);
}
