/* SPDX-License-Identifier: Apache-2.0 */
/* The floor of a system under test: bare round trips to the server. */
#include "lab/base/clock.h"
#include "lab/report/findings.h"
#include "lab/scenarios/sut.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLOOR_ROUNDS 300
#define FLOOR_MS 2000

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
