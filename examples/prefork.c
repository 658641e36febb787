/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefork WORKERS FILE - a server of several processes that hands out the
 * numbers in FILE, a number to each connection and no number twice.  It prints
 * the address.  A client does not survive fork(): each worker opens a client.
 */
#include <arpa/inet.h>
#include <dlock/dlock.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

/* Read, add 1, write: wrong without the lock. */
static long next_number(const char *path)
{
	FILE *f = fopen(path, access(path, F_OK) == 0 ? "r+e" : "w+e");
	long n = 0;

	if (!f || (fscanf(f, "%ld", &n) != 1 && !feof(f)))
		err(EX_IOERR, "%s", path);
	usleep(1000); /* long enough for two to read the same number */
	rewind(f);
	if (fprintf(f, "%ld\n", ++n) < 0 || fclose(f) != 0)
		err(EX_IOERR, "%s", path);
	return n;
}

static void serve(int listening, const char *path)
{
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN); /* of a peer that does not wait */
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, "numbers") < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	for (int fd; (fd = accept(listening, NULL, NULL)) >= 0; close(fd)) {
		if (dlock_acquire(lock, 5000, &hold) < 0) {
			warnx("%s", dlock_errmsg());
			continue;
		}
		dprintf(fd, "%ld\n", next_number(path));
		if (dlock_release(hold) < 0)
			warnx("%s", dlock_errmsg());
	}
	err(EX_OSERR, "accept");
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(a);

	if (argc != 3 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... prefork WORKERS FILE");
	if (bind(fd, (struct sockaddr *)&a, size) < 0 || listen(fd, 64) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) < 0)
		err(EX_OSERR, "listen");
	for (int n = atoi(argv[1]), pid; n > 0; n--) {
		if ((pid = fork()) < 0)
			err(EX_OSERR, "fork");
		if (pid == 0)
			serve(fd, argv[2]);
	}
	dprintf(STDOUT_FILENO, "127.0.0.1 %d\n", ntohs(a.sin_port));
	while (wait(NULL) > 0)
		;
	errx(EX_UNAVAILABLE, "no worker is left");
}
