/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

void dlki_tcp_tune(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 15 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].name,
			   &options[i].value, sizeof(options[i].value));
}

int dlki_tcp_is_echo(int fd)
{
	struct sockaddr_storage me = { 0 }, peer = { 0 };
	socklen_t my_len = sizeof(me), peer_len = sizeof(peer);

	return getsockname(fd, (struct sockaddr *)&me, &my_len) == 0 &&
	       me.ss_family != AF_UNIX &&
	       getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 &&
	       memcmp(&me, &peer, my_len) == 0;
}
