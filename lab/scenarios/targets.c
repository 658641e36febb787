/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/targets.h"
#include "lab/base/fail.h"
#include "lab/scenarios/load.h"

#include <stdio.h>
#include <string.h>

#define ATTEMPTS 3
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* ---- Names --------------------------------------------------------------- */

static bool taken(const struct lab_targets *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->list[i].name, name))
			return true;
	return false;
}

static struct lab_sut *add_target(struct lab_targets *l, const char *name,
				  size_t len)
{
	struct lab_sut *s = &l->list[l->n];

	if (l->n == LAB_TARGETS) {
		lab_fail("more than %d stores", LAB_TARGETS);
		return NULL;
	}
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->claim, NULL);
	if (len > 24)
		len = 24;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)len, name);
	for (int i = 2; taken(l, s->name); i++)
		snprintf(s->name, sizeof(s->name), "%.*s-%d", (int)len, name,
			 i);
	l->n++;
	return s;
}

/* Return the last part of the path at the start of `word`. */
static const char *base_of(const char *word, size_t *len)
{
	const char *slash;

	*len = strcspn(word, " ");
	while ((slash = memchr(word, '/', *len))) {
		*len -= (size_t)(slash - word) + 1;
		word = slash + 1;
	}
	return word;
}

/* Return the name of a command: of `python3 lock.py`, lock.py. */
static const char *file_of(const char *command, size_t *len)
{
	static const char *const interpreters[] = { "sh", "bash", "env",
						    "python3", "perl" };
	const char *word = base_of(command, len);

	for (size_t i = 0; i < LENGTH(interpreters); i++)
		if (strlen(interpreters[i]) == *len &&
		    !strncmp(word, interpreters[i], *len) && word[*len] == ' ')
			return base_of(word + *len + 1, len);
	return word;
}

/* ---- The list ------------------------------------------------------------ */

/*
 * Move the lock files to a new directory on the same file system, which a
 * supervisor removes: a killed client leaves lock files.  Without a directory,
 * or with an unusable one, the library gets the URI as it is, and reports the
 * error.
 */
static void choose_dir(struct lab_sut *s, const char *dir)
{
	const char *rest = s->uri + strlen("file:");
	char path[512];
	char query[400];
	size_t len;

	rest += strncmp(rest, "//", 2) ? 0 : 2;
	len = strcspn(rest, "?");
	if (len > 400 || memchr(rest, '%', len) || (len && *rest != '/'))
		return;
	if (len == 0)
		snprintf(path, sizeof(path), "%.400s", dir);
	else
		snprintf(path, sizeof(path), "%.*s", (int)len, rest);
	snprintf(query, sizeof(query), "%.399s", rest + len);
	snprintf(path + strlen(path), sizeof(path) - strlen(path),
		 "/dlock-compare-XXXXXX");
	s->tidy = lab_process_new(path);
	if (!s->tidy)
		return;
	snprintf(s->shown, sizeof(s->shown), "%.255s", s->uri);
	snprintf(s->files, sizeof(s->files), "%s", path);
	snprintf(s->uri, sizeof(s->uri), "file://%s%s", path, query);
}

static int add_uri(struct lab_targets *l, const char *uri, const char *dir)
{
	struct lab_sut *s = add_target(l, uri, strcspn(uri, ":"));

	if (!s)
		return -1;
	if (strlen(uri) >= sizeof(s->uri))
		return lab_fail("the URI is too long");
	snprintf(s->uri, sizeof(s->uri), "%s", uri);
	if (!strncmp(uri, "file:", 5))
		choose_dir(s, dir);
	return 0;
}

static int add_command(struct lab_targets *l, const char *command)
{
	size_t len;
	const char *file = file_of(command, &len);
	struct lab_sut *s = add_target(l, file, len);

	if (!s)
		return -1;
	if (strlen(command) >= sizeof(s->command))
		return lab_fail("the command is too long");
	s->foreign = true;
	snprintf(s->command, sizeof(s->command), "%s", command);
	snprintf(s->shown, sizeof(s->shown), "%.255s", command);
	return 0;
}

struct built {
	const char *scheme;
	bool found;
};

static void see_store(const struct dlock_store *store, void *arg)
{
	struct built *b = arg;

	if (!store->missing && !strcmp(store->scheme, b->scheme))
		b->found = true;
}

static int add_lab(struct lab_targets *l,
		   const struct lab_sut_kind *const *kinds, const char *dir)
{
	if (add_uri(l, "mem:", dir) < 0 || add_uri(l, "file:", dir) < 0)
		return -1;
	for (size_t i = 0; kinds[i]; i++) {
		struct built b = { kinds[i]->scheme, false };
		struct lab_sut *s;

		dlock_each_store(see_store, &b);
		if (!b.found)
			continue;
		s = add_target(l, kinds[i]->name, strlen(kinds[i]->name));
		if (!s)
			return -1;
		s->kind = kinds[i];
	}
	return 0;
}

int lab_targets_list(struct lab_targets *l, const struct lab_compare_options *o,
		     const char *dir)
{
	l->n = 0;
	for (size_t i = 0; i < o->n_uris; i++)
		if (add_uri(l, o->uris[i], dir) < 0)
			return -1;
	if (o->lab && add_lab(l, o->kinds ? o->kinds : lab_sut_kinds, dir) < 0)
		return -1;
	for (size_t i = 0; i < o->n_commands; i++)
		if (add_command(l, o->commands[i]) < 0)
			return -1;
	return 0;
}

/* ---- The start ----------------------------------------------------------- */

/* Whether two processes can hold at once: the store is in the memory of
 * each. */
static bool is_local(struct lab_trial *t)
{
	struct lab_worker *a = lab_join(t, "A", LAB_JOIN_ALONE);
	struct lab_worker *b = lab_join(t, "B", LAB_JOIN_ALONE);
	bool both = lab_take(a, 0).rc == DLOCK_OK &&
		    lab_take(b, 0).rc == DLOCK_OK;

	lab_leave(b);
	lab_leave(a);
	return both;
}

/* Show the URI as the library does, without the added parameters. */
static void show_uri(struct lab_sut *s, const char *uri)
{
	const char *end = strstr(uri, "prefix=dlock-compare-");
	size_t len = end && end > uri ? (size_t)(end - uri) - 1 : strlen(uri);

	snprintf(s->shown, sizeof(s->shown), "%.*s",
		 (int)(len < 255 ? len : 255), uri);
}

static void identify(struct lab_sut *s, struct lab_trial *t)
{
	struct lab_worker *p = lab_join(t, "A",
					LAB_JOIN_MAY_FAIL | LAB_JOIN_ALONE);
	const struct lab_reply *hello = p ? &p->hello : NULL;

	if (!hello || hello->rc != DLOCK_OK) {
		snprintf(s->trouble, sizeof(s->trouble), "%s",
			 hello ? hello->text : t->why);
		return;
	}
	if (s->foreign)
		snprintf(s->server_text, sizeof(s->server_text), "%.79s",
			 hello->text);
	s->caps = (uint32_t)hello->count;
	s->ttl_ms = hello->ttl_ms;
	if (!*s->shown)
		show_uri(s, hello->text);
	lab_leave(p);
	if (!s->foreign && !(s->caps & DLOCK_CAP_REMOTE))
		s->local = is_local(t);
}

/* Put addresses into a command: "{redis}" becomes the address of the system of
 * that name, host:port, host:port... */
static int fill_in(struct lab_sut *s, struct lab_targets *l)
{
	char out[sizeof(s->command)];

	for (size_t i = 0; i < l->n; i++) {
		struct lab_sut *other = &l->list[i];
		const char *hosts = strstr(other->uri, "://");
		char mark[48];
		char *at;

		snprintf(mark, sizeof(mark), "{%s}", other->name);
		at = strstr(s->command, mark);
		if (!at || !hosts || !other->n_nodes)
			continue;
		if (lab_sut_use(s, other) < 0)
			return -1;
		snprintf(out, sizeof(out), "%.*s%.100s%.800s",
			 (int)(at - s->command), s->command, hosts + 3,
			 at + strlen(mark));
		snprintf(s->command, sizeof(s->command), "%s", out);
	}
	return 0;
}

static void start_target(struct lab_sut *s, struct lab_trial *t)
{
	if (s->kind && lab_sut_start(s) < 0) {
		snprintf(s->trouble, sizeof(s->trouble), "%.399s",
			 lab_errmsg());
		return;
	}
	snprintf(t->direct, sizeof(t->direct), "%s%c%s", s->uri,
		 strchr(s->uri, '?') ? '&' : '?', "prefix=dlock-compare-0");
	if (strstr(s->uri, "prefix="))
		snprintf(t->direct, sizeof(t->direct), "%s", s->uri);
	identify(s, t);
	lab_leave_all(t);
	lab_workers_free(t);
}

/* Try again after a failure on an overloaded machine. */
static void start_patiently(struct lab_sut *s, struct lab_trial *t)
{
	for (int n = 1; n <= ATTEMPTS; n++) {
		struct lab_load load = lab_load_begin();

		*s->trouble = '\0';
		t->failed = false;
		start_target(s, t);
		if (!*s->trouble)
			return;
		if (s->kind)
			lab_sut_stop(s);
		if (lab_trial_stopped(t) ||
		    lab_load_percent(&load) < t->busy_percent)
			return;
	}
}

void lab_target_open(struct lab_targets *l, size_t i, struct lab_trial *t)
{
	struct lab_sut *s = &l->list[i];

	if (s->foreign && fill_in(s, l) < 0) {
		snprintf(s->trouble, sizeof(s->trouble), "%.399s",
			 lab_errmsg());
		return;
	}
	t->sut = s;
	snprintf(t->name, sizeof(t->name), "cmp-%08x", (unsigned)t->seed);
	t->history = lab_history_open(t->dir);
	if (t->history)
		start_patiently(s, t);
	else
		snprintf(s->trouble, sizeof(s->trouble), "%.399s",
			 lab_errmsg());
	lab_history_close(t->history);
}
