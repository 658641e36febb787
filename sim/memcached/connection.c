/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a connection: lines, data blocks, bytes to swallow, a login. */
#include "sim/memcached/connection.h"

#include <inttypes.h>
#include <string.h>

#include "sim/memcached/commands.h"

/* Bounds of a line; "get" may be longer. */
enum { LINE_MAX_BYTES = 2048, BLANKS_MAX = 100 };

static const struct command {
	const char *name;
	void (*run)(struct mm_call *call);
} commands[] = {
	{ "get", mm_get },
	{ "gets", mm_get },
	{ "gat", mm_get },
	{ "gats", mm_get },
	{ "set", mm_update },
	{ "add", mm_update },
	{ "replace", mm_update },
	{ "append", mm_update },
	{ "prepend", mm_update },
	{ "cas", mm_update },
	{ "incr", mm_arithmetic },
	{ "decr", mm_arithmetic },
	{ "delete", mm_delete },
	{ "touch", mm_touch },
	{ "flush_all", mm_flush_all },
	{ "verbosity", mm_verbosity },
	{ "stats", mm_stats },
	{ "mg", mm_meta_get },
	{ "ms", mm_meta_set },
	{ "md", mm_meta_delete },
	{ "ma", mm_meta_arithmetic },
	{ "me", mm_meta_debug },
};

/* ---- Lines --------------------------------------------------------------- */

/* Commands without an answer of their own. */
static void run_other(struct mm_call *call)
{
	const struct mm_words *w = &call->words;

	if (mm_word_is(w->v[0], "version"))
		mm_reply(call, "VERSION 1.6.18");
	else if (mm_word_is(w->v[0], "mn"))
		mm_reply(call, "MN");
	else if (mm_word_is(w->v[0], "shutdown"))
		mm_reply(call, "ERROR: shutdown not enabled");
	else if (mm_word_is(w->v[0], "quit") ||
		 strncmp(w->v[w->n - 1].s, "HTTP/", 5) == 0)
		call->conn->is_closing = 1;
	else
		mm_reply(call, "ERROR");
}

static void run_line(struct sim_memc_conn *c, char *line)
{
	struct mm_call call = { .conn = c, .items = &c->server->items };

	c->is_silent = 0;
	mm_words_split(&call.words, line);
	if (call.words.n == 0 || call.words.v[0].len < 2) {
		mm_reply(&call, "ERROR");
		return;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (mm_word_is(call.words.v[0], commands[i].name)) {
			commands[i].run(&call);
			return;
		}
	}
	run_other(&call);
}

static int may_go_on(const struct sim_memc_conn *c)
{
	const char *text = sim_bytes_text(&c->in);
	size_t blanks = strspn(text, " ");

	return c->in.len <= LINE_MAX_BYTES ||
	       (blanks <= BLANKS_MAX && c->is_authenticated &&
		(strncmp(text + blanks, "get ", 4) == 0 ||
		 strncmp(text + blanks, "gets ", 5) == 0));
}

/* The first line, with a zero in the place of the line end, and the length with
 * the line end.  NULL: the line end has not come. */
static char *take_line(struct sim_memc_conn *c, size_t *len)
{
	char *text = sim_bytes_resize(&c->in, c->in.len);
	char *end = text ? memchr(text, '\n', c->in.len) : NULL;

	if (!end) {
		c->is_closing |= !may_go_on(c);
		return NULL;
	}
	*len = (size_t)(end + 1 - text);
	if (c->is_authenticated && end - text > 1 && end[-1] == '\r')
		end--;
	*end = '\0';
	return text;
}

/* ---- Data blocks --------------------------------------------------------- */

static void put_stored(struct sim_memc_conn *c, const char *const names[],
		       enum mm_stored rc, uint64_t cas)
{
	const char *tail = sim_bytes_text(&c->store.tail);

	if (c->is_silent && (!c->store.is_meta || rc == MM_STORED))
		return;
	sim_bytes_text_add(&c->out, names[rc]);
	for (size_t len; *tail; tail += len) {
		len = 1 + strcspn(tail + 1, " ");
		if (len == 2 && tail[1] == 'c')
			sim_bytes_printf(&c->out, " c%" PRIu64, cas);
		else
			sim_bytes_add(&c->out, tail, len);
	}
	sim_bytes_text_add(&c->out, "\r\n");
}

static void store_block(struct sim_memc_conn *c)
{
	static const char *const text[] = { "STORED", "NOT_STORED", "EXISTS",
					    "NOT_FOUND" };
	static const char *const meta[] = { "HD", "NS", "EX", "NF" };
	struct mm_store *store = &c->store;
	const char *block = sim_bytes_text(&c->in);
	struct mm_item *item = store->item;
	enum mm_stored rc;
	uint64_t cas;

	store->item = NULL;
	if (memcmp(block + store->len - 2, "\r\n", 2) != 0) {
		mm_items_free(&c->server->items, item);
		if (!c->is_silent || store->is_meta)
			sim_bytes_text_add(&c->out,
					   "CLIENT_ERROR bad data chunk\r\n");
	} else {
		sim_bytes_add(&item->value, block, store->len - 2);
		rc = mm_store_item(&c->server->items, store, item, &cas);
		put_stored(c, store->is_meta ? meta : text, rc, cas);
	}
	sim_bytes_take(&c->in, store->len);
	sim_bytes_free(&store->tail);
}

/* ---- A login ------------------------------------------------------------- */

/* Of the replies to requests that came together before the login, the client
 * gets the last. */
static void put_error(struct sim_memc_conn *c, const char *what)
{
	sim_bytes_resize(&c->out, c->answered);
	sim_bytes_printf(&c->out, "CLIENT_ERROR %s\r\n", what);
}

/* "set KEY FLAGS EXPTIME LEN", whatever the words between. */
static void begin_login(struct sim_memc_conn *c, char *line)
{
	struct mm_words w;
	uint32_t len;

	mm_words_split(&w, line);
	if (w.n < 5 || !mm_word_is(w.v[0], "set") ||
	    !mm_read_u32(w.v[4].s, &len))
		put_error(c, "unauthenticated");
	else
		c->login_len = (size_t)len + 2;
}

static void end_login(struct sim_memc_conn *c)
{
	const char *wanted = c->server->options.login;
	char *text = sim_bytes_resize(&c->in, c->in.len);
	char *end = text + c->login_len - 2;
	size_t user = strcspn(wanted, " ");
	struct mm_words w;

	if (memcmp(end, "\r\n", 2) != 0) {
		put_error(c, "bad command line termination");
	} else {
		*end = '\0';
		mm_words_split(&w, text);
		if (w.n < 2) {
			put_error(c, "bad authentication token format");
		} else if (w.v[0].len == user &&
			   memcmp(w.v[0].s, wanted, user) == 0 &&
			   mm_word_is(w.v[1], wanted + user + 1)) {
			c->is_authenticated = 1;
			sim_bytes_resize(&c->out, c->answered);
			sim_bytes_text_add(&c->out, "STORED\r\n");
		} else {
			put_error(c, "authentication failure");
		}
	}
	sim_bytes_take(&c->in, c->login_len);
	c->login_len = 0;
}

/* ---- All ----------------------------------------------------------------- */

static int run_one(struct sim_memc_conn *c)
{
	size_t len;
	char *line;

	if (c->swallow > 0) {
		len = c->swallow < c->in.len ? c->swallow : c->in.len;
		sim_bytes_take(&c->in, len);
		c->swallow -= len;
		return c->swallow == 0;
	}
	if (c->store.item) {
		if (c->in.len < c->store.len)
			return 0;
		store_block(c);
		return 1;
	}
	if (c->login_len > 0) {
		if (c->in.len < c->login_len)
			return 0;
		end_login(c);
		return 1;
	}
	line = take_line(c, &len);
	if (!line)
		return 0;
	if (c->is_authenticated)
		run_line(c, line);
	else
		begin_login(c, line);
	sim_bytes_take(&c->in, len);
	return 1;
}

void mm_connection_run(struct sim_memc_conn *c)
{
	c->answered = c->out.len;
	while (!c->is_closing && run_one(c))
		continue;
}

void mm_connection_reset(struct sim_memc_conn *c)
{
	if (c->store.item)
		mm_items_free(&c->server->items, c->store.item);
	sim_bytes_free(&c->store.tail);
	c->store = (struct mm_store){ 0 };
}
