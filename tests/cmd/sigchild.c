/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigchild FILE leave|stay: append "ready PID" to FILE, then a line "signal N"
 * for each signal. leave: exit with 40 + N at the first signal; stay: never
 * exit.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void line(int fd, const char *word, int number)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%s %d\n", word, number);

	if (write(fd, text, (size_t)n) < 0)
		_exit(4);
}

int main(int argc, char **argv)
{
	sigset_t all;
	int fd, sig;

	if (argc != 3)
		return 2;
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return 3;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	line(fd, "ready", (int)getpid());
	for (;;) {
		sig = sigwaitinfo(&all, NULL);
		if (sig <= 0)
			continue;
		line(fd, "signal", sig);
		/* Skip a sanitizer's search for leaks. */
		if (!strcmp(argv[2], "leave"))
			_exit(40 + sig);
	}
}
