/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis-cases model|real|record [FILE...] - play cases of Redis' protocol, all
 * unless files are named, against the model or a private server.
 *
 * Record: write the files to standard output with the real server's replies.
 */
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "lab/servers/resp.h"
#include "sim/play.h"
#include "sim/redis/server.h"
#include "support/check.h"
#include "support/wait.h"

/* ---- The model ----------------------------------------------------------- */

struct model {
	struct play_server base;
	struct sim_redis *redis;
	struct sim_redis_conn *conns[PLAY_CONNECTIONS + 1];
	int64_t now_us, wall_us;
};

static struct model *model_of(struct play_server *s)
{
	return (struct model *)s;
}

static int64_t model_now_us(struct play_server *s)
{
	return model_of(s)->now_us + model_of(s)->wall_us;
}

static void model_close(struct play_server *s, int n)
{
	if (model_of(s)->conns[n])
		sim_redis_disconnect(model_of(s)->conns[n]);
	model_of(s)->conns[n] = NULL;
}

static void model_open(struct play_server *s, int n)
{
	model_close(s, n);
	model_of(s)->conns[n] = sim_redis_connect(model_of(s)->redis);
}

/* Time goes on a little from request to request. */
static void model_send(struct play_server *s, int n, const char *bytes,
		       size_t len)
{
	model_of(s)->now_us += 137;
	sim_redis_input(model_of(s)->conns[n], bytes, len, model_now_us(s));
}

static int model_reply(struct play_server *s, int n, struct sim_bytes *out)
{
	struct sim_bytes *b = sim_redis_output(model_of(s)->conns[n]);
	const char *text = sim_bytes_text(b);
	const char *end = lab_resp_end(text, text + b->len);

	if (!end) {
		if (!sim_redis_is_closing(model_of(s)->conns[n]))
			sim_bytes_text_add(out, "$12\r\nno reply yet\r\n");
		return !sim_redis_is_closing(model_of(s)->conns[n]);
	}
	sim_bytes_add(out, text, (size_t)(end - text));
	sim_bytes_take(b, (size_t)(end - text));
	return 1;
}

static void model_nap(struct play_server *s)
{
	model_of(s)->now_us += 1000;
}

static void model_wall(struct play_server *s, int64_t ms)
{
	model_of(s)->wall_us = ms * 1000;
}

static const struct play_server model_server = {
	.open = model_open,
	.close = model_close,
	.send = model_send,
	.reply = model_reply,
	.now_us = model_now_us,
	.nap = model_nap,
	.wall = model_wall,
};

/* ---- A real one ---------------------------------------------------------- */

struct real {
	struct play_server base;
	struct lab_server *server;
	int fds[PLAY_CONNECTIONS + 1];
	struct sim_bytes in[PLAY_CONNECTIONS + 1];
	int64_t wall_ms;
};

static struct real *real_of(struct play_server *s)
{
	return (struct real *)s;
}

static void real_close(struct play_server *s, int n)
{
	if (real_of(s)->fds[n] >= 0)
		close(real_of(s)->fds[n]);
	real_of(s)->fds[n] = -1;
	sim_bytes_free(&real_of(s)->in[n]);
}

static void real_open(struct play_server *s, int n)
{
	struct lab_address to = lab_server_address(real_of(s)->server);

	real_close(s, n);
	real_of(s)->fds[n] = lab_connect(&to, lab_after_ms(patience_ms()));
	if (real_of(s)->fds[n] < 0)
		FAIL("%s", lab_errmsg());
}

static void wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (poll(&p, 1, (int)patience_ms()) == 0)
		FAIL("the server does not answer");
}

static void real_send(struct play_server *s, int n, const char *bytes,
		      size_t len)
{
	while (len > 0) {
		ssize_t done = write(real_of(s)->fds[n], bytes, len);

		if (done < 0 && errno != EAGAIN)
			FAIL("write: %s", strerror(errno));
		if (done < 0)
			wait_for(real_of(s)->fds[n], POLLOUT);
		else
			bytes += done, len -= (size_t)done;
	}
}

static int real_reply(struct play_server *s, int n, struct sim_bytes *out)
{
	struct sim_bytes *in = &real_of(s)->in[n];

	for (;;) {
		const char *text = sim_bytes_text(in);
		const char *end = lab_resp_end(text, text + in->len);
		char buf[4096];
		ssize_t got;

		if (end) {
			sim_bytes_add(out, text, (size_t)(end - text));
			sim_bytes_take(in, (size_t)(end - text));
			return 1;
		}
		wait_for(real_of(s)->fds[n], POLLIN);
		got = read(real_of(s)->fds[n], buf, sizeof(buf));
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return 0;
		if (got > 0)
			sim_bytes_add(in, buf, (size_t)got);
	}
}

static int64_t real_now_us(struct play_server *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000 +
	       real_of(s)->wall_ms * 1000;
}

static void real_nap(struct play_server *s)
{
	(void)s;
	nap_ms(1);
}

static void real_wall(struct play_server *s, int64_t ms)
{
	if (real_of(s)->wall_ms != ms &&
	    lab_server_step_wall(real_of(s)->server, ms) < 0)
		FAIL("%s", lab_errmsg());
	real_of(s)->wall_ms = ms;
}

static const struct play_server real_server = {
	.open = real_open,
	.close = real_close,
	.send = real_send,
	.reply = real_reply,
	.now_us = real_now_us,
	.nap = real_nap,
	.wall = real_wall,
};

/* ---- main ---------------------------------------------------------------- */

static struct play_count play_all(struct play_server *s, char *files[],
				  FILE *record)
{
	struct play_count all = { 0 };

	for (; *files; files++) {
		struct play_count one = play(s, *files, record);

		all.cases += one.cases;
		all.replies += one.replies;
		all.failures += one.failures;
	}
	return all;
}

static struct play_count play_model(char *files[])
{
	struct model m = { .base = model_server,
			   .redis = sim_redis_new(1),
			   .now_us = INT64_C(1700000000654321) };
	struct play_count count = play_all(&m.base, files, NULL);

	sim_redis_free(m.redis);
	return count;
}

static struct play_count play_real(char *files[], FILE *record)
{
	struct lab_redis_options o = { .wall = true };
	struct real r = { .base = real_server, .server = lab_redis_start(&o) };
	struct play_count count;

	if (!r.server)
		FAIL("%s", lab_errmsg());
	for (int i = 0; i <= PLAY_CONTROL; i++)
		r.fds[i] = -1;
	count = play_all(&r.base, files, record);
	lab_server_free(r.server);
	return count;
}

int main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "";
	struct play_count count;
	char **files = argv + 2;
	glob_t all;

	if (glob(SIM_CASES "/*.txt", 0, NULL, &all) != 0)
		FAIL("no cases in %s", SIM_CASES);
	if (argc < 3)
		files = all.gl_pathv;
	if (strcmp(how, "model") == 0)
		count = play_model(files);
	else if (strcmp(how, "real") == 0)
		count = play_real(files, NULL);
	else if (strcmp(how, "record") == 0)
		count = play_real(files, stdout);
	else
		return 2;
	globfree(&all);
	fprintf(stderr, "%s: %d cases, %d replies, %d cases differ\n", how,
		count.cases, count.replies, count.failures);
	return count.failures > 0 || count.replies == 0;
}
