/* SPDX-License-Identifier: Apache-2.0 */
/* Connections in use; net_connect.c has the connects. */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/wait.h"
#include "unit/peer.h"

/* Receives until the deadline; returns the time taken in ms. */
static int64_t listen_for(struct dlk_net *n, int64_t ms, size_t *bytes)
{
	struct dlk_error err = { 0 };
	dlk_time deadline = peer_deadline(ms);
	dlk_time start = dlk_now(), took;
	char buf[64];
	size_t got;
	int rc;

	*bytes = 0;
	while ((rc = dlk_net_recv(n, buf, sizeof(buf), &got, deadline, &err)) ==
	       0)
		*bytes += got;
	took = dlk_now() - start;
	CHECK_INT(rc, ==, DLOCK_EUNREACHABLE);
	CHECK_INT(err.code, ==, rc);
	CHECK_TEXT(err.text, n->peer);
	CHECK_TEXT(err.text, "no answer in time");
	CHECK_INT(took, >=, (ms - 1) * DLK_MS);
	return took / DLK_MS;
}

static int64_t silence(struct dlk_net *n, int64_t ms)
{
	size_t bytes;
	int64_t took = listen_for(n, ms, &bytes);

	CHECK_INT(bytes, ==, 0);
	return took;
}

Test(net, silence_has_its_deadline)
{
	static const int64_t ms[] = { 1, 5, 19, 21, 31, 33, 50, 120 };
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++)
		CHECK_WITHIN(silence(&n, ms[i]), ms[i] + slack_ms());
	dlk_net_close(&n);
	close(fd);
}

/* The kernel's time-outs come ticks late. The best of some tries shows whether
 * a deadline is met. */
Test(net, deadlines_are_met_to_the_millisecond)
{
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	for (int64_t ms = 20; ms <= 60; ms += 8) {
		int64_t best = INT64_MAX;

		for (int i = 0; i < 10 && best > ms + 2; i++) {
			int64_t took = silence(&n, ms);

			best = took < best ? took : best;
		}
		CHECK_INT(best, <=, ms + 2);
	}
	dlk_net_close(&n);
	close(fd);
}

static void *drip(void *arg)
{
	int fd = *(int *)arg;

	while (send(fd, ".", 1, MSG_NOSIGNAL) == 1)
		nap_ms(3);
	return NULL;
}

/* Returns the time taken, or INT64_MAX if no second byte came. */
static int64_t dripped_on(struct dlk_net *n)
{
	size_t bytes;
	int64_t took = listen_for(n, 200, &bytes);

	return bytes > 1 ? took : INT64_MAX;
}

Test(net, a_drip_does_not_extend_the_deadline)
{
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, drip, &fd) == 0);
	CHECK_WITHIN(dripped_on(&n), 200 + slack_ms());
	dlk_net_close(&n);
	pthread_join(thread, NULL);
	close(fd);
}

static atomic_int caught;

static void catch_it(int sig)
{
	(void)sig;
	atomic_fetch_add(&caught, 1);
}

/* A thread sends the signals. A timer would leave the program no time where
 * handlers are slow, as under valgrind. */
struct storm {
	pthread_t victim, thread;
	atomic_bool over;
};

static void *rage(void *arg)
{
	struct storm *s = arg;

	while (!atomic_load(&s->over)) {
		pthread_kill(s->victim, SIGUSR1);
		nap_us(700);
	}
	return NULL;
}

static void storm_begin(struct storm *s)
{
	struct sigaction act = { .sa_handler = catch_it };

	CHECK(sigaction(SIGUSR1, &act, NULL) == 0);
	s->victim = pthread_self();
	CHECK(pthread_create(&s->thread, NULL, rage, s) == 0);
}

static void storm_end(struct storm *s)
{
	atomic_store(&s->over, true);
	pthread_join(s->thread, NULL);
}

static int64_t send_late(struct dlk_net *n, size_t size)
{
	struct dlk_error err = { 0 };
	char *data = calloc(1, size);
	int64_t start = now_ms(), took;
	int rc = dlk_net_send(n, data, size, peer_deadline(150), &err);

	took = now_ms() - start;
	CHECK_INT(rc, ==, DLOCK_EUNREACHABLE);
	CHECK_TEXT(err.text, "not sent in time");
	CHECK_INT(took, >=, 149);
	free(data);
	return took;
}

Test(net, signals_do_not_extend_the_deadline)
{
	struct storm s = { 0 };
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	storm_begin(&s);
	CHECK_WITHIN(silence(&n, 200), 200 + slack_ms());
	CHECK_WITHIN(send_late(&n, 32 << 20), 150 + slack_ms());
	storm_end(&s);
	CHECK_INT(atomic_load(&caught), >, 20);
	dlk_net_close(&n);
	close(fd);
}

Test(net, who_reads_nothing_does_not_extend_the_deadline)
{
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	CHECK_WITHIN(send_late(&n, 32 << 20), 150 + slack_ms());
	dlk_net_close(&n);
	close(fd);
}

#define LARGE (1 << 20)

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 31 + (i >> 9));
}

static void *read_slowly(void *arg)
{
	static unsigned char buf[32768];
	int fd = *(int *)arg;
	size_t seen = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK_INT(buf[i], ==, pattern(seen + (size_t)i));
		seen += (size_t)n;
		nap_ms(2);
	}
	CHECK_INT(seen, ==, LARGE);
	return NULL;
}

static void send_large(struct dlk_net *n, int fd)
{
	struct dlk_error err = { 0 };
	unsigned char *data = malloc(LARGE);
	const int small = 16384;
	pthread_t thread;

	for (size_t i = 0; i < LARGE; i++)
		data[i] = pattern(i);
	CHECK(setsockopt(n->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) ==
	      0);
	CHECK(pthread_create(&thread, NULL, read_slowly, &fd) == 0);
	if (dlk_net_send(n, data, LARGE, peer_deadline(patience_ms()), &err) !=
	    0)
		FAIL("%s", err.text);
	dlk_net_close(n);
	pthread_join(thread, NULL);
	close(fd);
	free(data);
}

Test(net, a_slow_reader_gets_all_of_it)
{
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	send_large(&n, fd);
}

static void check_over(struct dlk_net *n, const char *why)
{
	struct dlk_error err = { 0 };
	char byte;
	size_t got;

	CHECK_INT(dlk_net_recv(n, &byte, 1, &got, peer_deadline(patience_ms()),
			       &err),
		  ==, DLOCK_EUNREACHABLE);
	CHECK_TEXT(err.text, n->peer);
	CHECK_TEXT(err.text, why);
}

Test(net, the_peer_closes)
{
	struct dlk_net n = DLK_NET_INIT;

	close(peer_tcp(&n));
	check_over(&n, "the connection was closed");
	dlk_net_close(&n);
}

Test(net, the_peer_resets)
{
	struct dlk_net n = DLK_NET_INIT;

	peer_reset(peer_tcp(&n));
	check_over(&n, "reset");
	dlk_net_close(&n);
}

static void send_to_nobody(struct dlk_net *n)
{
	struct dlk_error err = { 0 };
	int64_t end = now_ms() + patience_ms();
	int rc;

	/* The first send may be the first to hear that the peer is gone. */
	do {
		rc = dlk_net_send(n, "x", 1, peer_deadline(patience_ms()),
				  &err);
	} while (rc == 0 && now_ms() < end);
	CHECK_INT(rc, ==, DLOCK_EUNREACHABLE);
	CHECK_TEXT(err.text, n->peer);
	/* The second send fails with EPIPE, which comes with the signal. */
	CHECK_INT(dlk_net_send(n, "x", 1, peer_deadline(1000), &err), ==,
		  DLOCK_EUNREACHABLE);
	dlk_net_close(n);
}

Test(net, sending_to_nobody_does_not_kill)
{
	struct dlk_net n = DLK_NET_INIT;
	struct sigaction def = { .sa_handler = SIG_DFL };
	sigset_t set;

	CHECK(sigaction(SIGPIPE, &def, NULL) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
	close(peer_tcp(&n));
	send_to_nobody(&n);
}

/* After the deadline a call neither sends nor receives: a late request does
 * harm, and a peer that drips could keep the call for ever. */
Test(net, after_the_deadline_nothing_happens)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	int fd = peer_tcp(&n);
	char byte;
	size_t got;

	CHECK_INT(write(fd, "x", 1), ==, 1);
	EVENTUALLY(!dlk_net_quiet(&n));
	CHECK_INT(dlk_net_send(&n, "x", 1, peer_deadline(-1), &err), ==,
		  DLOCK_EUNREACHABLE);
	CHECK_INT(dlk_net_recv(&n, &byte, 1, &got, INT64_MIN, &err), ==,
		  DLOCK_EUNREACHABLE);
	CHECK_INT(dlk_net_recv(&n, &byte, 1, &got, DLK_FOREVER, &err), ==, 0);
	dlk_net_close(&n);
	CHECK_INT(read(fd, &byte, 1), <=, 0);
	close(fd);
}

Test(net, quiet)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	int fd = peer_tcp(&n);
	char byte;
	size_t got;

	CHECK(dlk_net_quiet(&n));
	CHECK_INT(write(fd, "x", 1), ==, 1);
	EVENTUALLY(!dlk_net_quiet(&n));
	CHECK_INT(dlk_net_recv(&n, &byte, 1, &got, peer_deadline(1000), &err),
		  ==, 0);
	CHECK_INT(byte, ==, 'x');
	CHECK(dlk_net_quiet(&n));
	close(fd);
	EVENTUALLY(!dlk_net_quiet(&n));
	dlk_net_close(&n);

	fd = peer_tcp(&n);
	peer_reset(fd);
	EVENTUALLY(!dlk_net_quiet(&n));
	dlk_net_close(&n);
	CHECK(!dlk_net_quiet(&n));
}
