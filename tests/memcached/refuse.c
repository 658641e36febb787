/* SPDX-License-Identifier: Apache-2.0 */
/* Messages name the refused URI or server; names reach no other key. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "lab/base/clock.h"
#include "lab/base/net.h"

Test(memcached_refuse, uris)
{
	opening_fails("memcached://a:1,b:2/c", DLOCK_EINVAL, "'/c'");
	opening_fails("memcached+unix://a,b", DLOCK_EINVAL,
		      "memcached+unix:///");
	opening_fails("memcached://127.0.0.1:1/?connect=200ms",
		      DLOCK_EUNREACHABLE, "127.0.0.1:1");
	opening_fails("memcached:", DLOCK_EINVAL, "no host");
	opening_fails("memcached://a/b", DLOCK_EINVAL, "'/b'");
	opening_fails("memcached+unix://a/b", DLOCK_EINVAL,
		      "memcached+unix:///");
	opening_fails("memcached+unix:", DLOCK_EINVAL, "no path");
	opening_fails("memcached://a/?ttl=499ms", DLOCK_EINVAL, "'ttl'");
	opening_fails("memcached://a/?ttl=25h", DLOCK_EINVAL, "'ttl'");
	opening_fails("memcached://a/?protocol=binary", DLOCK_EINVAL,
		      "auto|text|meta");
	opening_fails("memcached://a/?poll=0ms", DLOCK_EINVAL, "'poll'");
}

CASE(memcached_refuse, server_without_cas)
{
	static const char *const args[] = { "-C", NULL };
	const struct lab_memcached_options options = { .args = args };
	struct scene s = scene_new("auto", &options);
	dlock_client *c = direct(&s, "");

	ask(mutex(c, "x"), 0, DLOCK_ENOTSUP);
	CHECK_TEXT(dlock_errmsg(), "-C");
}

CASE(memcached_refuse, semaphore_too_large)
{
	struct scene s = scene_new("auto", NULL);
	dlock_client *c = direct(&s, "");

	ask(semaphore(c, "x", 1025), -1, DLOCK_ENOTSUP);
	CHECK_TEXT(dlock_errmsg(), "1025");
}

static bool listed(const char *reply, size_t len)
{
	return (len >= 5 && strcmp(reply + len - 5, "END\r\n") == 0) ||
	       strncmp(reply, "BUSY", 4) == 0;
}

/* Check that the server's keys are short, of bytes without a meaning in the
 * protocols.  Return the number of keys. */
static int check_keys(const struct lab_server *server)
{
	static char reply[65536];
	struct lab_address to = lab_server_address(server);
	int count = 0;

	do {
		CHECK_INT(lab_ask(&to, "lru_crawler metadump all\r\n", reply,
				  sizeof(reply), listed, lab_after_ms(10000)),
			  ==, 0);
	} while (strncmp(reply, "BUSY", 4) == 0);
	for (char *at = reply; (at = strstr(at, "key=")); count++) {
		size_t len = strspn(at += 4, "0123456789abcdefghijklmnopqrst"
					     "uvwxyz.");

		CHECK_INT(at[len], ==, ' ');
		CHECK_INT(len, <=, 150);
		/* And the witness and pool of the scene's client. */
		CHECK(strncmp(at, "victim.", 7) == 0 ||
		      strncmp(at, "dlock.0 ", 8) == 0 ||
		      strncmp(at, "dlock.p ", 8) == 0);
	}
	return count;
}

/* Names of every length, with words of the protocols, all held at the same time
 * by each kind of lock. */
EITHER_WAY(memcached_refuse, keys)
{
	static const char evil[] = "x 0 C1 ME victim.lnx *%s\\r\\n..";
	dlock_client *c = direct(&s, "prefix=victim");
	char name[256];
	dlock_hold *hold[3 * 20];
	size_t n = 0;
	int held = 4, found = 0; /* two witnesses, two pools */

	for (size_t len = 1; len < sizeof(name); len += 13) {
		for (size_t i = 0; i < len; i++)
			name[i] = evil[i % (sizeof(evil) - 1)];
		name[len] = '\0';
		hold[n++] = take(mutex(c, name));
		hold[n++] = take(semaphore(c, name, 2));
		name[0] = 'r'; /* "x..." has an exclusive holder */
		hold[n++] = take_shared(rwlock(c, name), patience_ms());
		/* A reader or a permit has a slot and a mark. */
		held += 1 + 2 + 2;
	}
	/* The server passes over items in use. */
	EVENTUALLY((found = check_keys(s.server)) >= held);
	CHECK_INT(found, ==, held);
	while (n > 0)
		give(hold[--n]);
}
