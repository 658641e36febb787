/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached-cases - the cases of memcached's protocol: see tests/sim/files.h.
 *
 * "server" alone is a server as Debian starts it.  "server small" has little
 * memory and does not evict.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "sim/files.h"
#include "sim/memcached/server.h"
#include "sim/real.h"
#include "support/check.h"

enum { SMALL = 10 }; /* items in the small model, at most */

/* The items are in the smallest class. */
static void fill(struct play_server *s)
{
	struct sim_bytes line = { 0 }, reply = { 0 };

	for (int i = 0; !strstr(sim_bytes_text(&reply), "memory"); i++) {
		CHECK_INT(i, <, 1000000);
		sim_bytes_resize(&line, 0);
		sim_bytes_resize(&reply, 0);
		sim_bytes_printf(&line, "set f%d 0 0 1\r\nx\r\n", i);
		s->send(s, PLAY_CONTROL, sim_bytes_text(&line), line.len);
		CHECK_INT(s->reply(s, PLAY_CONTROL, &reply), ==, 1);
	}
	sim_bytes_free(&line);
	sim_bytes_free(&reply);
}

/* ---- The model ----------------------------------------------------------- */

struct model {
	struct play_server base;
	struct sim_memc *memc;
	struct sim_memc_conn *conns[PLAY_CONNECTIONS + 1];
	int64_t up_us;
};

static struct model *model_of(struct play_server *s)
{
	return (struct model *)s;
}

static int64_t model_now_us(struct play_server *s)
{
	return model_of(s)->up_us;
}

static void model_close(struct play_server *s, int n)
{
	if (model_of(s)->conns[n])
		sim_memc_disconnect(model_of(s)->conns[n]);
	model_of(s)->conns[n] = NULL;
}

static void model_open(struct play_server *s, int n)
{
	model_close(s, n);
	model_of(s)->conns[n] = sim_memc_connect(model_of(s)->memc);
}

static void model_send(struct play_server *s, int n, const char *bytes,
		       size_t len)
{
	sim_memc_input(model_of(s)->conns[n], bytes, len);
}

static int model_reply(struct play_server *s, int n, struct sim_bytes *out)
{
	struct sim_bytes *b = sim_memc_output(model_of(s)->conns[n]);
	const char *text = sim_bytes_text(b);
	const char *end = s->language->reply_end(text, text + b->len);

	if (!end)
		return sim_memc_is_closing(model_of(s)->conns[n]) ? 0 : -1;
	sim_bytes_add(out, text, (size_t)(end - text));
	sim_bytes_take(b, (size_t)(end - text));
	return 1;
}

static void model_nap(struct play_server *s)
{
	struct model *m = model_of(s);

	m->up_us += 1000;
	if (sim_memc_tick_due(m->memc) <= m->up_us)
		sim_memc_tick(m->memc, m->up_us);
}

static uint64_t model_count(struct play_server *s)
{
	return (uint64_t)(sim_memc_tick_due(model_of(s)->memc));
}

static void model_start(struct play_server *s, const char *options)
{
	struct sim_memc_time now = { model_of(s)->up_us,
				     INT64_C(1700000000654321) };

	if (model_of(s)->memc) {
		model_close(s, PLAY_CONTROL);
		sim_memc_free(model_of(s)->memc);
	}
	model_of(s)->memc = sim_memc_new(4711, now);
	if (strcmp(options, "small") == 0)
		sim_memc_set_room(model_of(s)->memc, SMALL);
	s->open(s, PLAY_CONTROL);
}

static struct play_count play_model(char *files[], FILE *record)
{
	struct model m = {
		.base = { .language = &memcached_language,
			  .open = model_open,
			  .close = model_close,
			  .send = model_send,
			  .reply = model_reply,
			  .now_us = model_now_us,
			  .nap = model_nap,
			  .start = model_start,
			  .count = model_count,
			  .fill = fill },
		.up_us = 12345678,
	};
	struct play_count count;

	model_start(&m.base, "");
	count = play_files(&m.base, files, record);
	sim_memc_free(m.memc);
	return count;
}

/* ---- A real one ---------------------------------------------------------- */

static struct play_real *real_of(struct play_server *s)
{
	return (struct play_real *)s;
}

static uint64_t real_count(struct play_server *s)
{
	char reply[8192];
	const char *at;

	if (lab_memcached_do(real_of(s)->server, reply, sizeof(reply),
			     "stats") < 0)
		FAIL("%s", lab_errmsg());
	at = strstr(reply, "STAT uptime ");
	CHECK(at);
	return strtoull(at + 12, NULL, 10);
}

static struct lab_server *start(const char *options)
{
	struct lab_memcached_options o = { 0 };

	if (strcmp(options, "small") == 0) {
		o.memory_mb = 2;
		o.no_evict = true;
	}
	return lab_memcached_start(&o);
}

static void real_start(struct play_server *s, const char *options)
{
	s->close(s, PLAY_CONTROL);
	lab_server_free(real_of(s)->server);
	real_of(s)->server = start(options);
	if (!real_of(s)->server)
		FAIL("%s", lab_errmsg());
	s->open(s, PLAY_CONTROL);
}

static struct play_count play_real(char *files[], FILE *record)
{
	struct play_count count;
	struct play_real r;

	play_real_begin(&r, start(""), &memcached_language);
	r.base.start = real_start;
	r.base.count = real_count;
	r.base.fill = fill;
	count = play_files(&r.base, files, record);
	play_real_end(&r);
	return count;
}

int main(int argc, char *argv[])
{
	(void)argc;
	return play_main(argv, SIM_CASES, play_model, play_real);
}
