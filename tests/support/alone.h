/* SPDX-License-Identifier: Apache-2.0 */
/* A client without threads beside a store that does not answer. */
#ifndef DLOCK_TESTS_ALONE_H
#define DLOCK_TESTS_ALONE_H

#include "lab/proxy/proxy.h"

/* Opens the URI, whose server is behind the proxy: while the server is silent,
 * no acquire and no release under way makes dlock_process() wait. */
void alone_is_not_held_up(const char *uri, struct lab_proxy *proxy);

/* The same for a renewal: the lease in the URI is short. */
void alone_renews_without_a_wait(const char *uri, struct lab_proxy *proxy);

/* The same for a clean-up: a request may take 10 s or more, but `ask` is
 * short. */
void alone_cleans_up_without_a_wait(const char *uri, struct lab_proxy *proxy);

#endif
