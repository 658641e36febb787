/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/language.h"

#include <string.h>

#include "lab/servers/resp.h"
#include "sim/notation.h"
#include "sim/words.h"
#include "support/check.h"

static void request(const struct marks *m, struct sim_bytes *out,
		    const char *line)
{
	struct words words = words_split(line);

	sim_bytes_printf(out, "*%zu\r\n", words.n);
	for (size_t i = 0; i < words.n; i++) {
		struct sim_bytes word = { 0 };

		if (words.is_raw[i])
			sim_bytes_add(&word, sim_bytes_text(&words.v[i]),
				      words.v[i].len);
		else
			notation_word(m, &word, &words.v[i]);
		sim_bytes_printf(out, "$%zu\r\n", word.len);
		sim_bytes_add(out, sim_bytes_text(&word), word.len);
		sim_bytes_text_add(out, "\r\n");
		sim_bytes_free(&word);
	}
	words_free(&words);
}

static void line_of(struct sim_bytes *out, const char *reply)
{
	(void)notation(out, reply);
}

static void cleaned(struct marks *m, const char *reply)
{
	m->n_times = 0;
	if (*reply == '-')
		FAIL("cannot clean: %s", reply);
}

static int is_probed(const char *reply)
{
	return strstr(reply, "end-of-case") != NULL;
}

static int is_gone(const char *reply)
{
	return strcmp(reply, ":0\r\n") == 0;
}

static const char *const clean[] = { "CONFIG SET maxmemory 0",
				     "REPLICAOF NO ONE", "FLUSHALL",
				     "SCRIPT FLUSH", NULL };

const struct play_language redis_language = {
	.request = request,
	.reply_end = lab_resp_end,
	.line = line_of,
	.mark = notation_mark,
	.clean = clean,
	.cleaned = cleaned,
	.probe = "PING end-of-case",
	.is_probed = is_probed,
	.exists = "EXISTS %s",
	.is_gone = is_gone,
};
