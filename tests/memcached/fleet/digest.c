/* SPDX-License-Identifier: Apache-2.0 */
/* Digests tell pools apart, and say to people how they differ. */
#include "backends/memcached/pool/digest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "memcached/fleet/pools.h"

TestSuite(memcached_digest, .timeout = 30);

static void digest_of(const char *uri, size_t i, char out[MEMC_DIGEST])
{
	struct memc_pool *pool = pool_of(uri);

	dlki_memc_digest(pool, i, out);
	dlki_memc_pool_free(pool);
}

/* Of the first member of two pools. */
static void expect_difference(const char *theirs, const char *ours,
			      const char *what)
{
	char there[MEMC_DIGEST], here[MEMC_DIGEST], said[120];

	digest_of(theirs, 0, there);
	digest_of(ours, 0, here);
	cr_assert_str_neq(there, here);
	dlki_memc_digest_difference(there, here, said);
	cr_assert_str_eq(said, what, "%s", said);
}

static void expect_equal(const char *theirs, const char *ours)
{
	char there[MEMC_DIGEST], here[MEMC_DIGEST];

	for (size_t i = 0; i < 2; i++) {
		digest_of(theirs, i, there);
		digest_of(ours, i, here);
		cr_assert_str_eq(there, here);
	}
}

#define AB "memcached://alfa,bravo:11212/"

Test(memcached_digest, tells_what_differs)
{
	expect_difference(AB, AB "?distribution=ketama",
			  "distribution 'modula' there, 'ketama' here");
	expect_difference(AB, AB "?hash=crc",
			  "hash 'default' there, 'crc' here");
	expect_difference(AB, "memcached://alfa,bravo:11212,charlie",
			  "2 servers there, 3 here");
	expect_difference(AB, "memcached://bravo:11212,alfa",
			  "server 1 is alfa:11211 there, bravo:11212 here");
	expect_difference(AB, "memcached://alfa,bravo:11213",
			  "server 2 is bravo:11212 there, bravo:11213 here");
	expect_difference(
		AB "?distribution=ketama&weights=1,2",
		AB "?distribution=ketama&weights=1,3",
		"server 2 is bravo:11212/?2 there, bravo:11212/?3 here");
	expect_difference(AB "?distribution=ketama",
			  AB "?distribution=ketama&weights=1,2",
			  "distribution 'ketama' there, 'ketama_weighted' "
			  "here");
}

/* A namespace moves keys only if the hash covers the namespace. */
Test(memcached_digest, namespaces)
{
	char plain[300], spaced[300];
	const char *uri = uri_of_options("--SERVER=alfa --SERVER=bravo:11212 "
					 "--NAMESPACE=\"shop:\"");

	expect_equal(AB, uri);
	snprintf(plain, sizeof(plain), "%s", AB);
	snprintf(spaced, sizeof(spaced), "%s%s", uri,
		 "%20--HASH-WITH-NAMESPACE");
	expect_difference(plain, spaced, "namespace '-' there, 'shop:' here");
}

Test(memcached_digest, one_pool_in_two_ways)
{
	expect_equal(AB "?hash=md5",
		     uri_of_options("--SERVER=alfa --SERVER=bravo:11212 "
				    "--HASH=MD5 --CONNECT-TIMEOUT=9"));
	expect_equal(AB "?distribution=consistent", AB "?distribution=ketama");
	expect_equal(AB "?distribution=consistent&weights=3,2",
		     uri_of_options("--DISTRIBUTION=consistent "
				    "--SERVER=alfa/?3 "
				    "--SERVER=bravo:11212/?2"));
	expect_equal("memcached://alfa,bravo",
		     uri_of_options("--SERVER=bravo --SERVER=alfa "
				    "--SORT-HOSTS"));
}

Test(memcached_digest, each_member_has_another)
{
	char one[MEMC_DIGEST], two[MEMC_DIGEST], said[120];

	digest_of(AB, 0, one);
	digest_of(AB, 1, two);
	dlki_memc_digest_difference(one, two, said);
	cr_assert_str_eq(said,
			 "servers 1 and 2 of the pool are one: name it once");
}

Test(memcached_digest, of_members_that_do_not_fit)
{
	char theirs[3200], ours[3210], said[120];
	char there[MEMC_DIGEST], here[MEMC_DIGEST];
	size_t n = (size_t)snprintf(theirs, sizeof(theirs), "memcached://");

	for (int i = 0; i < 99; i++)
		n += (size_t)snprintf(theirs + n, sizeof(theirs) - n,
				      "cache%02d.example,", i);
	snprintf(ours, sizeof(ours), "%sother", theirs);
	snprintf(theirs + n, sizeof(theirs) - n, "last");
	digest_of(theirs, 0, there);
	digest_of(ours, 0, here);
	cr_assert_str_neq(there, here);
	cr_assert_eq(strlen(there), MEMC_DIGEST - 1);
	dlki_memc_digest_difference(there, here, said);
	cr_assert_str_eq(said, "a later server differs");
}

Test(memcached_digest, of_somebody_elses_item)
{
	char here[MEMC_DIGEST], said[120];

	digest_of(AB, 0, here);
	dlki_memc_digest_difference("hello", here, said);
	cr_assert_str_eq(said, "the item is none of dlock's");
}
