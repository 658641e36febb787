/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/sut.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/report/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM 65536
#define FLOOR_ROUNDS 300
#define FLOOR_MS 2000

int lab_sut_alone(struct lab_sut *s, struct lab_server *server)
{
	s->nodes[0] = server;
	s->n_nodes = server ? 1 : 0;
	return server ? 0 : -1;
}

void lab_sut_version(struct lab_sut *s, const char *name, const char *answer,
		     const char *before, const char *end)
{
	const char *at = strstr(answer, before);

	if (!at)
		return;
	at += strlen(before);
	snprintf(s->server_text, sizeof(s->server_text), "%s %.*s", name,
		 (int)strcspn(at, end), at);
}

int lab_sut_has_room(const struct lab_sut *s, int64_t used, int64_t most)
{
	if (used < 0 || most < 0)
		return lab_fail("%s does not say how full it is",
				s->kind->name);
	if (used > most / 2)
		return lab_fail("%s is full: %" PRId64 " bytes", s->kind->name,
				used);
	return 0;
}

/* "scheme://127.0.0.1:p1,127.0.0.1:p2" */
static void make_uri(struct lab_sut *s, bool proxied, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s://", s->kind->scheme);

	for (size_t i = 0; i < s->n_nodes && used < size; i++)
		used += (size_t)snprintf(out + used, size - used,
					 "%s" LAB_LOOPBACK ":%d", i ? "," : "",
					 proxied ?
						 lab_proxy_port(s->proxies[i]) :
						 s->nodes[i]->port);
}

int lab_sut_use(struct lab_sut *s, struct lab_sut *other)
{
	for (size_t i = 0; i < s->n_uses; i++)
		if (s->uses[i] == other)
			return 0;
	if (s->n_uses == LAB_MOST_USED)
		return lab_fail("more than %d servers", LAB_MOST_USED);
	s->uses[s->n_uses++] = other;
	return 0;
}

void lab_sut_claim(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_uses; i++)
		pthread_mutex_lock(&s->uses[i]->claim);
}

void lab_sut_disclaim(struct lab_sut *s)
{
	for (size_t i = s->n_uses; i > 0; i--)
		pthread_mutex_unlock(&s->uses[i - 1]->claim);
}

int lab_sut_start(struct lab_sut *s)
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
	lab_sut_use(s, s);
	make_uri(s, false, s->uri, sizeof(s->uri));
	make_uri(s, true, s->proxied, sizeof(s->proxied));
	snprintf(s->shown, sizeof(s->shown), "%.255s", s->uri);
	return 0;
}

void lab_sut_stop(struct lab_sut *s)
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

static int each_node(struct lab_sut *s, int (*call)(struct lab_server *))
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (call(s->nodes[i]) < 0)
			return -1;
	return 0;
}

int lab_sut_kill(struct lab_sut *s)
{
	return each_node(s, lab_server_kill);
}

static int restart(struct lab_server *server)
{
	return lab_server_restart(server, true);
}

int lab_sut_restart(struct lab_sut *s)
{
	if (each_node(s, restart) < 0)
		return -1;
	return s->kind->wait ? s->kind->wait(s) : 0;
}

int lab_sut_pause(struct lab_sut *s)
{
	return each_node(s, lab_server_pause);
}

int lab_sut_resume(struct lab_sut *s)
{
	return each_node(s, lab_server_resume);
}

int lab_sut_step_wall(struct lab_sut *s, int64_t ms)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (lab_server_step_wall(s->nodes[i], ms) < 0)
			return -1;
	return 0;
}

/* ---- Undo the effects of earlier trials ---------------------------------- */

/* Full disks take names, and no bytes. */
int lab_room(const char *dir)
{
	static const char bytes[ROOM] = { 0 };
	char path[600];
	ssize_t n = -1;
	int error;
	int fd;

	snprintf(path, sizeof(path), "%.580s/room-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	errno = fd < 0 ? errno : ENOSPC;
	if (fd >= 0)
		n = write(fd, bytes, sizeof(bytes));
	error = errno;
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return n == ROOM ? 0 :
			   lab_fail("nothing can be written to %s: %s", dir,
				    strerror(error));
}

/* Running, on time, and reached without faults. */
static int mend_servers(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct lab_server *node = s->nodes[i];
		bool alive = lab_server_alive(node);

		if (s->proxies[i])
			lab_proxy_heal(s->proxies[i]);
		if (s->wall && lab_server_step_wall(node, 0) < 0)
			return -1;
		if (alive && lab_server_resume(node) < 0)
			return -1;
		if (!alive && lab_server_restart(node, true) < 0)
			return -1;
	}
	return s->kind->wait ? s->kind->wait(s) : 0;
}

/* Take all servers down before the first comes up: a server still up would tell
 * the others the data that they are to forget. */
static int start_afresh(struct lab_sut *s)
{
	if (lab_sut_kill(s) < 0)
		return -1;
	for (size_t i = 0; i < s->n_nodes; i++)
		if (lab_server_restart(s->nodes[i], false) < 0)
			return -1;
	return s->kind->wait ? s->kind->wait(s) : 0;
}

static int reset_servers(struct lab_sut *s)
{
	if (mend_servers(s) == 0 &&
	    (!s->kind->as_started || s->kind->as_started(s) == 0))
		return 0;
	if (start_afresh(s) < 0)
		return -1;
	return s->kind->as_started ? s->kind->as_started(s) : 0;
}

int lab_sut_reset(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_uses; i++)
		if (reset_servers(s->uses[i]) < 0)
			return -1;
	return *s->files ? lab_room(s->files) : 0;
}

/* ---- The floor: bare round trips to the server --------------------------- */

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

double lab_sut_floor_us(struct lab_sut *s)
{
	int64_t deadline = lab_after_ms(FLOOR_MS);
	struct lab_figure figure;
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
	lab_figure_samples(&figure, us, n);
	return figure.p50;
}
