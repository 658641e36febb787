/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/base/fail.h"

struct diary diary = DIARY_INIT;

static void end_bare(void *zh)
{
	zookeeper_close(zh);
}

static int port; /* of the latest server */

struct lab_server *server(const struct lab_zk_options *options)
{
	struct lab_server *s = server_of_case(lab_zk_start(options));

	port = s->port;
	return s;
}

struct lab_proxy *proxy(const struct lab_server *s)
{
	return proxy_of_case(s);
}

static char own[100]; /* the root of a case with a shared server, or "" */

void uri_as(char out[512], const char *user, int port, const char *params)
{
	snprintf(out, 512, "zk://%s127.0.0.1:%d%s/%s", user, port, own, params);
}

dlock_client *client_with(int port, const char *params,
			  const dlock_options *opts)
{
	char uri[512];

	uri_as(uri, "", port, params);
	return client_of_case(uri, opts);
}

dlock_client *client_beside(int port, const char *others, const char *params)
{
	char uri[512];

	snprintf(uri, sizeof(uri), "zk://127.0.0.1:%d%s/%s", port, others,
		 params);
	return client_of_case(uri, NULL);
}

dlock_client *client(int port, const char *params)
{
	return client_with(port, params, NULL);
}

dlock_client *watched_client(int port, const char *params)
{
	dlock_options opts = diary_options(&diary);

	return client_with(port, params, &opts);
}

void refused(int port, const char *params, int code, const char *part)
{
	char uri[512];

	uri_as(uri, "", port, params);
	opening_fails(uri, code, part);
}

void is_busy(dlock_lock *l)
{
	dlock_hold *h = NULL;

	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
}

int64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int waiter_join(struct taker *w)
{
	int rc = taker_join(w);

	CHECK_OK(w->release_rc);
	return rc;
}

/* ---- Looking at the server ----------------------------------------------- */

static void no_watch(zhandle_t *zh, int type, int state, const char *path,
		     void *context)
{
	(void)zh;
	(void)type;
	(void)state;
	(void)path;
	(void)context;
}

static void no_log(const char *message)
{
	(void)message;
}

zhandle_t *bare_of(int at, const clientid_t *id)
{
	char host[128];
	zhandle_t *zh;

	snprintf(host, sizeof(host), "127.0.0.1:%d%s", at, own);
	zh = zookeeper_init2(host, no_watch, 60000, id, NULL, 0, no_log);
	CHECK(zh);
	EVENTUALLY(zoo_state(zh) == ZOO_CONNECTED_STATE);
	at_end(end_bare, zh);
	return zh;
}

zhandle_t *bare(void)
{
	static zhandle_t *zh;

	if (!zh)
		zh = bare_of(port, NULL);
	return zh;
}

int children(const char *path, char name[256])
{
	struct String_vector v = { 0 };
	int rc = zoo_get_children(bare(), path, 0, &v);
	int n = v.count;

	if (rc == ZNONODE)
		return 0;
	CHECK_INT(rc, ==, ZOK);
	if (name && n > 0)
		snprintf(name, 256, "%s", v.data[0]);
	deallocate_String_vector(&v);
	return n;
}

int children_are(const char *path, int n)
{
	return children(path, NULL) == n;
}

/* The answer to wchp: paths, each with a line for each session behind it. */
static int64_t count_watches(struct lab_server *s, int on_tokens)
{
	static const char tokens[] = "/tokens";
	enum { SIZE = 1 << 22 };
	char *reply = malloc(SIZE), *rest = reply, *line;
	int there = 0;
	int64_t n = 0;

	CHECK(reply);
	if (lab_zk_word(s, "wchp", reply, SIZE) != 0)
		FAIL("%s", lab_errmsg());
	while ((line = strsep(&rest, "\n"))) {
		size_t len = strlen(line);

		if (line[0] == '/')
			there = len >= strlen(tokens) &&
				strcmp(line + len - strlen(tokens), tokens) ==
					0;
		else if (line[0] == '\t')
			n += there == on_tokens;
	}
	free(reply);
	return n;
}

int64_t watches(struct lab_server *s)
{
	return count_watches(s, 0);
}

int64_t token_watches(struct lab_server *s)
{
	return count_watches(s, 1);
}

void make(const char *path)
{
	CHECK_INT(zoo_create(bare(), path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL,
			     0),
		  ==, ZOK);
}

struct lab_server *shared_server(void)
{
	static struct lab_server s;
	const char *uris = getenv("DLOCK_TEST_URIS");
	char path[sizeof(own)];
	zhandle_t *zh;

	if (!uris || sscanf(uris, "zk://127.0.0.1:%d/", &s.port) != 1)
		return server(NULL);
	snprintf(path, sizeof(path), "/%s.%s", criterion_current_test->category,
		 criterion_current_test->name);
	zh = bare_of(s.port, NULL);
	CHECK_INT(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0),
		  ==, ZOK);
	end_now(zh);
	port = s.port;
	memcpy(own, path, sizeof(own));
	return &s;
}

void drop(const char *dir, const char *name)
{
	char path[512];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = zoo_delete(bare(), path, -1);
	CHECK(rc == ZOK || rc == ZNONODE);
}
