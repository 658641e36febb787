/* SPDX-License-Identifier: Apache-2.0 */
/*
 * increment FILE - add 1 to a number, the wrong way: read it, think for a
 * moment, write it back.  Two runs at the same time read the same number,
 * and an increment is lost - unless a lock is held around each run:
 *
 *     dlock run counter -- increment FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 10 /* of the number, so that no number is ever half overwritten */

static int die(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	const struct timespec moment = { 0, 200000 };
	char text[32] = "";
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: increment FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return die(argv[1]);
	if (pread(fd, text, WIDTH, 0) < 0)
		return die("read");
	nanosleep(&moment, NULL);
	snprintf(text, sizeof(text), "%*ld\n", WIDTH,
		 strtol(text, NULL, 10) + 1);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		return die("write");
	return close(fd) < 0 ? die("close") : 0;
}
