/* SPDX-License-Identifier: Apache-2.0 */
/* redis-cases - the cases of Redis' protocol: see tests/sim/files.h. */
#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "lab/servers/resp.h"
#include "sim/files.h"
#include "sim/real.h"
#include "sim/redis/server.h"
#include "support/check.h"

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

	if (!end)
		return sim_redis_is_closing(model_of(s)->conns[n]) ? 0 : -1;
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
	.language = &redis_language,
	.open = model_open,
	.close = model_close,
	.send = model_send,
	.reply = model_reply,
	.now_us = model_now_us,
	.nap = model_nap,
	.wall = model_wall,
};

static struct play_count play_model(char *files[], FILE *record)
{
	struct model m = { .base = model_server,
			   .redis = sim_redis_new(1),
			   .now_us = INT64_C(1700000000654321) };
	struct play_count count = play_files(&m.base, files, record);

	sim_redis_free(m.redis);
	return count;
}

/* ---- A real one ---------------------------------------------------------- */

static void real_wall(struct play_server *s, int64_t ms)
{
	if (((struct play_real *)s)->wall_ms != ms &&
	    lab_server_step_wall(((struct play_real *)s)->server, ms) < 0)
		FAIL("%s", lab_errmsg());
	((struct play_real *)s)->wall_ms = ms;
}

static struct play_count play_real(char *files[], FILE *record)
{
	struct lab_redis_options o = { .wall = true };
	struct play_count count;
	struct play_real r;

	play_real_begin(&r, lab_redis_start(&o), &redis_language);
	r.base.wall = real_wall;
	count = play_files(&r.base, files, record);
	play_real_end(&r);
	return count;
}

int main(int argc, char *argv[])
{
	(void)argc;
	return play_main(argv, SIM_CASES, play_model, play_real);
}
