/* SPDX-License-Identifier: Apache-2.0 */
/*
 * increment FILE: read a number, add 1, and write the number back, with time in
 * between for another process to do the same.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[32] = "";
	int fd;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		return 3;
	sched_yield();
	snprintf(text, sizeof(text), "%ld", atol(text) + 1);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		return 4;
	return 0;
}
