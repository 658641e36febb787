/* SPDX-License-Identifier: Apache-2.0 */
/* Servers and proxies of a case, which the end of the case frees. */
#ifndef DLOCK_TESTS_SERVED_H
#define DLOCK_TESTS_SERVED_H

#include "lab/proxy/proxy.h"
#include "lab/servers/server.h"

/* Return the server.  NULL: the case fails, with lab_errmsg(). */
struct lab_server *server_of_case(struct lab_server *s);

/* A proxy in front of the server. */
struct lab_proxy *proxy_of_case(const struct lab_server *s);

#endif
