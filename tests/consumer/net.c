/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign store with a protocol over TCP, as C and C++. */
#include <arpa/inet.h>
#include <dlock/backend_net.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *doing, const struct dlk_error *err)
{
	fprintf(stderr, "%s: %s\n", doing, err->text);
	return 1;
}

/* Listen on loopback, at a port of the kernel's choice. */
static int listen_somewhere(uint16_t *port)
{
	struct sockaddr_in at;
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(&at, 0, sizeof(at));
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&at, &len))
		return -1;
	*port = ntohs(at.sin_port);
	return fd;
}

/* Send a word and read the word back, then wait in vain for another word. */
static int talk(struct dlk_net *net, int store, struct dlk_error *err)
{
	dlk_time deadline = dlk_now() + 10000 * DLK_MS;
	int peer = accept(store, NULL, NULL);
	char word[5] = "";
	size_t got;

	if (peer < 0 || dlk_net_send(net, "ping", 4, deadline, err) != 0)
		return fail("send", err);
	if (read(peer, word, 4) != 4 || write(peer, word, 4) != 4 ||
	    dlk_net_recv(net, word, 4, &got, deadline, err) != 0)
		return fail("receive", err);
	printf("%s says '%s'\n", net->peer, word);
	if (dlk_net_recv(net, word, 4, &got, dlk_now() + 50 * DLK_MS, err) !=
	    DLOCK_EUNREACHABLE)
		return fail("a late answer", err);
	close(peer);
	return strcmp(word, "ping") != 0;
}

int main(void)
{
	struct dlk_net net = DLK_NET_INIT;
	struct dlk_error err = { 0, "" };
	uint16_t port = 0;
	int store = listen_somewhere(&port), rc;

	if (store < 0)
		return fail("set up", &err);
	if (dlk_net_tcp(&net, "127.0.0.1", port, dlk_now() + 10000 * DLK_MS,
			&err) != 0)
		return fail("connect", &err);
	rc = talk(&net, store, &err);
	dlk_net_close(&net);
	close(store);
	return rc;
}
