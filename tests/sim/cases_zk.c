/* SPDX-License-Identifier: Apache-2.0 */
/* zk-cases - the cases of ZooKeeper's protocol: see tests/sim/files.h. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "lab/servers/zookeeper.h"
#include "sim/files.h"
#include "sim/real.h"
#include "sim/zk/server.h"
#include "support/check.h"
#include "support/wait.h"

/* As in lab/servers/zookeeper.h. */
enum { TICK_MS = 100, LEAST_MS = 200, MOST_MS = 60000, CONTAINERS_MS = 200 };

/* A session's end, as a request. */
static const char farewell[] = { 0, 0, 0, 8, 0, 0, 0, 50, -1, -1, -1, -11 };

static void begin_control(struct play_server *s)
{
	struct sim_bytes b = { 0 };
	struct marks none = { .n_times = 0 };

	s->language->request(&none, &b, "connect 60000");
	s->send(s, PLAY_CONTROL, sim_bytes_text(&b), b.len);
	sim_bytes_resize(&b, 0);
	CHECK_INT(s->reply(s, PLAY_CONTROL, &b), ==, 1);
	sim_bytes_free(&b);
}

/* ---- The model ----------------------------------------------------------- */

struct model {
	struct play_server base;
	struct sim_zk *zk;
	struct sim_zk_conn *conns[PLAY_CONNECTIONS + 1];
	struct sim_zk_time now;
};

static struct model *model_of(struct play_server *s)
{
	return (struct model *)s;
}

static int64_t model_now_us(struct play_server *s)
{
	return model_of(s)->now.wall_us;
}

/* To close a connection ends the session: no session ends during another
 * case. */
static void model_close(struct play_server *s, int n)
{
	struct sim_zk_conn **c = &model_of(s)->conns[n];

	if (!*c)
		return;
	sim_zk_input(*c, farewell, sizeof(farewell), model_of(s)->now);
	sim_zk_disconnect(*c);
	*c = NULL;
}

static void model_open(struct play_server *s, int n)
{
	model_close(s, n);
	model_of(s)->conns[n] = sim_zk_connect(model_of(s)->zk, 0);
	if (n == PLAY_CONTROL)
		begin_control(s);
}

static void pass(struct model *m, int64_t us)
{
	m->now.up_us += us;
	m->now.wall_us += us;
	if (sim_zk_due(m->zk) <= m->now.up_us)
		sim_zk_ring(m->zk, m->now);
}

/* Time goes on a little from request to request. */
static void model_send(struct play_server *s, int n, const char *bytes,
		       size_t len)
{
	pass(model_of(s), 137);
	sim_zk_input(model_of(s)->conns[n], bytes, len, model_of(s)->now);
}

static int model_reply(struct play_server *s, int n, struct sim_bytes *out)
{
	struct sim_bytes *b = sim_zk_output(model_of(s)->conns[n]);
	const char *text = sim_bytes_text(b);
	const char *end = s->language->reply_end(text, text + b->len);

	if (!end)
		return sim_zk_is_closing(model_of(s)->conns[n]) ? 0 : -1;
	sim_bytes_add(out, text, (size_t)(end - text));
	sim_bytes_take(b, (size_t)(end - text));
	return 1;
}

static void model_nap(struct play_server *s)
{
	pass(model_of(s), 1000);
}

static struct play_count play_model(char *files[], FILE *record)
{
	struct sim_zk_options o = { .tick_ms = TICK_MS,
				    .min_ms = LEAST_MS,
				    .max_ms = MOST_MS,
				    .containers_ms = CONTAINERS_MS };
	struct model m = {
		.base = { .language = &zk_language,
			  .open = model_open,
			  .close = model_close,
			  .send = model_send,
			  .reply = model_reply,
			  .now_us = model_now_us,
			  .nap = model_nap },
		.now = { 12345678, INT64_C(1700000000654321) },
	};
	struct play_count count;

	m.zk = sim_zk_new(&o, m.now);
	count = play_files(&m.base, files, record);
	sim_zk_free(m.zk);
	return count;
}

/* ---- A real one ---------------------------------------------------------- */

static void (*real_open)(struct play_server *s, int n);
static void (*real_close)(struct play_server *s, int n);

static void close_after_farewell(struct play_server *s, int n)
{
	struct pollfd p = { .fd = ((struct play_real *)s)->fds[n],
			    .events = POLLIN };
	char buf[4096];

	if (p.fd >= 0 &&
	    send(p.fd, farewell, sizeof(farewell), MSG_NOSIGNAL) > 0) {
		while (poll(&p, 1, (int)patience_ms()) > 0 &&
		       read(p.fd, buf, sizeof(buf)) > 0)
			continue;
	}
	real_close(s, n);
}

static void open_real(struct play_server *s, int n)
{
	real_open(s, n);
	if (n == PLAY_CONTROL)
		begin_control(s);
}

static struct play_count play_real(char *files[], FILE *record)
{
	struct lab_zk_options o = {
		.java = "-Dznode.container.checkIntervalMs=200",
	};
	struct play_count count;
	struct play_real r;

	play_real_begin(&r, lab_zk_start(&o), &zk_language);
	real_open = r.base.open;
	real_close = r.base.close;
	r.base.open = open_real;
	r.base.close = close_after_farewell;
	count = play_files(&r.base, files, record);
	play_real_end(&r);
	return count;
}

int main(int argc, char *argv[])
{
	(void)argc;
	return play_main(argv, SIM_CASES, play_model, play_real);
}
