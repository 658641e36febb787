/* SPDX-License-Identifier: Apache-2.0 */
/* Pools that make no sense, or in which names would move. */
#include <criterion/criterion.h>

#include "memcached/fleet/pools.h"

TestSuite(memcached_pool, .timeout = 30);

static void refused(const char *uri, const char *why)
{
	pool_refused(uri, DLOCK_EINVAL, why);
}

static void options_refused(const char *options, const char *why)
{
	refused(uri_of_options(options), why);
}

Test(memcached_pool, a_server_twice)
{
	refused("memcached://a,b:11212,A:11211",
		"servers 1 and 3 are the same");
	options_refused("--SERVER=cache1 --SERVER=cache1:11211",
			"servers 1 and 2 are the same");
	refused("memcached://[::1]:7,b,[::1]:7", "servers 1 and 3");
}

Test(memcached_pool, weights_without_sense)
{
	refused("memcached://a,b/?weights=1,2", "nothing to the distribution");
	refused("memcached://a,b/?distribution=ketama&weights=1",
		"1 weights for 2 servers");
	refused("memcached://a,b/?distribution=ketama&weights=1,2,3",
		"3 weights for 2 servers");
	refused("memcached://a,b/?distribution=ketama&weights=1,0",
		"from 1 to 1000");
	refused("memcached://a,b/?distribution=ketama&weights=1,",
		"from 1 to 1000");
	refused("memcached://a,b/?distribution=ketama&weights=1,-1",
		"from 1 to 1000");
	refused("memcached://a,b/?distribution=ketama&weights=1,100000",
		"from 1 to 1000");
	refused("memcached://a,b/?distribution=ketama&weights=1,2x",
		"from 1 to 1000");
	options_refused("--SERVER=cache1/?0 --SERVER=cache2", "from 1 to 1000");
	options_refused("--SERVER=cache1:7/?99999 --SERVER=cache2",
			"from 1 to 1000");
}

Test(memcached_pool, ports_without_sense)
{
	refused("memcached://a:0,b", "from 1 to 65535");
	options_refused("--SERVER=cache1:0 --SERVER=cache2", "from 1 to 65535");
	options_refused("--SERVER=cache1:65536 --SERVER=cache2",
			"from 1 to 65535");
	options_refused("--SERVER=cache1:99999 --SERVER=cache2",
			"from 1 to 65535");
	options_refused("--SERVER=cache1:7x --SERVER=cache2",
			"from 1 to 65535");
}

Test(memcached_pool, names_would_move)
{
	refused("memcached://a,b/?distribution=random", "distribution");
	options_refused("--SERVER=cache1 --SERVER=cache2 "
			"--DISTRIBUTION=random",
			"keeps no name in one place");
	options_refused("--SERVER=cache1 --REMOVE-FAILED-SERVERS=1",
			"never moves");
	options_refused("--SERVER=cache1 --NUMBER-OF-REPLICAS=1",
			"on one server");
	options_refused("--SERVER=cache1 --RANDOMIZE-REPLICA-READ",
			"on one server");
}

Test(memcached_pool, options_that_do_something_else)
{
	options_refused("--CONFIGURE-FILE=\"/etc/passwd\"", "no option");
	options_refused("INCLUDE \"/etc/passwd\"", "no option");
	options_refused("RESET", "no option");
	options_refused("ERROR", "no option");
	options_refused("--SERVER=cache1  --SERVER=cache2", "single spaces");
	options_refused("--SERVER", "no option");
	options_refused("--USER-DATA", "no option");
}

Test(memcached_pool, what_libmemcached_does_not_understand)
{
	options_refused("--SERVER=", "libmemcached");
	options_refused("--SERVER=cache1 --HASH=murmur99", "libmemcached");
	options_refused("--SERVER=cache1 --HASH=MD5 --HASH=CRC",
			"libmemcached");
	options_refused("--SERVER=cache1 --DISTRIBUTION=vbucket",
			"libmemcached");
	options_refused("--HASH=MD5", "no server");
}

Test(memcached_pool, given_twice)
{
	refused("memcached://a,b/?pool=--SERVER%3Dcache1", "names the servers");
	refused("memcached:///?pool=--SERVER%3Dcache1&hash=md5",
		"leave out 'hash'");
	refused("memcached:///?pool=--SERVER%3Dcache1&distribution=ketama",
		"leave out 'distribution'");
	refused("memcached:///?pool=--SERVER%3Dcache1&weights=1",
		"leave out 'weights'");
}
