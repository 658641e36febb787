/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab-proxy - the fault proxy of lab/proxy/proxy.h for shells.
 *
 *     lab-proxy SERVER [-l PORT|PATH] [-c CONTROL]
 *     lab-proxy CONTROL COMMAND [ARG...]
 *
 * SERVER is HOST:PORT or the path of a unix socket.  Prints the address that it
 * listens on, and runs until SIGTERM or SIGINT, or until the parent ends.  The
 * second form sends a command to the control socket of a running proxy, prints
 * the answer, and fails if the answer is an error.
 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/proxy/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int usage(void)
{
	fputs("usage: lab-proxy HOST:PORT|PATH [-l PORT|PATH] [-c CONTROL]\n"
	      "       lab-proxy CONTROL COMMAND [ARG...]\n",
	      stderr);
	return 2;
}

static bool whole_line(const char *reply, size_t len)
{
	return reply[len - 1] == '\n';
}

static int send_command(const char *control, char **words)
{
	struct lab_address to = { .path = control };
	char request[512] = "";
	char reply[1024];
	size_t len = 0;

	for (; *words && len < sizeof(request); words++)
		len += (size_t)snprintf(request + len, sizeof(request) - len,
					"%s%s", *words, words[1] ? " " : "\n");
	if (len >= sizeof(request)) {
		fputs("lab-proxy: the command is too long\n", stderr);
		return 2;
	}
	if (lab_ask(&to, request, reply, sizeof(reply), whole_line,
		    lab_after_ms(5000)) < 0) {
		fprintf(stderr, "lab-proxy: %s\n", lab_errmsg());
		return 1;
	}
	fputs(reply, stdout);
	return strncmp(reply, "ok", 2) != 0;
}

static int parse(struct lab_proxy_options *o, int argc, char **argv)
{
	char *colon = strrchr(argv[1], ':');
	int c;

	if (*argv[1] == '/') {
		o->to.path = argv[1];
	} else if (colon) {
		*colon = '\0';
		o->to.host = argv[1];
		o->to.port = (int)strtol(colon + 1, NULL, 10);
	} else {
		return -1;
	}
	optind = 2;
	while ((c = getopt(argc, argv, "l:c:")) != -1) {
		if (c == 'c')
			o->control = optarg;
		else if (c == 'l' && strchr(optarg, '/'))
			o->listen = optarg;
		else if (c == 'l')
			o->port = (int)strtol(optarg, NULL, 10);
		else
			return -1;
	}
	return optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct lab_proxy_options o = { .port = 0 };
	struct lab_proxy *p;
	sigset_t set;
	int sig;

	if (argc < 2)
		return usage();
	if (argc > 2 && *argv[2] != '-')
		return send_command(argv[1], argv + 2);
	if (parse(&o, argc, argv) < 0)
		return usage();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	p = lab_proxy_new(&o);
	if (!p) {
		fprintf(stderr, "lab-proxy: %s\n", lab_errmsg());
		return 1;
	}
	if (o.listen)
		printf("%s\n", o.listen);
	else
		printf(LAB_LOOPBACK ":%d\n", lab_proxy_port(p));
	fflush(stdout);
	sigwait(&set, &sig);
	lab_proxy_free(p);
	return 0;
}
