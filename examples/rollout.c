/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollout NAME - hold a lock in two stores at once, while some programs use the
 * old store and others the new store: $OLD and $NEW are the URIs.  Prints the
 * tokens, the new store's first, until standard input ends.
 */
#include <dlock/dlock.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
	fprintf(stderr, "rollout: %s: %s\n", what, dlock_errmsg());
	return 1;
}

static unsigned long long token_of(dlock_hold *hold, size_t i)
{
	return (unsigned long long)dlock_token(dlock_member(hold, i));
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "NEW", "OLD" };
	dlock_client *client[2];
	dlock_lock *member[2], *both;
	dlock_hold *hold;

	if (argc != 2) {
		fprintf(stderr, "usage: OLD=URI NEW=URI rollout NAME\n");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		if (dlock_open(&client[i], getenv(names[i]), NULL) < 0 ||
		    dlock_mutex_new(&member[i], client[i], argv[1]) < 0)
			return fail(names[i]);
	}
	if (dlock_multi_new(&both, member, 2) < 0)
		return fail(argv[1]);
	if (dlock_acquire(both, 10000, &hold) < 0)
		return fail(argv[1]);
	printf("%llu %llu\n", token_of(hold, 0), token_of(hold, 1));
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	if (dlock_release(hold) < 0)
		return fail("release");
	dlock_lock_free(both);
	for (int i = 0; i < 2; i++) {
		dlock_lock_free(member[i]);
		dlock_close(client[i]);
	}
	return 0;
}
