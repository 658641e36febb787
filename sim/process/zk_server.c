/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/zk_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/process/real.h"
#include "sim/process/sched.h"
#include "sim/process/way.h"
#include "sim/zk/server.h"

enum { PEERS = 64, US = 1000 };

#define WALL_US (INT64_C(1700000000) * 1000000)

int real_connect(int fd, const struct sockaddr *to, socklen_t len)
	REAL("connect");
ssize_t real_send(int fd, const void *bytes, size_t n, int flags) REAL("send");
int real_close(int fd) REAL("close");
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
int __wrap_close(int fd);

struct peer {
	int fd; /* the server's end; -1: free */
	int server;
	struct sim_zk_conn *conn;
	struct sim_way to_server, to_client;
};

static struct {
	struct sim_zk *model;
	struct sim_chance *chance;
	struct sim_zk_weather weather;
	struct peer peers[PEERS];
	pthread_t thread;
	int wake, ends, followers;
	int64_t paused_until;
} s;

static struct sim_zk_time now(void)
{
	int64_t us = sim_sched_now() / US;

	return (struct sim_zk_time){ us + 1000000, us + WALL_US };
}

static void way_put(struct sim_way *w, const void *bytes, size_t len)
{
	int64_t us = 1 + (int64_t)sim_draw(s.chance, "way", s.weather.delay_us);

	sim_way_put(w, bytes, len, sim_sched_now() + us * US);
}

/* ---- Peers --------------------------------------------------------------- */

static void peer_end(struct peer *p)
{
	sim_zk_disconnect(p->conn);
	real_close(p->fd);
	p->fd = -1;
	sim_way_end(&p->to_server);
	sim_way_end(&p->to_client);
	sim_sched_look();
}

static int peer_add(int fd, int server)
{
	struct peer *p = s.peers;

	while (p < s.peers + PEERS && p->fd >= 0)
		p++;
	if (p == s.peers + PEERS)
		sim_sched_fail("more than %d connections", PEERS);
	*p = (struct peer){ .fd = fd,
			    .server = server,
			    .conn = sim_zk_connect(s.model, server) };
	sim_way_begin(&p->to_server);
	sim_way_begin(&p->to_client);
	return eventfd_write(s.wake, 1);
}

static void peer_read(struct peer *p)
{
	char bytes[4096];
	ssize_t n = recv(p->fd, bytes, sizeof(bytes), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0 && !sim_happens(s.chance, "reset", s.weather.reset_rate))
		way_put(&p->to_server, bytes, (size_t)n);
	else
		peer_end(p);
}

/* Put the model's answers on the way. */
static void peer_collect(struct peer *p)
{
	struct sim_bytes *out = sim_zk_output(p->conn);

	if (out->len > 0) {
		way_put(&p->to_client, sim_bytes_text(out), out->len);
		sim_bytes_take(out, out->len);
	}
}

static int64_t draw_hold_us(void)
{
	return (int64_t)sim_draw(s.chance, "hold", s.weather.hold_us);
}

/* A client leaves a server after a sixth of the ttl without an answer. */
static void hold_up_in_turn(int follower)
{
	int64_t ttl_us = s.weather.ttl_ms * 1000;
	int64_t from_us = now().up_us + (int64_t)sim_draw(s.chance, "late",
							  (uint64_t)ttl_us / 6);

	sim_zk_hold_up_in_turn(s.model, follower, from_us,
			       from_us + ttl_us + draw_hold_us());
}

static void hold_up(int follower)
{
	if (s.weather.in_turn)
		hold_up_in_turn(follower);
	else
		sim_zk_hold_up(s.model, follower, now().up_us + draw_hold_us());
}

/* A client has an answer.  The longer the leader does not hear of the client
 * from then on, the more a lease that counts from the answer is too long. */
static void draw_fault_behind(const struct peer *p)
{
	if (p->server > 0 && s.weather.apart &&
	    sim_happens(s.chance, "hold", s.weather.hold_rate))
		hold_up(p->server);
}

static void peer_deliver(struct peer *p)
{
	struct sim_packet *packet;

	if (sim_way_due(&p->to_server) <= sim_sched_now()) {
		packet = sim_way_take(&p->to_server);
		sim_zk_input(p->conn, sim_bytes_text(&packet->bytes),
			     packet->bytes.len, now());
		sim_packet_free(packet);
	}
	if (sim_way_due(&p->to_client) <= sim_sched_now()) {
		packet = sim_way_take(&p->to_client);
		(void)real_send(p->fd, sim_bytes_text(&packet->bytes),
				packet->bytes.len, MSG_NOSIGNAL);
		sim_packet_free(packet);
		draw_fault_behind(p);
		sim_sched_look();
	}
}

/* ---- The thread ---------------------------------------------------------- */

static void draw_fault(void)
{
	if (sim_happens(s.chance, "pause", s.weather.pause_rate))
		s.paused_until = sim_sched_now() +
				 (int64_t)sim_draw(s.chance, "paused",
						   s.weather.pause_us) *
					 US;
	if (sim_happens(s.chance, "restart", s.weather.restart_rate))
		sim_zk_restart(s.model, 1, now());
	if (s.followers > 0 &&
	    sim_happens(s.chance, "hold", s.weather.hold_rate))
		hold_up(1 +
			(int)sim_draw(s.chance, "held", (uint64_t)s.followers));
}

/* One way is clogged; or the server has taken a request of the client, answers
 * late, and hears no later request for a whole lease.  The later the answer is,
 * the more a lease that counts from the answer is too long. */
static void draw_clog(struct peer *p)
{
	int64_t ttl_us = s.weather.ttl_ms * 1000, us;

	if (p->fd < 0 || !sim_happens(s.chance, "clog", s.weather.clog_rate))
		return;
	us = draw_hold_us();
	switch (sim_draw(s.chance, "way", 4)) {
	case 0:
		p->to_server.at = sim_sched_now() + us * US;
		break;
	case 1:
		p->to_client.at = sim_sched_now() + us * US;
		break;
	default:
		p->to_server.at = sim_sched_now() + (ttl_us + us) * US;
		us = (int64_t)sim_draw(s.chance, "late",
				       (uint64_t)ttl_us * 2 / 3);
		p->to_client.at = sim_sched_now() + us * US;
	}
}

/* Do all that is due.  The model may have bytes for every peer. */
static void turn(void)
{
	if (sim_zk_due(s.model) <= now().up_us)
		sim_zk_ring(s.model, now());
	for (struct peer *p = s.peers; p < s.peers + PEERS; p++) {
		if (p->fd >= 0)
			peer_deliver(p);
	}
	for (struct peer *p = s.peers; p < s.peers + PEERS; p++) {
		if (p->fd < 0)
			continue;
		peer_collect(p);
		if (sim_zk_is_closing(p->conn) && !p->to_client.first)
			peer_end(p);
	}
}

static int64_t earlier(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static int64_t due(void)
{
	int64_t at = (sim_zk_due(s.model) - 1000000) * US;

	for (const struct peer *p = s.peers; p < s.peers + PEERS; p++) {
		if (p->fd < 0)
			continue;
		at = earlier(at, sim_way_due(&p->to_server));
		at = earlier(at, sim_way_due(&p->to_client));
	}
	return at > s.paused_until ? at : s.paused_until;
}

static void wait_for_bytes(int64_t until)
{
	struct pollfd fds[PEERS + 1];
	struct peer *of[PEERS + 1];
	eventfd_t none;
	nfds_t n = 1;

	fds[0] = (struct pollfd){ .fd = s.wake, .events = POLLIN };
	for (struct peer *p = s.peers; p < s.peers + PEERS; p++) {
		if (p->fd < 0)
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
		if (fds[i].revents)
			peer_read(of[i]), draw_fault(), draw_clog(of[i]);
	}
}

static void *serve(void *none)
{
	while (!s.ends) {
		wait_for_bytes(due());
		while (s.paused_until > sim_sched_now())
			sim_sched_wait(SIM_SLEEP, NULL, s.paused_until);
		turn();
	}
	return none;
}

/* The leader ends sessions at the ends of ticks.  So the less the answer of a
 * follower to a ping is ahead of such an end, the less a lease may be too
 * long. */
static int64_t draw_ping_us(struct sim_chance *chance)
{
	int64_t half_us = SIM_ZK_TICK_MS * 1000 / 2;

	if (sim_draw(chance, "close", 2))
		return half_us - (int64_t)sim_draw(chance, "ping", 3000);
	return (int64_t)sim_draw(chance, "ping", (uint64_t)half_us);
}

void sim_zk_server_start(struct sim_chance *chance, int followers)
{
	struct sim_zk_options o = { .tick_ms = SIM_ZK_TICK_MS,
				    .followers = followers,
				    .link_us = 150,
				    .ping_us = draw_ping_us(chance) };

	s.followers = followers;
	s.chance = chance;
	s.ends = 0;
	s.model = sim_zk_new(&o, now());
	s.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (size_t i = 0; i < PEERS; i++)
		s.peers[i].fd = -1;
	sim_zk_server_weather(NULL);
	if (pthread_create(&s.thread, NULL, serve, NULL) != 0)
		sim_sched_fail("no thread");
}

void sim_zk_server_weather(const struct sim_zk_weather *weather)
{
	s.weather = weather ? *weather :
			      (struct sim_zk_weather){ .delay_us = 50 };
}

const char *sim_zk_server_left(void)
{
	return sim_zk_ephemeral(s.model, 0);
}

void sim_zk_server_stop(void)
{
	s.ends = 1;
	eventfd_write(s.wake, 1);
	pthread_join(s.thread, NULL);
	for (struct peer *p = s.peers; p < s.peers + PEERS; p++) {
		if (p->fd >= 0)
			peer_end(p);
	}
	sim_zk_free(s.model);
	s.model = NULL;
	real_close(s.wake);
}

/* ---- The calls of the process -------------------------------------------- */

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	const struct sockaddr_in *in = (const void *)to;
	int ends[2], n;

	if (!sim_sched_is_on() || !s.model)
		return real_connect(fd, to, len);
	sim_sched_point("connect");
	n = ntohs(in->sin_port) - SIM_ZK_PORT;
	if (n < 0 || n > s.followers)
		sim_sched_fail("a connect to port %d", n + SIM_ZK_PORT);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	if (fcntl(ends[0], F_SETFL, fcntl(fd, F_GETFL)) < 0 ||
	    fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0 ||
	    dup3(ends[0], fd, O_CLOEXEC) < 0)
		sim_sched_fail("no connection");
	real_close(ends[0]);
	return peer_add(ends[1], n);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
	sim_sched_look();
	return real_send(fd, bytes, n, flags);
}

int __wrap_close(int fd)
{
	sim_sched_look();
	return real_close(fd);
}
