/* SPDX-License-Identifier: Apache-2.0 */
/* Other servers, many connections, many threads. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(proxy_many, .init = pair_set_up, .fini = pair_tear_down,
	  .timeout = 120);

Test(proxy_many, resets_the_client_when_the_server_is_not_there)
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

static int through(struct lab_proxy *p)
{
	struct lab_address to = { .port = lab_proxy_port(p) };
	int fd = lab_connect(&to, lab_after_ms(LONG_MS));

	cr_assert_geq(fd, 0, "%s", lab_errmsg());
	return fd;
}

Test(proxy_many, may_wait_for_the_server)
{
	int late, served;
	struct lab_proxy *p = patient(&late, LONG_MS);
	int fd = through(p);

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

Test(proxy_many, waits_for_the_server_no_longer_than_told)
{
	int never;
	struct lab_proxy *p = patient(&never, SHORT_MS);
	int fd = through(p);

	expect_get(fd, "RST");
	cr_expect_geq(lab_proxy_stat(p, LAB_UNREACHED), 2);
	close(fd);
	lab_proxy_free(p);
	close(never);
}

static void *set_faults(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 3000; i++) {
		enum lab_way way = i & 1 ? LAB_UP : LAB_DOWN;

		switch (rand_r(&seed) % 8) {
		case 0:
			lab_proxy_delay(proxy, way, 1);
			break;
		case 1:
			lab_proxy_drip(proxy, way, 1);
			break;
		case 2:
			lab_proxy_hold(proxy, NULL);
			break;
		case 3:
			lab_proxy_hole(proxy, way, true);
			break;
		case 4:
			lab_proxy_swallow(proxy, NULL, LAB_THEN_RESET);
			break;
		case 5:
			lab_proxy_refuse(proxy, i & 1);
			break;
		case 6:
			lab_proxy_reset(proxy);
			break;
		default:
			lab_proxy_heal(proxy);
		}
	}
	return NULL;
}

Test(proxy_many, survives_faults_from_many_threads_while_it_works)
{
	struct lab_address to = { .port = lab_proxy_port(proxy) };
	pthread_t threads[3];
	int fds[2];

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, set_faults, (void *)(i + 1));
	for (int i = 0; i < 500; i++) {
		fds[0] = lab_connect(&to, lab_after_ms(LONG_MS));
		if (fds[0] < 0)
			continue;
		if (send(fds[0], "x", 1, MSG_NOSIGNAL) > 0)
			get(fds[0], 0);
		close(fds[0]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	lab_proxy_heal(proxy);
	close(client);
	close(server);
	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (fds[1] = accept(listener, NULL, NULL); fds[1] >= 0;
	     fds[1] = accept(listener, NULL, NULL))
		close(fds[1]);
	fcntl(listener, F_SETFL, 0);
	client = connect_client();
	put(client, "well?");
	do { /* earlier connections may still be queued */
		server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} while (strcmp(get(server, 1000), "well?") != 0);
}
