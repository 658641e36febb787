/* SPDX-License-Identifier: Apache-2.0 */
/* The real world: events of the kernel's sockets. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/world/real.h"
#include "support/address.h"
#include "support/wait.h"

static struct dlki_world *w;
static const struct dlki_tag tag = { 3, 5 };

static void setup(void)
{
	struct dlk_error err;

	w = dlki_real_new(&err);
	cr_assert_not_null(w);
}

static void teardown(void)
{
	dlki_real_free(w);
}

TestSuite(real, .init = setup, .fini = teardown);

static int peer, sock;
static struct dlki_event e[4];
static char bytes[16];
static struct dlki_address to;

/* Wait for the next event. */
static unsigned int one_event(unsigned int sets)
{
	dlk_time until = w->type->now(w) + patience_ms() * DLK_MS;
	struct dlki_event e[4];
	int n = 0;

	while (n == 0 && w->type->now(w) < until)
		n = w->type->wait(w, sets, e, 4, until);
	cr_assert_eq(n, 1, "%d events", n);
	cr_assert_eq(e[0].tag.place, tag.place);
	cr_assert_eq(e[0].tag.generation, tag.generation);
	return e[0].bits;
}

static int no_event(void)
{
	struct dlki_event e[4];

	return w->type->wait(w, DLKI_ALL_SETS, e, 4, 0) == 0;
}

/* A listener on loopback, and the address. */
static int listen_tcp(struct dlki_address *to)
{
	int fd = address_bound(to);

	cr_assert_eq(listen(fd, 5), 0);
	return fd;
}

/* Connected: our socket, and in *peer the server's end. */
static int connected(enum dlki_set set, int *peer)
{
	struct dlki_address to;
	int listener = listen_tcp(&to);
	int sock = w->type->connect(w, &to, set, tag);

	cr_assert_geq(sock, 0);
	*peer = accept(listener, NULL, NULL);
	close(listener);
	cr_assert(one_event(DLKI_BIT(set)) & DLKI_WRITABLE);
	cr_assert_eq(w->type->finish(w, sock), 0);
	w->type->want(w, sock, 0);
	return sock;
}

Test(real, an_edge_is_told_once)
{
	sock = connected(DLKI_NEWS, &peer);
	cr_assert_eq(write(peer, "abc", 3), 3);
	cr_assert_eq(one_event(DLKI_BIT(DLKI_NEWS)), DLKI_READABLE);
	cr_assert(no_event());
	cr_assert_eq(w->type->read(w, sock, bytes, 2), 2);
	cr_assert(no_event(), "a byte is left, but that is no edge");
	cr_assert_eq(write(peer, "d", 1), 1);
	cr_assert_eq(one_event(DLKI_ALL_SETS), DLKI_READABLE);
	cr_assert_eq(w->type->read(w, sock, bytes, 16), 2);
	cr_assert_eq(w->type->read(w, sock, bytes, 16), -EAGAIN);
	w->type->close(w, sock);
	close(peer);
}

Test(real, data_and_the_end_are_one_event)
{
	sock = connected(DLKI_ANSWERS, &peer);
	cr_assert_eq(write(peer, "abc", 3), 3);
	close(peer);
	EVENTUALLY(recv(sock, bytes, 16, MSG_PEEK | MSG_DONTWAIT) == 3);
	cr_assert_eq(one_event(DLKI_BIT(DLKI_ANSWERS)) & ~DLKI_WRITABLE,
		     DLKI_READABLE | DLKI_ENDED);
	cr_assert(no_event());
	cr_assert_eq(w->type->read(w, sock, bytes, 16), 3);
	cr_assert_eq(w->type->read(w, sock, bytes, 16), 0);
	w->type->close(w, sock);
}

Test(real, await_ends_with_bytes_or_the_end_or_in_vain)
{
	sock = connected(DLKI_ANSWERS, &peer);
	cr_assert_eq(w->type->await(w, sock, bytes, 16), -EAGAIN);
	cr_assert_eq(w->type->read(w, sock, bytes, 16), -EAGAIN);
	cr_assert_eq(write(peer, "abc", 3), 3);
	cr_assert_eq(w->type->await(w, sock, bytes, 16), 3);
	cr_assert(no_event(), "the bytes of the edge are read");
	cr_assert_eq(write(peer, "d", 1), 1);
	close(peer);
	EVENTUALLY(recv(sock, bytes, 16, MSG_PEEK | MSG_DONTWAIT) == 1);
	cr_assert_eq(w->type->await(w, sock, bytes, 16), 1);
	cr_assert_eq(w->type->await(w, sock, bytes, 16), 0);
	w->type->close(w, sock);
}

Test(real, room_is_told_only_when_it_is_wanted)
{
	static char bytes[1 << 16];
	ssize_t n;

	sock = connected(DLKI_ANSWERS, &peer);
	do
		n = w->type->write(w, sock, bytes, sizeof(bytes));
	while (n > 0);
	cr_assert_eq(n, -EAGAIN);
	w->type->want(w, sock, 1);
	cr_assert(no_event());
	while (recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	cr_assert(one_event(DLKI_ALL_SETS) & DLKI_WRITABLE);
	w->type->want(w, sock, 0);
	cr_assert(no_event());
	w->type->want(w, sock, 1);
	cr_assert_eq(one_event(DLKI_ALL_SETS), DLKI_WRITABLE,
		     "told again, though nothing has changed");
	w->type->close(w, sock);
	close(peer);
}

Test(real, a_connection_that_is_refused_says_why)
{
	int listener = listen_tcp(&to);

	close(listener);
	sock = w->type->connect(w, &to, DLKI_ANSWERS, tag);
	if (sock >= 0) {
		cr_assert(one_event(DLKI_ALL_SETS) & DLKI_WRITABLE);
		cr_assert_eq(w->type->finish(w, sock), -ECONNREFUSED);
		w->type->close(w, sock);
	} else {
		cr_assert_eq(sock, -ECONNREFUSED);
	}
}

Test(real, a_unix_socket_is_told_as_connected)
{
	char path[100];
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, sizeof(path), "/tmp/dlock-real.%d", (int)getpid());
	cr_assert_eq(dlki_address_unix(&to, path, NULL), 0);
	cr_assert_eq(w->type->connect(w, &to, DLKI_NEWS, tag), -ENOENT);
	cr_assert_eq(bind(listener, &to.to.any, to.len), 0);
	cr_assert_eq(listen(listener, 1), 0);
	sock = w->type->connect(w, &to, DLKI_NEWS, tag);
	cr_assert_geq(sock, 0);
	cr_assert(one_event(DLKI_ALL_SETS) & DLKI_WRITABLE);
	cr_assert_eq(w->type->finish(w, sock), 0);
	cr_assert_eq(w->type->write(w, sock, "x", 1), 1);
	w->type->close(w, sock);
	close(listener);
	unlink(path);
}

Test(real, a_socket_that_met_itself_is_not_connected)
{
	struct dlki_address me;
	socklen_t len = sizeof(me.to.in);
	int fd;

	cr_assert_eq(address_tcp(&me, "127.0.0.1", 0), 0);
	fd = dlki_socket_open(&me);
	cr_assert_eq(bind(fd, &me.to.any, me.len), 0);
	cr_assert_eq(getsockname(fd, &me.to.any, &len), 0);
	cr_assert_eq(dlki_socket_connect(fd, &me), 0);
	cr_assert_eq(dlki_socket_finish(NULL, fd), -ECONNREFUSED);
	close(fd);
}

/* The limit rises by a descriptor each time, until the engine opens. */
Test(real, without_descriptors_there_is_no_world)
{
	struct rlimit old, low;
	struct dlk_error err;
	rlim_t first;
	int failed = 0;

	teardown();
	first = (rlim_t)dup(0);
	close((int)first);
	dlki_real_free(NULL);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	for (low.rlim_cur = first;; low.rlim_cur++) {
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
		w = dlki_real_new(&err);
		if (w)
			break;
		cr_assert_eq(err.code, DLOCK_EEXHAUSTED);
		failed++;
	}
	cr_assert_geq(failed, 2 * DLKI_SETS);
	cr_assert_eq(address_tcp(&to, "127.0.0.1", 1), 0);
	cr_assert_eq(w->type->connect(w, &to, DLKI_NEWS, tag), -EMFILE);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}

Test(real, events_without_room_come_with_the_next_wait)
{
	int sock[3], peer[3];

	for (int i = 0; i < 3; i++)
		sock[i] = connected(i == 0 ? DLKI_ANSWERS : DLKI_NEWS,
				    &peer[i]);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(write(peer[i], "x", 1), 1);
	cr_assert_eq(w->type->wait(w, DLKI_ALL_SETS, e, 1, 0), 1);
	cr_assert_eq(w->type->wait(w, DLKI_ALL_SETS, e, 4, 0), 2);
	for (int i = 0; i < 3; i++) {
		w->type->close(w, sock[i]);
		close(peer[i]);
	}
}

/* ---- Kicks and time ------------------------------------------------------ */

Test(real, a_kick_is_kept_for_the_next_wait)
{
	dlk_time begun = w->type->now(w);
	dlk_time until = begun + patience_ms() * DLK_MS;

	w->type->kick(w, DLKI_NEWS);
	w->type->kick(w, DLKI_NEWS);
	cr_assert_eq(w->type->wait(w, DLKI_BIT(DLKI_ANSWERS), e, 4, begun), 0);
	cr_assert_eq(w->type->wait(w, DLKI_BIT(DLKI_NEWS), e, 4, until), 0);
	cr_assert_lt(w->type->now(w), until);
	w->type->kick(w, DLKI_ANSWERS);
	cr_assert_eq(w->type->wait(w, DLKI_ALL_SETS, e, 4, until), 0);
	cr_assert_lt(w->type->now(w), until);
}

static int set_is_readable(enum dlki_set set)
{
	struct pollfd p = { .fd = dlki_real_fd(w, set), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

Test(real, a_set_can_be_polled)
{
	sock = connected(DLKI_NEWS, &peer);
	cr_assert(!set_is_readable(DLKI_NEWS));
	cr_assert_eq(write(peer, "abc", 3), 3);
	EVENTUALLY(set_is_readable(DLKI_NEWS));
	cr_assert(!set_is_readable(DLKI_ANSWERS));
	cr_assert_eq(one_event(DLKI_BIT(DLKI_NEWS)), DLKI_READABLE);
	cr_assert(!set_is_readable(DLKI_NEWS), "the edge was told");
	w->type->kick(w, DLKI_NEWS);
	cr_assert(set_is_readable(DLKI_NEWS));
	cr_assert_eq(w->type->wait(w, DLKI_BIT(DLKI_NEWS), e, 4, 0), 0);
	cr_assert(!set_is_readable(DLKI_NEWS));
	w->type->close(w, sock);
	close(peer);
}

/* Have the kernel refuse epoll_pwait2() to this process, for good. */
static void refuse_pwait2(unsigned int errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		cr_skip_test("no filter of system calls: %s", strerror(errno));
}

/* A kernel without the call, or a container's filter of system calls that is
 * older than the call. */
static void take_a_kick_without_pwait2(unsigned int errnum)
{
	refuse_pwait2(errnum);
	w->type->kick(w, DLKI_ANSWERS);
	cr_assert(set_is_readable(DLKI_ANSWERS));
	cr_assert_eq(w->type->wait(w, DLKI_BIT(DLKI_ANSWERS), e, 1, 0), 0);
	cr_assert(!set_is_readable(DLKI_ANSWERS));
}

Test(real, waits_on_a_kernel_without_epoll_pwait2)
{
	take_a_kick_without_pwait2(ENOSYS);
}

Test(real, waits_where_epoll_pwait2_is_not_permitted)
{
	take_a_kick_without_pwait2(EPERM);
}

Test(real, a_wait_ends_at_its_time_and_not_much_before)
{
	dlk_time until = w->type->now(w) + 20 * DLK_MS;

	while (w->type->now(w) < until)
		cr_assert_eq(w->type->wait(w, DLKI_ALL_SETS, e, 4, until), 0);
	cr_assert_leq(w->type->now(w), until + slack_ms() * DLK_MS);
}

Test(real, chance_differs)
{
	unsigned char a[64], b[64];

	cr_assert_eq(w->type->chance(w, a, sizeof(a)), 0);
	cr_assert_eq(w->type->chance(w, b, sizeof(b)), 0);
	cr_assert_neq(memcmp(a, b, sizeof(a)), 0);
}
