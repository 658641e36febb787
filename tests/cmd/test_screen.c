/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static void become(const char *slave, char *const argv[])
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	fd = open(slave, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || dup2(fd, 0) < 0 ||
	    dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(98);
	execv(argv[0], argv);
	_exit(99);
}

void start_there(struct proc *p, struct screen *s, const char *const a[])
{
	char *argv[16] = { (char *)(a[0] ? a[0] : getenv("DLOCK_BIN")) };
	char slave[64];

	for (size_t i = 1; a[i]; i++)
		argv[i] = (char *)a[i];
	memset(s, 0, sizeof(*s));
	s->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(s->fd >= 0 && grantpt(s->fd) == 0 && unlockpt(s->fd) == 0);
	cr_assert(ptsname_r(s->fd, slave, sizeof(slave)) == 0);
	p->number = -1;
	p->pid = fork();
	if (p->pid == 0)
		become(slave, argv);
	cr_assert(p->pid > 0);
}

int shows(struct screen *s, const char *text)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };

	while (poll(&fd, 1, 0) > 0 && s->used < sizeof(s->text) - 1) {
		ssize_t n = read(s->fd, s->text + s->used,
				 sizeof(s->text) - 1 - s->used);

		if (n <= 0)
			break;
		s->used += (size_t)n;
	}
	return strstr(s->text, text) != NULL;
}

void type(const struct screen *s, const char *keys)
{
	cr_assert(write(s->fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}
