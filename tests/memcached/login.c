/* SPDX-License-Identifier: Apache-2.0 */
/* Servers with a file of users and passwords (-Y), and servers without. */
#include "support.h"

#include <stdio.h>
#include <unistd.h>

#include "support/check.h"

TestSuite(memcached_login, .timeout = 60);

static char users[] = "users.XXXXXX";
static struct lab_server *server;

static void start(const struct lab_memcached_options *options)
{
	server = server_of_case(lab_memcached_start(options));
}

static void unlink_users(void *path)
{
	unlink(path);
}

static void begin(void)
{
	static const char lines[] = "me:secret\nother:word\n";
	static const char *args[] = { "-Y", users, NULL };
	static const struct lab_memcached_options options = { .args = args };
	static char path[4096];
	int fd = mkstemp(users);

	CHECK(fd >= 0 && write(fd, lines, sizeof(lines) - 1) > 0);
	close(fd);
	CHECK(realpath(users, path));
	args[1] = path;
	at_end(unlink_users, users);
	start(&options);
}

static const char *uri(const char *login, const char *query)
{
	static char text[300];

	snprintf(text, sizeof(text), "memcached://%s127.0.0.1:%d/?ask=1s%s",
		 login, server->port, query);
	return text;
}

static void refused(const char *text, int code, const char *part)
{
	opening_fails(text, code, part);
	CHECK(!strstr(dlock_errmsg(), "secret"));
}

CASE(memcached_login, of_the_uri_is_enough)
{
	begin();
	opening_works(uri("me:secret@", "&protocol=meta"), NULL);
	opening_works(uri("me:secret@", "&protocol=text"), NULL);
}

CASE(memcached_login, that_is_wrong_or_missing_is_named)
{
	begin();
	refused(uri("", ""), DLOCK_EDENIED, "wants a login (its -Y)");
	refused(uri("me:secre@", ""), DLOCK_EDENIED,
		"refused our user and password");
	refused(uri("you:secret@", ""), DLOCK_EDENIED,
		"refused our user and password");
	refused(uri("me@", ""), DLOCK_EINVAL, "a user and a password");
	refused(uri(":secret@", ""), DLOCK_EINVAL, "a user and a password");
	refused(uri("m%20e:secret@", ""), DLOCK_EINVAL, "one word");
}
