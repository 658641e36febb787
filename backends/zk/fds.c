/* SPDX-License-Identifier: Apache-2.0 */
/* The client library leaves its descriptors open over exec, and tells nobody
 * which they are. */
#include "backends/zk/zk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int names_pipe(int dir, const char *name)
{
	static const char prefix[] = "pipe:[";
	char what[sizeof(prefix)];
	ssize_t n = readlinkat(dir, name, what, sizeof(what));

	return n >= (ssize_t)sizeof(prefix) - 1 &&
	       memcmp(what, prefix, sizeof(prefix) - 1) == 0;
}

/* What a descriptor is, its name tells: a call on it might meet another thread
 * that closes it. */
static void each_fd(void (*each)(int fd, int is_pipe, void *arg), void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)) != NULL) {
		char *end;
		long fd = strtol(e->d_name, &end, 10);

		if (end != e->d_name && *end == '\0' && fd != dirfd(dir))
			each((int)fd, names_pipe(dirfd(dir), e->d_name), arg);
	}
	closedir(dir);
}

static void close_on_exec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags >= 0 && !(flags & FD_CLOEXEC))
		fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/* Pipes only: what another thread has open for an instant, a directory it looks
 * into, may leave its number to one of ours. */
static void note(int fd, int is_pipe, void *arg)
{
	struct zk_fds *fds = arg;

	if (is_pipe && (size_t)fd < 8 * sizeof(fds->pipes))
		fds->pipes[fd / 8] |= (unsigned char)(1u << (fd % 8));
}

void dlki_zk_fds_before(struct zk_fds *fds)
{
	memset(fds, 0, sizeof(*fds));
	each_fd(note, fds);
}

/* Another thread's pipe of the same instant may be taken for ours.  It is in
 * the same danger: whoever makes a pipe for a child dups it there. */
static void new_pipe(int fd, int is_pipe, void *arg)
{
	const struct zk_fds *before = arg;

	if (is_pipe && (size_t)fd < 8 * sizeof(before->pipes) &&
	    !(before->pipes[fd / 8] & (1u << (fd % 8))))
		close_on_exec(fd);
}

void dlki_zk_fds_pipes(const struct zk_fds *before)
{
	each_fd(new_pipe, (void *)(uintptr_t)before);
}

struct peer {
	const struct sockaddr *addr;
	socklen_t len;
};

static void same_peer(int fd, int is_pipe, void *arg)
{
	const struct peer *want = arg;
	struct sockaddr_storage have;
	socklen_t len = sizeof(have);

	if (is_pipe)
		return;
	memset(&have, 0, sizeof(have));
	if (getpeername(fd, (struct sockaddr *)&have, &len) == 0 &&
	    len == want->len && memcmp(&have, want->addr, len) == 0)
		close_on_exec(fd);
}

void dlki_zk_fds_sockets(const struct sockaddr *peer, socklen_t len)
{
	struct peer want = { peer, len };

	each_fd(same_peer, &want);
}
