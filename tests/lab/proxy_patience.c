/* SPDX-License-Identifier: Apache-2.0 */
/* The server comes late, or never. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "pair.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy_patience, .init = pair_set_up, .fini = pair_tear_down,
	  .timeout = 120);

Test(proxy_patience, resets_the_client_when_the_server_is_not_there)
{
	struct lab_address to = { .port = lab_proxy_port(proxy) };

	close(listener);
	close(server);
	close(client);
	/* The reset may come during the connect. */
	client = lab_connect(&to, lab_after_ms(LONG_MS));
	if (client < 0)
		cr_expect_eq(errno, ECONNRESET);
	else
		expect_get(client, "RST");
	cr_expect_eq(lab_proxy_stat(proxy, LAB_UNREACHED), 1);
	listener = server = -1;
}

static struct lab_proxy *patient(int *port_of, int64_t patience_ms)
{
	struct lab_proxy_options o = { .patience_ms = patience_ms };
	struct lab_proxy *p;

	o.to.port = lab_reserve_port(port_of);
	p = lab_proxy_new(&o);
	cr_assert(p, "%s", lab_errmsg());
	return p;
}

Test(proxy_patience, may_wait_for_the_server)
{
	int late, served;
	struct lab_proxy *p = patient(&late, LONG_MS);
	int fd = connect_client(p);

	put(fd, "early");
	cr_assert_eq(lab_proxy_wait(p, LAB_UNREACHED, 3, LONG_MS), 0);
	cr_assert_eq(listen(late, 8), 0);
	served = accept4(late, NULL, NULL, SOCK_CLOEXEC);
	cr_assert_geq(served, 0);
	expect_get(served, "early");
	put(served, "late");
	expect_get(fd, "late");
	close(fd);
	expect_get(served, "FIN");
	close(served);
	lab_proxy_free(p);
	close(late);
}

Test(proxy_patience, waits_for_the_server_no_longer_than_told)
{
	int never;
	struct lab_proxy *p = patient(&never, SHORT_MS);
	int fd = connect_client(p);

	expect_get(fd, "RST");
	cr_expect_geq(lab_proxy_stat(p, LAB_UNREACHED), 2);
	close(fd);
	lab_proxy_free(p);
	close(never);
}
