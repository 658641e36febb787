/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/client.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void silence(void)
{
	zoo_set_debug_level((ZooLogLevel)0);
}

void dlki_zk_client_silence(void)
{
	pthread_once(&once, silence);
}

/* The library would leave them open over exec. */
int dlki_zkc_socket(int domain, int type, int protocol)
{
	return socket(domain, type | SOCK_CLOEXEC, protocol);
}

/* The library sends the length of a request separately.  The length is held
 * back for the rest of the request, so that the server is woken once. */
ssize_t dlki_zkc_send(int fd, const void *data, size_t len, int flags)
{
	return send(fd, data, len,
		    len == sizeof(int32_t) ? flags | MSG_MORE : flags);
}
