/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a connection: lines, data blocks, bytes to swallow. */
#include "sim/memcached/connection.h"

#include <string.h>

#include "sim/memcached/commands.h"

static const struct command {
	const char *name;
	void (*run)(struct mm_call *call);
} commands[] = {
	{ "get", mm_get },         { "gets", mm_get },
	{ "set", mm_update },      { "add", mm_update },
	{ "cas", mm_update },      { "delete", mm_delete },
	{ "stats", mm_stats },     { "flush_all", mm_flush_all },
	{ "version", mm_version }, { "mg", mm_meta_get },
	{ "md", mm_meta_delete },  { "mn", mm_meta_none },
};

/* ---- Lines --------------------------------------------------------------- */

static void run_line(struct sim_memc_conn *c, char *line)
{
	struct mm_call call = { .conn = c, .items = &c->server->items };

	mm_words_split(&call.words, line);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (mm_word_is(call.words.v[0], commands[i].name)) {
			commands[i].run(&call);
			return;
		}
	}
	mm_reply(&call, "ERROR");
}

/* The first line, with a zero in the place of the line end, and the length with
 * the line end.  NULL: the line end has not come. */
static char *take_line(struct sim_memc_conn *c, size_t *len)
{
	char *text = sim_bytes_resize(&c->in, c->in.len);
	char *end = text ? memchr(text, '\n', c->in.len) : NULL;

	if (!end)
		return NULL;
	*len = (size_t)(end + 1 - text);
	if (end > text && end[-1] == '\r')
		end--;
	*end = '\0';
	return text;
}

/* ---- Data blocks --------------------------------------------------------- */

static void store_block(struct sim_memc_conn *c)
{
	static const char *const replies[] = {
		[MM_STORED] = "STORED\r\n",
		[MM_NOT_STORED] = "NOT_STORED\r\n",
		[MM_EXISTS] = "EXISTS\r\n",
		[MM_NOT_FOUND] = "NOT_FOUND\r\n",
	};
	struct mm_items *all = &c->server->items;
	struct mm_store *store = &c->store;
	const char *block = sim_bytes_text(&c->in);
	struct mm_item *item = store->item;
	enum mm_stored rc;

	store->item = NULL;
	if (memcmp(block + store->len - 2, "\r\n", 2) != 0) {
		mm_items_free(all, item);
		sim_bytes_text_add(&c->out, "CLIENT_ERROR bad data chunk\r\n");
	} else {
		sim_bytes_add(&item->value, block, store->len - 2);
		rc = mm_store_item(all, store, item);
		sim_bytes_text_add(&c->out, replies[rc]);
	}
	sim_bytes_take(&c->in, store->len);
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
	line = take_line(c, &len);
	if (!line)
		return 0;
	run_line(c, line);
	sim_bytes_take(&c->in, len);
	return 1;
}

void mm_connection_run(struct sim_memc_conn *c)
{
	while (!c->is_closing && run_one(c))
		continue;
}

void mm_connection_reset(struct sim_memc_conn *c)
{
	if (c->store.item)
		mm_items_free(&c->server->items, c->store.item);
	c->store = (struct mm_store){ 0 };
}
