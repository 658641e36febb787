/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/subject.h"
#include "lab/clock.h"
#include "lab/fail.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLOOR_ROUNDS 300
#define FLOOR_MS 2000

/* "scheme://127.0.0.1:p1,127.0.0.1:p2" */
static void make_uri(struct lab_subject *s, bool proxied, char *out,
		     size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s://", s->kind->scheme);

	for (size_t i = 0; i < s->n_nodes && used < size; i++)
		used += (size_t)snprintf(out + used, size - used,
					 "%s" LAB_LOOPBACK ":%d", i ? "," : "",
					 proxied ?
						 lab_proxy_port(s->proxies[i]) :
						 s->nodes[i]->port);
}

int lab_subject_start(struct lab_subject *s)
{
	if (s->kind->start(s) < 0)
		return -1;
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct lab_proxy_options o = { .to = lab_server_address(
						       s->nodes[i]) };

		s->proxies[i] = lab_proxy_new(&o);
		if (!s->proxies[i])
			return -1;
	}
	s->n_uses = 0;
	lab_subject_use(s, s);
	make_uri(s, false, s->uri, sizeof(s->uri));
	make_uri(s, true, s->proxied, sizeof(s->proxied));
	snprintf(s->shown, sizeof(s->shown), "%.255s", s->uri);
	return 0;
}

void lab_subject_stop(struct lab_subject *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		lab_proxy_free(s->proxies[i]);
		if (!s->whole)
			lab_server_free(s->nodes[i]);
		s->proxies[i] = NULL;
		s->nodes[i] = NULL;
	}
	s->n_nodes = 0;
	if (s->whole)
		s->kind->stop(s);
	s->whole = NULL;
	lab_process_free(s->tidy);
	s->tidy = NULL;
}

static int each(struct lab_subject *s, int (*call)(struct lab_server *))
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (call(s->nodes[i]) < 0)
			return -1;
	return 0;
}

int lab_subject_kill(struct lab_subject *s)
{
	return each(s, lab_server_kill);
}

static int restart(struct lab_server *server)
{
	return lab_server_restart(server, true);
}

int lab_subject_restart(struct lab_subject *s)
{
	if (each(s, restart) < 0)
		return -1;
	return s->kind->wait ? s->kind->wait(s) : 0;
}

int lab_subject_pause(struct lab_subject *s)
{
	return each(s, lab_server_pause);
}

int lab_subject_resume(struct lab_subject *s)
{
	return each(s, lab_server_resume);
}

int lab_subject_step_wall(struct lab_subject *s, int64_t ms)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (lab_server_step_wall(s->nodes[i], ms) < 0)
			return -1;
	return 0;
}

/* ---- The floor ----------------------------------------------------------- */

/* Send, and read as many bytes as the answer has. */
static bool exchange(int fd, const struct lab_exchange *e, int64_t deadline)
{
	char reply[256];
	size_t used = 0;

	if (lab_send(fd, e->send, e->len, deadline) < 0)
		return false;
	while (used < e->reply) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, lab_poll_ms(deadline)) <= 0)
			return false;
		n = recv(fd, reply + used, sizeof(reply) - used, 0);
		if (n <= 0)
			return false;
		used += (size_t)n;
	}
	return true;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

double lab_subject_floor_us(struct lab_subject *s)
{
	int64_t deadline = lab_after_ms(FLOOR_MS);
	double us[FLOOR_ROUNDS];
	struct lab_address to;
	size_t n = 0;
	int fd;

	if (!s->kind || !s->kind->ping.len || !s->n_nodes)
		return -1;
	to = lab_server_address(s->nodes[0]);
	fd = lab_connect(&to, deadline);
	if (fd >= 0 && s->kind->hello.len &&
	    !exchange(fd, &s->kind->hello, deadline)) {
		close(fd);
		return -1;
	}
	for (; fd >= 0 && n < FLOOR_ROUNDS; n++) {
		int64_t begun = lab_now();

		if (!exchange(fd, &s->kind->ping, deadline))
			break;
		us[n] = (double)(lab_now() - begun) / 1e3;
	}
	if (fd >= 0)
		close(fd);
	if (n < FLOOR_ROUNDS)
		return -1;
	qsort(us, n, sizeof(*us), by_size);
	return us[n / 2];
}
