/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/peer.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/wait.h"

static atomic_int go_on, names;

dlk_time peer_deadline(int64_t ms)
{
	return dlki_after_ms(dlk_now(), ms);
}

int peer_listen(const char *host, uint16_t *port, int backlog)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	char digits[NI_MAXSERV];
	int fd;

	snprintf(digits, sizeof(digits), "%u", (unsigned int)*port);
	CHECK(getaddrinfo(host, digits, &hints, &ai) == 0);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) < 0) {
		freeaddrinfo(ai);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	CHECK(listen(fd, backlog) == 0);
	CHECK(getsockname(fd, ai->ai_addr, &ai->ai_addrlen) == 0);
	CHECK(getnameinfo(ai->ai_addr, ai->ai_addrlen, NULL, 0, digits,
			  sizeof(digits), NI_NUMERICSERV) == 0);
	CHECK(sscanf(digits, "%hu", port) == 1);
	freeaddrinfo(ai);
	return fd;
}

int peer_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

void peer_reset(int fd)
{
	const struct linger now = { 1, 0 };

	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	close(fd);
}

int peer_tcp(struct dlk_net *n)
{
	struct dlk_error err = { 0 };
	uint16_t port = 0;
	int listener = peer_listen("127.0.0.1", &port, 1);
	int fd;

	if (dlk_net_tcp(n, "127.0.0.1", port, peer_deadline(patience_ms()),
			&err) != 0)
		FAIL("%s", err.text);
	fd = peer_accept(listener);
	close(listener);
	return fd;
}

/* ---- The resolver -------------------------------------------------------- */

void peer_resolver_goes_on(void)
{
	atomic_store(&go_on, 1);
}

int peer_names_resolved(void)
{
	return atomic_load(&names);
}

typedef int resolver(const char *, const char *, const struct addrinfo *,
		     struct addrinfo **);

static resolver *system_resolver(void)
{
	resolver *f = NULL;
	void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

	memcpy(&f, &symbol, sizeof(f));
	return f;
}

static int two(const char *port, const struct addrinfo *hints,
	       struct addrinfo **out)
{
	resolver *f = system_resolver();
	int rc = f("127.0.0.2", port, hints, out);

	return rc != 0 ? rc : f("127.0.0.1", port, hints, &(*out)->ai_next);
}

static int once(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **out)
{
	static atomic_int times[2];
	int tired = strcmp(host, "tired.test") == 0;

	if (atomic_fetch_add(&times[tired], 1) == 0)
		return system_resolver()("127.0.0.1", port, hints, out);
	if (!tired)
		return EAI_AGAIN;
	while (!atomic_load(&go_on))
		nap_ms(1);
	return system_resolver()("127.0.0.2", port, hints, out);
}

/* Replaces the C library's getaddrinfo() in this program. */
int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **out)
{
	if (hints->ai_flags & AI_NUMERICHOST)
		return system_resolver()(host, port, hints, out);
	atomic_fetch_add(&names, 1);
	if (strcmp(host, "tired.test") == 0 || strcmp(host, "flaky.test") == 0)
		return once(host, port, hints, out);
	if (strcmp(host, "slow.test") == 0) {
		while (!atomic_load(&go_on))
			nap_ms(1);
		host = "127.0.0.1";
	}
	if (strcmp(host, "pair.test") == 0)
		return two(port, hints, out);
	if (strstr(host, "absent.test"))
		return EAI_NONAME;
	if (strcmp(host, "mute.test") == 0)
		return EAI_AGAIN;
	if (strcmp(host, "full.test") == 0) {
		errno = EMFILE;
		return EAI_SYSTEM;
	}
	return system_resolver()(host, port, hints, out);
}
