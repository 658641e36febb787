/* SPDX-License-Identifier: Apache-2.0 */
/* Every name is a separate lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"

/* Names that a file system, a protocol, a pattern or a careless encoding may
 * take for the same. */
/* clang-format off */
static const char *const odd[] = {
	"lock", "Lock", "LOCK", "lock.", "lock ", " lock", "lock/", "/lock",
	"lock//", "a/b", "a//b", "a%2fb", "a%2Fb", "a_b", "a-b", "a.b", "a:b",
	"ab", ".", "..", "...", "/", "//", "../lock", "./lock", "~", "~/lock",
	"-", "--help", "*", "?", "[a]", "{a}", "{a}b", "a}", "{}", "%", "%%",
	"%s%n", "$HOME", "`id`", "\\", "\"", "'", "a b", "a  b", "a,b", "a=b",
	"a&b", "a?b", "a#b", "a@b", "a+b", "a;b", "0", "00", "-1", "con", "nul",
	"x 0 0 1", "lock:fence", "lock:token", "lock.lock", "lock~", ".lock",
	"dlock", "dlock:lock", "dlock.lock", "m", "r", "s", "\xc3\xa9",
	"e\xcc\x81", "\xc3\x89", "\xe2\x84\xaa", "K", "k", "\xc4\xb0", "i",
	"\xc4\xb1", "stra\xc3\x9f" "e", "strasse", "\xf0\x9f\x94\x92",
	"\xe6\x97\xa5\xe6\x9c\xac", "\xef\xbb\xbf" "a", "a", "\xe2\x80\x8d" "a",
	"\xf4\x8f\xbf\xbf",
};
/* clang-format on */

enum { ODD = sizeof(odd) / sizeof(odd[0]) };

/* A client acquires all names with a single try each, so no two names are the
 * same lock. Another client finds each name held. */
static void all_at_once(struct conform *t, const char *const names[], size_t n)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold **h = calloc(n, sizeof(*h));

	CHECK(h);
	for (size_t i = 0; i < n; i++) {
		dlock_lock *l = NULL;

		/* A second hold of a semaphore is no re-entry. */
		if (t->caps & DLOCK_CAP_COUNT)
			CHECK_OK(dlock_semaphore_new(&l, t->client, names[i],
						     1));
		else
			CHECK_OK(dlock_mutex_new(&l, t->client, names[i]));
		face_knows(l, t->client, NULL);
		if (ask_for(l, 0, 0, &h[i]) != DLOCK_OK)
			FAIL("'%s': %s", names[i], face_errmsg());
		for (size_t k = 0; k < i; k++)
			CHECK(h[k] != h[i]);
		dlock_lock_free(l);
	}
	for (size_t i = 0; i < n; i++) {
		dlock_hold *none = NULL;
		dlock_lock *l = NULL;

		if (t->caps & DLOCK_CAP_COUNT)
			CHECK_OK(dlock_semaphore_new(&l, c, names[i], 1));
		else
			CHECK_OK(dlock_mutex_new(&l, c, names[i]));
		face_knows(l, c, NULL);
		CHECK_RC(ask_for(l, 0, 0, &none), DLOCK_EBUSY);
		give(h[i]);
		is_free(l);
		dlock_lock_free(l);
	}
	free(h);
}

void case_names_odd(struct conform *t)
{
	all_at_once(t, odd, ODD);
}

/* A lock and a semaphore of the same name are unrelated. */
void case_names_kinds(struct conform *t)
{
	static const enum kind kinds[] = { MUTEX, SEMAPHORE };
	dlock_hold *h[2];
	dlock_lock *l[2];

	for (int i = 0; i < 2; i++) {
		l[i] = any_lock(t, another_client(t, NULL, NULL), kinds[i], 1,
				t->name);
		h[i] = take(l[i]);
	}
	for (int i = 0; i < 2; i++) {
		dlock_lock *other = any_lock(t, t->client, kinds[i], 1,
					     t->name);

		refused(other);
		give(h[i]);
		is_free(other);
	}
}

/* A mutex is the write side of the lock of the name. */
void case_names_meet(struct conform *t)
{
	dlock_lock *mutex;

	use_rwlock(t);
	mutex = any_lock(t, another_client(t, NULL, NULL), MUTEX, 0, t->name);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take(mutex);

		CHECK_INT(ask(p, READ, 0).rc, ==, DLOCK_EBUSY);
		CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
		tell(p, READ, -1);
		await_waiters(t, 1);
		give(h);
		HEAR_OK(p);
		refused(mutex);
		tell(p, RELEASE, 0);
		h = take(mutex);
		HEAR_OK(p);
		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		give(h);
		HEAR_OK(p);
		refused(mutex);
		ASK_OK(p, RELEASE, 0);
		is_free(mutex);
	}
}

static void needs_prefixes(void)
{
	const char *uri = getenv("CONFORM_URI");

	if (strstr(uri, "prefix="))
		check_skip("the URI says which prefix");
	if (strstr(uri, "key=plain"))
		check_skip("the name is the key, whatever the prefix");
}

/* Make a handle of a new client with the prefix. Other cases use the prefix as
 * well, so the name includes the case's directory. */
static dlock_lock *below(struct conform *t, const char *prefix,
			 const char *name)
{
	char *full = uri_with(getenv("CONFORM_URI"), prefix);
	dlock_client *c = NULL;
	char own[256];

	snprintf(own, sizeof(own), "%s%.200s", name, t->dir);
	CHECK_OK(dlock_open(&c, full, NULL));
	free(full);
	t->clients[t->n_clients++] = c;
	return any_lock(t, c, MUTEX, 0, own);
}

/* Two prefixes do not collide, even if prefix and name together look alike. */
void case_names_prefix(struct conform *t)
{
	static const char *const params[] = { "prefix=a", "prefix=a.b",
					      "prefix=a-b", "prefix=A" };
	static const char *const names[] = { "b.c", "c", "c", "b.c" };
	dlock_hold *h[4];

	needs_prefixes();
	for (int i = 0; i < 4; i++)
		CHECK_OK(ask_for(below(t, params[i], names[i]), 0, 0, &h[i]));
	for (int i = 0; i < 4; i++)
		give(h[i]);
}

/* A break spares the lock of the same name below another prefix. */
void case_names_prefix_break(struct conform *t)
{
	dlock_hold *h, *victim;
	dlock_lock *broken;
	int rc;

	needs_prefixes();
	needs_break(t);
	h = take(below(t, "prefix=a", "broken"));
	victim = take(below(t, "prefix=b", "broken"));
	broken = below(t, "prefix=b", "broken");
	CHECK_OK(dlock_break(broken, patience_ms()));
	is_free(broken);
	refused(below(t, "prefix=a", "broken"));
	CHECK_OK(dlock_check(h));
	give(h);
	rc = release(victim);
	CHECK(rc == DLOCK_OK || rc == DLOCK_ELOST);
}
