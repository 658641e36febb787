/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets for the lab: on the loopback address only, every call under an
 * absolute deadline of lab_now()'s clock, every descriptor close-on-exec.
 */
#ifndef DLOCK_LAB_NET_H
#define DLOCK_LAB_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>

#define LAB_LOOPBACK "127.0.0.1"

struct lab_address {
	int port; /* of LAB_LOOPBACK */
};

/* Return the address for connect(2) and bind(2). */
struct sockaddr_in lab_sockaddr(const struct lab_address *at);

/*
 * Take a free port of 127.0.0.1 and keep the port: while `*fd` is open the
 * kernel gives it to no socket by chance, but a server that binds it by number
 * and sets SO_REUSEADDR, as all do, gets it.  Returns the port.
 */
int lab_reserve_port(int *fd);

/* Return a listening, non-blocking socket. */
int lab_listen(const struct lab_address *at);

/* A connected, non-blocking socket.  -1 sets errno, too. */
int lab_connect(const struct lab_address *to, int64_t deadline);

/* Send all bytes, or fail. */
int lab_send(int fd, const void *data, size_t len, int64_t deadline);

/*
 * Send `request` on a new connection and read until `whole` says that the
 * answer is complete; NULL: until the server closes.  At most size - 1 bytes;
 * `reply` ends in a NUL.
 */
int lab_ask(const struct lab_address *to, const char *request, char *reply,
	    size_t size, bool (*whole)(const char *reply, size_t len),
	    int64_t deadline);

#endif
