/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/proxy/impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int lab_control_listen(struct lab_proxy *p, const char *path)
{
	struct lab_address at = { .path = path };

	p->control = lab_listen(&at);
	if (p->control < 0)
		return -1;
	snprintf(p->control_path, sizeof(p->control_path), "%s", path);
	return 0;
}

void lab_control_accept(struct lab_proxy *p)
{
	int fd = accept4(p->control, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	for (int i = 0; i < LAB_CONTROLS; i++)
		if (p->controls[i].fd < 0) {
			p->controls[i].fd = fd;
			p->controls[i].len = 0;
			return;
		}
	close(fd);
}

static void hang_up(struct lab_control *c)
{
	close(c->fd);
	c->fd = -1;
}

static void answer_line(struct lab_proxy *p, struct lab_control *c,
			const char *line)
{
	char reply[768];
	size_t len;

	lab_proxy_command(p, line, reply, sizeof(reply) - 1);
	len = strlen(reply);
	reply[len++] = '\n';
	/* A client that does not read loses the answer. */
	if (send(c->fd, reply, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

void lab_control_read(struct lab_proxy *p, struct lab_control *c)
{
	char *nl;
	ssize_t n;

	n = recv(c->fd, c->line + c->len, sizeof(c->line) - 1 - c->len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(c);
		return;
	}
	c->len += (size_t)n;
	c->line[c->len] = '\0';
	for (nl = strchr(c->line, '\n'); nl; nl = strchr(c->line, '\n')) {
		*nl = '\0';
		answer_line(p, c, c->line);
		c->len -= (size_t)(nl + 1 - c->line);
		memmove(c->line, nl + 1, c->len + 1);
	}
	if (c->len == sizeof(c->line) - 1)
		hang_up(c);
}

void lab_control_close(struct lab_proxy *p)
{
	for (int i = 0; i < LAB_CONTROLS; i++)
		if (p->controls[i].fd >= 0)
			hang_up(&p->controls[i]);
	if (p->control < 0)
		return;
	close(p->control);
	unlink(p->control_path);
	p->control = -1;
}
