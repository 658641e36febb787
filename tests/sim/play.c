/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/play.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"
#include "support/check.h"
#include "support/wait.h"

#define ARROW " => "

struct player {
	struct play_server *server;
	const char *path;
	FILE *record;
	int line;
	char name[128];
	struct marks marks;
	int is_open[PLAY_CONNECTIONS];
	int sender;
	char how;         /* '>', '$', '~' or '!' of the last request */
	char fields[256]; /* of '$' */
	int is_due;       /* a reply, when recording */
	size_t width;     /* of the recorded line, without a line end yet */
	int has_failed;
	struct play_count count;
};

static void complain(struct player *p, const char *want, const char *got)
{
	printf("%s:%d: %s\n\twanted %s\n\tgot    %s\n", p->path, p->line,
	       p->name, want, got);
	if (!p->has_failed)
		p->count.failures++;
	p->has_failed = 1;
}

/* ---- The record ---------------------------------------------------------- */

static void record_end_of_line(struct player *p)
{
	if (p->width > 0)
		fputc('\n', p->record);
	p->width = 0;
}

/* Write a line, and leave a request's open for the reply. */
static void record_line(struct player *p, const char *line)
{
	record_end_of_line(p);
	fputs(line, p->record);
	if (p->is_due)
		p->width = strlen(line);
	else
		fputc('\n', p->record);
}

static void record_reply(struct player *p, const char *reply)
{
	if (p->width > 0 && p->width + strlen(ARROW) + strlen(reply) <= 80) {
		fprintf(p->record, ARROW "%s\n", reply);
		p->width = 0;
	} else {
		record_end_of_line(p);
		fprintf(p->record, "%s\n", reply);
	}
}

/* ---- Requests ------------------------------------------------------------ */

static void send_line(struct player *p, int n, const char *line)
{
	struct sim_bytes out = { 0 };

	p->server->language->request(&p->marks, &out, line);
	p->server->send(p->server, n, sim_bytes_text(&out), out.len);
	sim_bytes_free(&out);
}

static void request(struct player *p, int n, const char *line)
{
	const char *bar;

	p->sender = n;
	p->how = line[1];
	if (!p->is_open[n])
		p->server->open(p->server, n);
	p->is_open[n] = 1;
	line += 2;
	if (p->how == '!') {
		struct words words = words_split(line);

		p->server->send(p->server, n, sim_bytes_text(&words.v[0]),
				words.v[0].len);
		words_free(&words);
		return;
	}
	bar = p->how == '$' ? strchr(line, '|') : NULL;
	if (bar) {
		snprintf(p->fields, sizeof(p->fields), "%.*s",
			 (int)(bar - line), line);
		line = bar + 1;
	}
	send_line(p, n, line);
}

/* ---- Replies ------------------------------------------------------------- */

/* Copy the wanted fields, "role:master" and so on. */
static void pick_fields(struct player *p, const char *text,
			struct sim_bytes *out)
{
	struct words fields = words_split(p->fields);

	for (size_t i = 0; i < fields.n; i++) {
		const char *name = sim_bytes_text(&fields.v[i]);
		const char *at = text;

		while ((at = strstr(at, name)) &&
		       ((at > text && at[-1] != '\n') ||
			!strchr(": ", at[strlen(name)])))
			at++;
		sim_bytes_printf(out, "%s%.*s", i > 0 ? " " : "",
				 at ? (int)strcspn(at, "\r") : 2,
				 at ? at : "no");
	}
	words_free(&fields);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(sim_bytes_text(a), sim_bytes_text(b));
}

static void sort_words(struct sim_bytes *line)
{
	struct words words = words_split(sim_bytes_text(line));
	struct sim_bytes out = { 0 };

	if (words.n > 2)
		qsort(words.v + 1, words.n - 2, sizeof(*words.v), by_text);
	for (size_t i = 0; i < words.n; i++)
		sim_bytes_printf(&out, "%s%s", i > 0 ? " " : "",
				 sim_bytes_text(&words.v[i]));
	words_free(&words);
	sim_bytes_free(line);
	*line = out;
}

static void read_reply(struct player *p, int n, struct sim_bytes *line)
{
	const struct play_language *l = p->server->language;
	struct sim_bytes raw = { 0 };
	int rc = p->is_open[n] ? p->server->reply(p->server, n, &raw) : 0;

	if (rc < 0) {
		sim_bytes_text_add(line, "no reply yet");
	} else if (rc == 0) {
		if (p->is_open[n])
			p->server->close(p->server, n);
		p->is_open[n] = 0;
		sim_bytes_text_add(line, "closed");
	} else if (n == p->sender && p->how == '$') {
		pick_fields(p, sim_bytes_text(&raw), line);
	} else {
		l->line(line, sim_bytes_text(&raw));
		if (n == p->sender && p->how == '~')
			sort_words(line);
	}
	l->mark(&p->marks, line, p->server->now_us(p->server));
	sim_bytes_free(&raw);
}

static void expect(struct player *p, int n, const char *want)
{
	struct sim_bytes got = { 0 };

	if (p->has_failed)
		return;
	read_reply(p, n, &got);
	p->count.replies++;
	if (p->record)
		record_reply(p, sim_bytes_text(&got));
	else if (strcmp(want, sim_bytes_text(&got)) != 0)
		complain(p, want, sim_bytes_text(&got));
	sim_bytes_free(&got);
}

/* ---- Cases --------------------------------------------------------------- */

/* Return the reply on the connection outside of cases. */
static void control(struct player *p, const char *line, struct sim_bytes *reply)
{
	send_line(p, PLAY_CONTROL, line);
	if (p->server->reply(p->server, PLAY_CONTROL, reply) != 1)
		FAIL("%s: no reply", line);
}

/* Fail if more has come than the case expects. */
static void end_case(struct player *p)
{
	const struct play_language *l = p->server->language;

	for (int n = 0; n < PLAY_CONNECTIONS; n++) {
		struct sim_bytes raw = { 0 };

		if (!p->is_open[n])
			continue;
		if (!p->has_failed) {
			send_line(p, n, l->probe);
			if (p->server->reply(p->server, n, &raw) != 1 ||
			    !l->is_probed(sim_bytes_text(&raw)))
				complain(p, "no more", sim_bytes_text(&raw));
		}
		sim_bytes_free(&raw);
		p->server->close(p->server, n);
		p->is_open[n] = 0;
	}
}

static void begin_case(struct player *p, const char *name)
{
	const struct play_language *l = p->server->language;

	end_case(p);
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->has_failed = 0;
	p->count.cases++;
	if (p->server->wall)
		p->server->wall(p->server, 0);
	for (const char *const *line = l->clean; *line; line++) {
		struct sim_bytes reply = { 0 };

		control(p, *line, &reply);
		l->cleaned(&p->marks, sim_bytes_text(&reply));
		sim_bytes_free(&reply);
	}
}

static int is_gone(struct player *p, const char *key)
{
	const struct play_language *l = p->server->language;
	struct sim_bytes line = { 0 }, reply = { 0 };
	const char *at = strstr(l->exists, "%s");
	int rc;

	sim_bytes_add(&line, l->exists, (size_t)(at - l->exists));
	sim_bytes_printf(&line, "%s%s", key, at + 2);
	control(p, sim_bytes_text(&line), &reply);
	rc = l->is_gone(sim_bytes_text(&reply));
	sim_bytes_free(&line);
	sim_bytes_free(&reply);
	return rc;
}

static void wait_gone(struct player *p, const char *key)
{
	int64_t end = now_ms() + patience_ms();

	while (!is_gone(p, key)) {
		if (now_ms() > end)
			FAIL("%s:%d: %s does not expire", p->path, p->line,
			     key);
		p->server->nap(p->server);
	}
}

static void wait_tick(struct player *p)
{
	uint64_t before = p->server->count(p->server);

	while (p->server->count(p->server) == before)
		p->server->nap(p->server);
}

static void start(struct player *p, const char *options)
{
	end_case(p);
	p->server->start(p->server, options);
}

static void wait_tenth(struct player *p)
{
	while (p->server->now_us(p->server) % 100000 > 20000)
		p->server->nap(p->server);
}

static int is_connection(const char *line)
{
	return *line >= 'A' && *line < 'A' + PLAY_CONNECTIONS && line[1] &&
	       strchr("><$~!", line[1]);
}

static int is_event(const char *line)
{
	return strncmp(line, "gone ", 5) == 0 ||
	       strncmp(line, "wall ", 5) == 0 ||
	       strncmp(line, "server", 6) == 0 || strcmp(line, "tenth") == 0 ||
	       strcmp(line, "tick") == 0 || strcmp(line, "fill") == 0;
}

static void play_event(struct player *p, const char *line)
{
	if (strncmp(line, "gone ", 5) == 0)
		wait_gone(p, line + 5);
	else if (strncmp(line, "wall ", 5) == 0)
		p->server->wall(p->server, strtoll(line + 5, NULL, 10));
	else if (strcmp(line, "tick") == 0)
		wait_tick(p);
	else if (strcmp(line, "fill") == 0)
		p->server->fill(p->server);
	else if (strcmp(line, "tenth") == 0)
		wait_tenth(p);
}

static int is_request(const char *line)
{
	return is_connection(line) && strchr(">$~", line[1]);
}

static void play_line(struct player *p, const char *line)
{
	int is_reply = *line && !is_connection(line) && !strchr("#=", *line) &&
		       !is_event(line);

	if (p->is_due && !is_reply)
		expect(p, p->sender, "");
	p->is_due = p->record && is_request(line) && !p->has_failed;
	if (p->record && !is_reply && line[1] != '<')
		record_line(p, line);
	if (*line == '\0' || *line == '#')
		return;
	if (strncmp(line, "server", 6) == 0) {
		start(p, line + 6 + strspn(line + 6, " "));
	} else if (*line == '=') {
		begin_case(p, line + 2);
	} else if (p->has_failed) {
		return;
	} else if (is_connection(line) && line[1] == '<') {
		if (p->record)
			fprintf(p->record, "%.3s", line);
		expect(p, *line - 'A', line + 3);
	} else if (is_connection(line)) {
		request(p, *line - 'A', line);
	} else if (is_event(line)) {
		play_event(p, line);
	} else {
		expect(p, p->sender, line);
	}
}

struct play_count play(struct play_server *s, const char *path, FILE *record)
{
	struct player p = { .server = s, .path = path, .record = record };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *f = fopen(path, "re");

	if (!f)
		FAIL("cannot read %s", path);
	s->open(s, PLAY_CONTROL);
	while ((len = getline(&line, &size, f)) >= 0) {
		char *arrow;

		p.line++;
		if (len > 0 && line[len - 1] == '\n')
			line[len - 1] = '\0';
		arrow = is_request(line) ? strstr(line, ARROW) : NULL;
		if (arrow)
			*arrow = '\0';
		play_line(&p, line);
		if (arrow)
			play_line(&p, arrow + strlen(ARROW));
	}
	if (p.is_due)
		expect(&p, p.sender, "");
	end_case(&p);
	s->close(s, PLAY_CONTROL);
	free(line);
	fclose(f);
	return p.count;
}
