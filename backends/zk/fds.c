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

/* Of "pipe:[4711]" the number, which no other pipe has; 0: it is none. */
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

/* What a descriptor is, its name tells: a call on it might meet another thread
 * that closes it. */
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

/* By what they are and not by their descriptors: what another thread has open
 * for an instant may leave its number to one of ours. */
static void note(int fd, uint64_t pipe_id, void *arg)
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
	each_fd(note, fds);
	if (!fds->failed)
		return 0;
	free(fds->pipes);
	return -1;
}

/* Another thread's pipe of the same instant may be taken for ours.  It is in
 * the same danger: whoever makes a pipe for a child dups it there. */
static void new_pipe(int fd, uint64_t pipe_id, void *arg)
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
	each_fd(new_pipe, before);
	free(before->pipes);
}

struct peer {
	const struct sockaddr *addr;
	socklen_t len;
};

static void same_peer(int fd, uint64_t pipe_id, void *arg)
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

	each_fd(same_peer, &want);
}
