/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/history.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/history/resource.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct lab_record) == 96, "the records of a file");

struct lab_history {
	int fd;
	atomic_uint ops;
	atomic_int error; /* errno of the first failed record */
};

struct lab_history *lab_history_open(const char *dir)
{
	struct lab_history *h = calloc(1, sizeof(*h));
	char path[4096];

	if (!h) {
		lab_fail("out of memory");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%d.history", dir, (int)getpid());
	h->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (h->fd < 0) {
		lab_fail("%s: %s", path, strerror(errno));
		free(h);
		return NULL;
	}
	/* The pid may have been another process's: start above those
	 * numbers. */
	atomic_init(&h->ops, (unsigned)(lseek(h->fd, 0, SEEK_END) /
					(off_t)sizeof(struct lab_record)));
	return h;
}

int lab_history_close(struct lab_history *h)
{
	int error;

	if (!h)
		return 0;
	error = atomic_load(&h->error);
	close(h->fd);
	free(h);
	return error ? lab_fail("the history has holes: %s", strerror(error)) :
		       0;
}

static void append(struct lab_history *h, struct lab_record *r)
{
	int saved = errno;
	int none = 0;
	ssize_t n;

	if (!r->at)
		r->at = lab_now();
	r->pid = (uint32_t)getpid();
	r->tid = (uint32_t)gettid();
	do {
		n = write(h->fd, r, sizeof(*r));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		atomic_compare_exchange_strong(&h->error, &none,
					       n < 0 ? errno : ENOSPC);
	errno = saved;
}

static void set_name(struct lab_record *r, const char *name)
{
	strncpy(r->name, name, sizeof(r->name) - 1);
}

int64_t lab_until(int64_t asked, int64_t remaining_ms)
{
	if (remaining_ms < 0)
		return LAB_FOREVER;
	return remaining_ms ? asked + remaining_ms * LAB_MS : 0;
}

static uint64_t note_acquire(struct lab_history *h, struct lab_record r,
			     const char *name)
{
	r.what = LAB_ACQUIRE;
	r.op = (uint64_t)getpid() << 32 | (atomic_fetch_add(&h->ops, 1) + 1);
	set_name(&r, name);
	append(h, &r);
	return r.op;
}

uint64_t lab_history_acquire(struct lab_history *h, const char *name,
			     enum lab_mode mode, uint32_t limit,
			     int64_t timeout_ms)
{
	struct lab_record r = { .mode = (uint8_t)mode,
				.limit = limit,
				.value = timeout_ms };

	return note_acquire(h, r, name);
}

uint64_t lab_history_permits(struct lab_history *h, const char *name,
			     uint32_t limit, uint32_t permits,
			     int64_t timeout_ms)
{
	struct lab_record r = { .mode = LAB_PERMIT,
				.limit = limit,
				.rc = (int32_t)permits,
				.value = timeout_ms };

	return note_acquire(h, r, name);
}

uint64_t lab_history_beside(struct lab_history *h, const char *name,
			    enum lab_mode mode, uint64_t beside,
			    int64_t timeout_ms)
{
	struct lab_record r = { .mode = (uint8_t)mode,
				.token = beside,
				.value = timeout_ms };

	return note_acquire(h, r, name);
}

void lab_history_acquired(struct lab_history *h, uint64_t op, int rc,
			  uint64_t token, int64_t until)
{
	struct lab_record r = { .what = LAB_ACQUIRED, .op = op, .rc = rc };

	if (rc == 0) {
		r.token = token;
		r.until = until;
	}
	append(h, &r);
}

void lab_history_until(struct lab_history *h, uint64_t op, int64_t until)
{
	struct lab_record r = { .what = LAB_UNTIL, .op = op, .until = until };

	append(h, &r);
}

void lab_history_checked(struct lab_history *h, uint64_t op, int64_t asked,
			 int rc)
{
	struct lab_record r = { .what = LAB_CHECKED, .op = op, .rc = rc };

	r.at = asked;
	append(h, &r);
}

void lab_history_lost(struct lab_history *h, uint64_t op)
{
	struct lab_record r = { .what = LAB_LOST, .op = op };

	append(h, &r);
}

void lab_history_release(struct lab_history *h, uint64_t op, int64_t until)
{
	struct lab_record r = { .what = LAB_RELEASE, .op = op, .until = until };

	append(h, &r);
}

void lab_history_released(struct lab_history *h, uint64_t op, int rc)
{
	struct lab_record r = { .what = LAB_RELEASED, .op = op, .rc = rc };

	append(h, &r);
}

void lab_history_wrote(struct lab_history *h, uint64_t op, const char *name,
		       uint64_t token, const struct lab_written *verdict)
{
	struct lab_record r = { .what = LAB_WROTE, .op = op, .token = token };

	r.rc = verdict->accepted;
	r.value = (int64_t)verdict->place;
	r.until = (int64_t)verdict->largest;
	set_name(&r, name);
	append(h, &r);
}

void lab_history_process(struct lab_history *h, enum lab_what what, pid_t pid)
{
	struct lab_record r = { .what = (uint8_t)what, .value = pid };

	append(h, &r);
}

void lab_history_wiped(struct lab_history *h, const char *name, int64_t begin,
		       bool surely)
{
	struct lab_record r = { .what = LAB_WIPED, .value = begin };

	r.rc = surely;
	set_name(&r, name);
	append(h, &r);
}

void lab_history_left(struct lab_history *h, const char *name, int64_t count)
{
	struct lab_record r = { .what = LAB_LEFT, .value = count };

	set_name(&r, name);
	append(h, &r);
}

void lab_history_note(struct lab_history *h, const char *format, ...)
{
	struct lab_record r = { .what = LAB_NOTE };
	va_list ap;

	va_start(ap, format);
	vsnprintf(r.name, sizeof(r.name), format, ap);
	va_end(ap);
	append(h, &r);
}
