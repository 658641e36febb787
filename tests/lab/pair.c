/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct lab_proxy *proxy;
int listener;
int client;
int server;

int connect_client(struct lab_proxy *p)
{
	struct lab_address to = { .port = lab_proxy_port(p) };
	int fd = lab_connect(&to, lab_after_ms(LONG_MS));

	cr_assert_geq(fd, 0, "%s", lab_errmsg());
	return fd;
}

void open_pair(void)
{
	client = connect_client(proxy);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	cr_assert_geq(server, 0);
}

void pair_set_up(void)
{
	struct lab_proxy_options o = { .patience_ms = 0 };

	o.to.port = lab_reserve_port(&listener);
	cr_assert_eq(listen(listener, 64), 0);
	proxy = lab_proxy_new(&o);
	cr_assert(proxy, "%s", lab_errmsg());
	open_pair();
}

void pair_tear_down(void)
{
	lab_proxy_free(proxy);
	close(client);
	close(server);
	close(listener);
}

void put(int fd, const char *text)
{
	cr_assert_eq(lab_send(fd, text, strlen(text), lab_after_ms(LONG_MS)), 0,
		     "%s", lab_errmsg());
}

const char *get(int fd, int ms)
{
	static char text[256];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return "";
	n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	if (n == 0)
		return "FIN";
	if (n < 0)
		return errno == ECONNRESET ? "RST" : strerror(errno);
	text[n] = '\0';
	return text;
}

void saw(enum lab_proxy_stat which, uint64_t n)
{
	cr_assert_eq(lab_proxy_wait(proxy, which, n, LONG_MS), 0, "%s",
		     lab_errmsg());
}
