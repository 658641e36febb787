/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that open and close descriptors all the time, for the thread
 * sanitizer, while those of the client library are looked up. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "backends/zk/fds.h"

#define ROUNDS 300
#define OTHERS 3

static atomic_int stop;

static void *open_and_close(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			continue;
		close(ends[0]);
		close(ends[1]);
	}
	return NULL;
}

int main(void)
{
	struct zk_fds before;
	const struct sockaddr_in nobody = { .sin_family = AF_INET,
					    .sin_port = htons(1) };
	pthread_t others[OTHERS];
	int started = 0, ends[2] = { -1, -1 }, left_open = 0, lost = 0;
	int bad;

	while (started < OTHERS && pthread_create(&others[started], NULL,
						  open_and_close, NULL) == 0)
		started++;
	for (int i = 0; i < ROUNDS; i++) {
		if (dlki_zk_fds_before(&before) != 0 || pipe(ends) < 0)
			return 1;
		dlki_zk_fds_pipes(&before);
		dlki_zk_fds_sockets((const struct sockaddr *)&nobody,
				    sizeof(nobody));
		for (int k = 0; k < 2; k++) {
			left_open += !(fcntl(ends[k], F_GETFD) & FD_CLOEXEC);
			lost += close(ends[k]) != 0;
		}
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	printf("%d rounds beside %d threads: %d pipe ends left open over exec, "
	       "%d lost\n",
	       ROUNDS, started, left_open, lost);
	bad = started != OTHERS || left_open || lost;
	printf("%d passed, %d failed, 0 skipped\n", !bad, bad);
	return bad;
}
