/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <fcntl.h>
#include <unistd.h>

void terminal_look(struct terminal *t)
{
	t->fd = -1;
	t->given = 0;
	t->used = 0;
	for (int fd = 0; fd <= 2 && t->fd < 0; fd++)
		if (isatty(fd) && tcgetpgrp(fd) >= 0)
			t->fd = fd;
	if (t->fd < 0)
		t->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (t->fd >= 0 && tcgetattr(t->fd, &t->modes) < 0)
		t->fd = -1;
	t->eager = t->fd == STDIN_FILENO && isatty(STDOUT_FILENO) &&
		   terminal_ours(t);
}

void terminal_give(struct terminal *t, pid_t ours, pid_t pgid)
{
	pid_t now = tcgetpgrp(t->fd);

	if ((now == ours || now == pgid) && tcsetpgrp(t->fd, pgid) == 0)
		t->given = t->used = 1;
}

int terminal_lent(const struct terminal *t, pid_t pgid)
{
	return t->given && tcgetpgrp(t->fd) == pgid;
}

/* Whether the group is that of the shell that started dlock, or the session. */
static int is_shell(pid_t pgid)
{
	return pgid == getpgid(getppid()) || pgid == getpgid(getsid(0));
}

void terminal_take(struct terminal *t)
{
	if (t->given && !is_shell(tcgetpgrp(t->fd)))
		tcsetpgrp(t->fd, getpgrp());
	t->given = 0;
}

void terminal_restore(const struct terminal *t)
{
	if (t->used && terminal_ours(t))
		tcsetattr(t->fd, TCSANOW, &t->modes);
}

int terminal_ours(const struct terminal *t)
{
	return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}
