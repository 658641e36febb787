/* SPDX-License-Identifier: Apache-2.0 */
/* The client library does not say which descriptors are its own. */
#include "backends/zk/fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The number in "pipe:[4711]", which no other pipe has; 0: it is no pipe. */
static uint64_t pipe_of(int dir, const char *name)
{
	static const char prefix[] = "pipe:[";
	const size_t len = sizeof(prefix) - 1;
	char what[64];
	ssize_t n = readlinkat(dir, name, what, sizeof(what) - 1);

	if (n < (ssize_t)len || memcmp(what, prefix, len) != 0)
		return 0;
	what[n] = '\0';
	return strtoull(what + len, NULL, 10);
}

/* The name in /proc says what a descriptor is.  A call on the descriptor could
 * race with another thread that closes it. */
static void each_fd(void (*each)(int fd, uint64_t pipe_id, void *arg),
		    void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)) != NULL) {
		char *end;
		long fd = strtol(e->d_name, &end, 10);

		if (end != e->d_name && *end == '\0' && fd != dirfd(dir))
			each((int)fd, pipe_of(dirfd(dir), e->d_name), arg);
	}
	closedir(dir);
}

static void close_on_exec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags >= 0 && !(flags & FD_CLOEXEC))
		fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/* Pipes are noted by their number, not by descriptor: another thread may close
 * a descriptor, and the library's pipe may get it. */
static void note_pipe(int fd, uint64_t pipe_id, void *arg)
{
	struct zk_fds *fds = arg;

	(void)fd;
	if (!pipe_id || fds->failed)
		return;
	if (fds->n == fds->room) {
		size_t room = fds->room ? 2 * fds->room : 64;
		uint64_t *pipes = reallocarray(fds->pipes, room,
					       sizeof(pipes[0]));

		if (!pipes) {
			fds->failed = 1;
			return;
		}
		fds->pipes = pipes;
		fds->room = room;
	}
	fds->pipes[fds->n++] = pipe_id;
}

int dlki_zk_fds_before(struct zk_fds *fds)
{
	memset(fds, 0, sizeof(*fds));
	each_fd(note_pipe, fds);
	if (!fds->failed)
		return 0;
	free(fds->pipes);
	return -1;
}

/* A pipe that another thread makes at this moment may be taken for the
 * library's.  That does no harm: a pipe meant for a child is dup()ed there. */
static void close_new_pipe_on_exec(int fd, uint64_t pipe_id, void *arg)
{
	const struct zk_fds *before = arg;

	if (!pipe_id)
		return;
	for (size_t i = 0; i < before->n; i++)
		if (before->pipes[i] == pipe_id)
			return;
	close_on_exec(fd);
}

void dlki_zk_fds_pipes(struct zk_fds *before)
{
	each_fd(close_new_pipe_on_exec, before);
	free(before->pipes);
}

struct peer {
	const struct sockaddr *addr;
	socklen_t len;
};

static void close_peer_on_exec(int fd, uint64_t pipe_id, void *arg)
{
	const struct peer *want = arg;
	struct sockaddr_storage have;
	socklen_t len = sizeof(have);

	if (pipe_id)
		return;
	memset(&have, 0, sizeof(have));
	if (getpeername(fd, (struct sockaddr *)&have, &len) == 0 &&
	    len == want->len && memcmp(&have, want->addr, len) == 0)
		close_on_exec(fd);
}

void dlki_zk_fds_sockets(const struct sockaddr *peer, socklen_t len)
{
	struct peer want = { peer, len };

	each_fd(close_peer_on_exec, &want);
}
