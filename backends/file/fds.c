/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/fds.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read-locked from before a descriptor is opened, or closed, until the bits say
 * so.  A close may take long. */
static pthread_rwlock_t no_fork =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* for the rest */
static unsigned char *bits;
static size_t n_bytes;
static int top = -1; /* the greatest descriptor ever kept */
static int handlers;

static void lock_before_fork(void)
{
	pthread_rwlock_wrlock(&no_fork);
	pthread_mutex_lock(&mu);
}

static void unlock_in_parent(void)
{
	pthread_mutex_unlock(&mu);
	pthread_rwlock_unlock(&no_fork);
}

/* The child's thread has another number than the thread that locked no_fork,
 * and may not unlock it. */
static void close_in_child(void)
{
	static const pthread_rwlock_t unlocked =
		PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	size_t i;
	int b;

	for (i = 0; i < n_bytes; i++) {
		for (b = 0; bits[i] && b < CHAR_BIT; b++) {
			if (bits[i] & (1 << b))
				close((int)(i * CHAR_BIT) + b);
		}
		bits[i] = 0;
	}
	pthread_mutex_unlock(&mu);
	no_fork = unlocked;
}

/* Make room for `need`, in advance for the next descriptor; keep() calls this
 * again if the descriptor is much larger. */
static int make_room(size_t need)
{
	size_t size = n_bytes ? n_bytes : 64;
	unsigned char *p;

	while (size <= need)
		size *= 2;
	if (size == n_bytes)
		return 0;
	p = realloc(bits, size);
	if (!p)
		return ENOMEM;
	memset(p + n_bytes, 0, size - n_bytes);
	bits = p;
	n_bytes = size;
	return 0;
}

int dlki_file_fds_hold(void)
{
	int rc = 0;

	pthread_rwlock_rdlock(&no_fork);
	pthread_mutex_lock(&mu);
	if (!handlers)
		rc = pthread_atfork(lock_before_fork, unlock_in_parent,
				    close_in_child);
	if (!rc) {
		handlers = 1;
		rc = make_room((size_t)(top + 1) / CHAR_BIT + 1);
	}
	pthread_mutex_unlock(&mu);
	if (rc) {
		pthread_rwlock_unlock(&no_fork);
		errno = rc;
	}
	return rc;
}

int dlki_file_fds_keep(int fd)
{
	int saved = errno;

	pthread_mutex_lock(&mu);
	if (fd >= 0 && make_room((size_t)fd / CHAR_BIT)) {
		close(fd);
		fd = -1;
		saved = ENOMEM;
	}
	if (fd >= 0) {
		bits[fd / CHAR_BIT] |= (unsigned char)(1 << fd % CHAR_BIT);
		if (fd > top)
			top = fd;
	}
	pthread_mutex_unlock(&mu);
	pthread_rwlock_unlock(&no_fork);
	errno = saved;
	return fd;
}

void dlki_file_fds_close(int fd)
{
	if (fd < 0)
		return;
	pthread_rwlock_rdlock(&no_fork);
	pthread_mutex_lock(&mu);
	bits[fd / CHAR_BIT] &= (unsigned char)~(1 << fd % CHAR_BIT);
	pthread_mutex_unlock(&mu);
	close(fd);
	pthread_rwlock_unlock(&no_fork);
}
