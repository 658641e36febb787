/* SPDX-License-Identifier: Apache-2.0 */
/* A client and a server, both in this thread, and the proxy between client and
 * server. */
#ifndef DLOCK_TESTS_LAB_PAIR_H
#define DLOCK_TESTS_LAB_PAIR_H

#include "lab/proxy/proxy.h"

#include <criterion/criterion.h>

#define LONG_MS 20000 /* to wait for bytes that must come */
#define SHORT_MS 60   /* to see that no bytes come */

extern struct lab_proxy *proxy;
extern int listener;
extern int client;
extern int server;

/* For .init and .fini of a suite. */
void pair_set_up(void);
void pair_tear_down(void);

/* Connect through a proxy; also accept the server's end. */
int connect_client(struct lab_proxy *p);
void open_pair(void);

void put(int fd, const char *text);

/* Return the next event within `ms`: "" for silence, "FIN", "RST", or the
 * bytes. */
const char *get(int fd, int ms);

#define expect_get(fd, want) cr_expect_str_eq(get(fd, LONG_MS), want)
#define expect_silence(fd) cr_expect_str_eq(get(fd, SHORT_MS), "")

/* Wait until the proxy has counted `n`. */
void saw(enum lab_proxy_stat which, uint64_t n);

#endif
