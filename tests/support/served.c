/* SPDX-License-Identifier: Apache-2.0 */
#include "support/served.h"

#include "lab/base/fail.h"
#include "support/case.h"
#include "support/check.h"

static void free_server(void *s)
{
	lab_server_free(s);
}

struct lab_server *server_of_case(struct lab_server *s)
{
	if (!s)
		FAIL("%s", lab_errmsg());
	at_end(free_server, s);
	return s;
}

static void free_proxy(void *p)
{
	lab_proxy_free(p);
}

struct lab_proxy *proxy_of_case(const struct lab_server *s)
{
	struct lab_proxy_options o = { .to = lab_server_address(s) };
	struct lab_proxy *p = lab_proxy_new(&o);

	if (!p)
		FAIL("%s", lab_errmsg());
	at_end(free_proxy, p);
	return p;
}
