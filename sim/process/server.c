/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/process/real.h"
#include "sim/process/sched.h"

/* A server that stands still keeps all closed connections meanwhile. */
enum { PEERS = 1024, US = 1000 };

int real_connect(int fd, const struct sockaddr *to, socklen_t len)
	REAL("connect");
ssize_t real_send(int fd, const void *bytes, size_t n, int flags) REAL("send");
int real_close(int fd) REAL("close");
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
int __wrap_close(int fd);

static struct {
	const struct sim_server_type *type; /* NULL: there is no server */
	struct sim_chance *chance;
	struct sim_wires wires[SIM_PORTS];
	struct sim_wire peers[PEERS];
	size_t n; /* of the first so many peers, each has been in use */
	pthread_t thread;
	int wake, ends;
	int64_t paused_until, port_paused_until[SIM_PORTS], late_at;
} s;

static const struct sim_wires *wires_of(const struct sim_wire *p)
{
	return &s.wires[p->port];
}

static void way_put(struct sim_way *w, const struct sim_wires *wires,
		    const void *bytes, size_t len)
{
	int64_t us = 1 + (int64_t)sim_draw(s.chance, "way", wires->delay_us);

	us += (int64_t)wires->least_us;
	sim_way_put(w, bytes, len, sim_sched_now() + us * US);
}

/* As a single packet, or as two. */
static void way_put_all(struct sim_way *w, const struct sim_wires *wires,
			const char *bytes, size_t len)
{
	size_t first = len;

	if (len > 1 && sim_happens(s.chance, "split", wires->split_rate))
		first = 1 + (size_t)sim_draw(s.chance, "cut", len - 1);
	way_put(w, wires, bytes, first);
	if (first < len)
		way_put(w, wires, bytes + first, len - first);
}

/* Does the server at the port stand still? */
static int is_paused(const struct sim_wire *p)
{
	return s.port_paused_until[p->port] > sim_sched_now();
}

/* ---- Peers --------------------------------------------------------------- */

static void peer_end(struct sim_wire *p)
{
	s.type->ended(p->conn);
	real_close(p->fd);
	p->fd = -1;
	sim_way_end(&p->to_server);
	sim_way_end(&p->to_client);
	sim_sched_look();
}

/* 0: refused. */
static int peer_add(int fd, int port, int client)
{
	struct sim_wire *p = s.peers;

	while (p < s.peers + s.n && p->fd >= 0)
		p++;
	if (p == s.peers + PEERS)
		sim_sched_fail("more than %d connections", PEERS);
	if (p == s.peers + s.n)
		s.n++;
	*p = (struct sim_wire){
		.fd = -1, .port = port, .client = client, .set = -1
	};
	sim_way_begin(&p->to_server);
	sim_way_begin(&p->to_client);
	if (!s.type->accept(p))
		return 0;
	p->fd = fd;
	eventfd_write(s.wake, 1);
	return 1;
}

static void peer_hung_up(struct sim_wire *p)
{
	if (s.type->outlives && !p->loses && !p->ending)
		p->hung_up = 1;
	else
		peer_end(p);
}

/* With unread bytes, the end of a socket is a reset. */
static void peer_read(struct sim_wire *p)
{
	char bytes[4096];
	ssize_t n = recv(p->fd, bytes, sizeof(bytes), MSG_PEEK);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		peer_hung_up(p);
		return;
	}
	if (sim_happens(s.chance, "reset", wires_of(p)->reset_rate)) {
		peer_end(p);
		return;
	}
	n = recv(p->fd, bytes, sizeof(bytes), 0);
	if (!p->ending && sim_happens(s.chance, "end", wires_of(p)->end_rate))
		p->ending = 1;
	if (!p->ending)
		way_put_all(&p->to_server, wires_of(p), bytes, (size_t)n);
}

/* Put the model's answers on the way. */
static void peer_collect(struct sim_wire *p)
{
	struct sim_bytes *out = s.type->output(p->conn);

	if (out->len > 0 && !is_paused(p)) {
		way_put_all(&p->to_client, wires_of(p), sim_bytes_text(out),
			    out->len);
		sim_bytes_take(out, out->len);
	}
}

static void peer_deliver(struct sim_wire *p)
{
	struct sim_packet *packet;

	if (sim_way_due(&p->to_server) <= sim_sched_now() && !is_paused(p)) {
		packet = sim_way_take(&p->to_server);
		if (sim_sched_now() - packet->from > s.type->late_ns)
			s.late_at = sim_sched_now();
		s.type->input(p->conn, sim_bytes_text(&packet->bytes),
			      packet->bytes.len);
		sim_packet_free(packet);
	}
	if (sim_way_due(&p->to_client) <= sim_sched_now()) {
		packet = sim_way_take(&p->to_client);
		(void)real_send(p->fd, sim_bytes_text(&packet->bytes),
				packet->bytes.len, MSG_NOSIGNAL);
		sim_packet_free(packet);
		if (s.type->answered)
			s.type->answered(p);
		sim_sched_look();
	}
}

static int peer_is_over(const struct sim_wire *p)
{
	if (p->hung_up)
		return !p->to_server.first;
	return (p->ending || s.type->is_closing(p->conn)) &&
	       !p->to_client.first && !is_paused(p);
}

/* ---- The thread ---------------------------------------------------------- */

/* Do all work due.  The model may have bytes for every peer. */
static void turn(void)
{
	if (s.type->due() <= sim_sched_now())
		s.type->ring();
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd >= 0)
			peer_deliver(p);
	}
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd < 0)
			continue;
		peer_collect(p);
		if (peer_is_over(p))
			peer_end(p);
	}
}

static int64_t earlier(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static int64_t later(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

static int64_t due(void)
{
	int64_t at = s.type->due();

	for (const struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd < 0)
			continue;
		at = earlier(at, later(sim_way_due(&p->to_server),
				       s.port_paused_until[p->port]));
		at = earlier(at, sim_way_due(&p->to_client));
	}
	return later(at, s.paused_until);
}

static void wait_for_bytes(int64_t until)
{
	struct pollfd fds[PEERS + 1];
	struct sim_wire *of[PEERS + 1];
	eventfd_t none;
	nfds_t n = 1;

	fds[0] = (struct pollfd){ .fd = s.wake, .events = POLLIN };
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd < 0 || p->hung_up)
			continue;
		of[n] = p;
		fds[n++] = (struct pollfd){ .fd = p->fd, .events = POLLIN };
	}
	if (real_poll(fds, n, 0) == 0 && until > sim_sched_now())
		sim_sched_poll(fds, n, until);
	if (real_poll(fds, n, 0) <= 0)
		return;
	(void)eventfd_read(s.wake, &none);
	for (nfds_t i = 1; i < n; i++) {
		if (!fds[i].revents)
			continue;
		peer_read(of[i]);
		if (s.type->asked)
			s.type->asked(of[i]);
	}
}

static void pause_server(void)
{
	int64_t from = sim_sched_now();

	while (s.paused_until > sim_sched_now())
		sim_sched_wait(SIM_SLEEP, NULL, s.paused_until);
	if (sim_sched_now() - from > s.type->late_ns)
		s.late_at = sim_sched_now();
}

static void *serve(void *none)
{
	while (!s.ends) {
		wait_for_bytes(due());
		pause_server();
		turn();
	}
	return none;
}

/* ---- Start and stop ------------------------------------------------------ */

void sim_server_start(const struct sim_server_type *type,
		      struct sim_chance *chance)
{
	s.type = type;
	s.chance = chance;
	s.ends = 0;
	s.paused_until = s.late_at = 0;
	for (int i = 0; i < SIM_PORTS; i++)
		sim_server_pause(i, 0);
	s.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s.n = 0;
	sim_server_wires(-1, NULL);
	if (pthread_create(&s.thread, NULL, serve, NULL) != 0)
		sim_sched_fail("no thread");
}

void sim_server_wires(int port, const struct sim_wires *wires)
{
	for (int i = 0; i < SIM_PORTS; i++) {
		if (port >= 0 && port != i)
			continue;
		s.wires[i] = wires ? *wires :
				     (struct sim_wires){ .delay_us = 50 };
	}
}

void sim_server_pause(int port, int64_t until)
{
	if (port < 0)
		s.paused_until = until;
	else
		s.port_paused_until[port] = until;
}

int64_t sim_server_late_at(void)
{
	return s.late_at;
}

void sim_server_each(int port, int set,
		     void (*each)(struct sim_wire *p, void *arg), void *arg)
{
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd >= 0 && (port < 0 || p->port == port) &&
		    (set < 0 || p->set == set))
			each(p, arg);
	}
}

void sim_server_stop(void)
{
	s.ends = 1;
	eventfd_write(s.wake, 1);
	pthread_join(s.thread, NULL);
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd >= 0)
			peer_end(p);
	}
	s.type = NULL;
	real_close(s.wake);
}

/* ---- The calls of the process -------------------------------------------- */

/* Have `fd` be the client's end.  Returns the server's. */
static int join(int fd)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
	    fcntl(ends[0], F_SETFL, fcntl(fd, F_GETFL)) < 0 ||
	    fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0 ||
	    dup3(ends[0], fd, O_CLOEXEC) < 0)
		sim_sched_fail("no connection");
	real_close(ends[0]);
	return ends[1];
}

void sim_server_watched(int client, int set)
{
	if (!s.type || !s.type->shares)
		return;
	for (struct sim_wire *p = s.peers; p < s.peers + s.n; p++) {
		if (p->fd < 0 || p->client != client)
			continue;
		p->set = set;
		s.type->known(p);
	}
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	const struct sockaddr_in *in = (const void *)to;
	int port, end;

	if (!sim_sched_is_on() || !s.type)
		return real_connect(fd, to, len);
	sim_sched_point("connect");
	port = ntohs(in->sin_port) - s.type->first_port;
	if (port < 0 || port >= s.type->ports)
		sim_sched_fail("a connect to port %d",
			       port + s.type->first_port);
	end = join(fd);
	if (peer_add(end, port, fd))
		return 0;
	real_close(end);
	errno = ECONNREFUSED;
	return -1;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
	ssize_t sent = real_send(fd, bytes, n, flags);
	int errnum = errno;

	sim_sched_look();
	if (sim_sched_is_on() && s.type && s.type->hands_over)
		sim_sched_point("send");
	errno = errnum;
	return sent;
}

int __wrap_close(int fd)
{
	sim_sched_closed(fd);
	for (struct sim_wire *p = s.peers; s.type && p < s.peers + s.n; p++)
		p->client = p->client == fd ? -1 : p->client;
	return real_close(fd);
}
