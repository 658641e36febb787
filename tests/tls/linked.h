/* SPDX-License-Identifier: Apache-2.0 */
/* A link of the scripted world with TLS, and the peer at the other end. */
#ifndef TESTS_TLS_LINKED_H
#define TESTS_TLS_LINKED_H

#include "tests/loop/rig.h"
#include "tests/tls/client.h"

/* The .fini of the suite. */
void linked_end(void);

/* An engine that connects; and up to the handshake, or the end of the
 * greeting. */
void open_client(const struct peer_options *o);
void open_securing(const struct peer_options *o);
void open_up(const struct peer_options *o);
void greet(int sock);
void connect_again(int sock);

/* The engine's ciphertext to the peer. */
void hear(int sock);

/* The peer's ciphertext to the engine, as one edge; the number of bytes. */
size_t deliver(int sock);
void settle(int sock);

/* The plaintext of the engine's since the last call. */
const char *heard(int sock);
void say(int sock, const char *text);

/* Two attempts in a record. */
void submit_two(int first);

#endif
