/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/store.h"

/* A table, laid out by hand. */
/* clang-format off */

#define RATIO "ns (ratio = ours/floor)"
#define RATES "ns (ratio = ours/floor in pairs per second)"

#define CASE(how_many, ...) { .n = how_many, .target = { __VA_ARGS__ } }
#define VARIANT(which, how_many, ...) \
	{ .n = how_many, .variant = which, .target = { __VA_ARGS__ } }
#define SHORT_HOLD(ms, ...) \
	{ .n = 1, .hold_ms = ms, .target = { __VA_ARGS__ } }

#define ALWAYS(name, target, guard) \
	{ name, target, guard, BENCH_ALWAYS, NULL, 0, 0 }
#define PLAIN(name, target, guard) \
	{ name, target, guard, BENCH_PLAIN, NULL, 0, 0 }
#define TIME(name, target, guard) \
	{ name, target, guard, BENCH_TIME, NULL, 0, 0 }

/* A case of a store; STORE for an optional store ends in a comma. */
#define STORE(store_name, how_many, ...) \
	{ .n = how_many, .store = &store_##store_name, \
	  .target = { __VA_ARGS__ } }
#ifdef BENCH_REDIS
#define IF_REDIS(how_many, ...) STORE(redis, how_many, __VA_ARGS__),
#else
#define IF_REDIS(how_many, ...)
#endif
#ifdef BENCH_ZK
#define IF_ZK(how_many, ...) STORE(zk, how_many, __VA_ARGS__),
#else
#define IF_ZK(how_many, ...)
#endif

/* A figure that should be large. */
#define AT_LEAST(of, target, guard) \
	{ of, target, guard, BENCH_TIME, .is_least = 1 }
#define HALF_INTERVAL \
	{ "half a polling interval", 1, 2, BENCH_TIME, .figure = "ratio" }
#define REQUESTS(target, guard) \
	{ "requests_per_s", target, guard, BENCH_ALWAYS, .figure = "value" }
#define NONE_LATE PLAIN("value", 0, 0)
#define PENDING ALWAYS("value", 3, 3), PLAIN("heap_each", 1088, 1088)
#define ONE_WAKE PLAIN("wakes_per_release", 1, 1)

/* A thread that shares a CPU with the server is twice as fast as a thread that
 * does not, and then saturates the CPU alone. */
#define TO_ONE(least) \
	AT_LEAST("ratio", least, 0.25)
#define THREADS(store_name, least) \
	{ #store_name ".threads", \
	  #store_name ": 1, 8 and 64 threads of one client, each with a name " \
	  "of its own", \
	  "pairs/s of all (ratio = to one thread)", \
	  &workload_threads, &store_##store_name, \
	  .cases = { CASE(1, { 0 }), CASE(8, TO_ONE(least)), \
		     CASE(64, TO_ONE(least)) } }

/* In the order in which they run. */
const struct bench bench_table[] = {
	{ "file.handoff",
	  "file: from release to a waiter in another process, and what waiting "
	  "costs; floor: flock(2)",
	  RATIO, &workload_handoff, &store_file, &floor_flock,
	  /* An attempt in 50 ms at most.  The kernel counts a few more wake-ups
	   * for the beginning and the end of the wait. */
	  .cases = { CASE(1, TIME("ratio", 4, 8),
			  ALWAYS("attempts_per_s", 20, 21),
			  ALWAYS("polls_per_s", 20, 21),
			  PLAIN("wakeups_per_s", 30, 60)) } },
	{ "file.pair",
	  "file: acquire and release, with a token; floor: F_OFD_SETLK twice "
	  "on an open file",
	  RATIO, &workload_pair, &store_file, &floor_ofd,
	  .cases = { CASE(1, TIME("ratio", 2, 4)) } },

#ifdef BENCH_REDIS
	{ "redis.handoff",
	  "redis: from release to a waiter in another process, to a PING; "
	  "floor: RPUSH to a BLPOP",
	  "ns (ratio = p50 / PING p50; floor: BLPOP)",
	  &workload_handoff, &store_redis, &floor_redis_blpop,
	  .cases = { CASE(1, TIME("ratio", 2.5, 6)) } },
	{ "redis.contended",
	  "redis: 8 processes that want one mutex; floor: SET NX PX, tried "
	  "each millisecond",
	  "hand-offs/s (ratio = ours/floor)",
	  &workload_contended, &store_redis, &floor_redis_set,
	  .cases = { CASE(8, AT_LEAST("ratio", 3.0, 1.5)) } },
	{ "redis.pair",
	  "redis: acquire and release, with a token; floor: hiredis doing SET "
	  "NX PX and compare-and-delete",
	  RATES, &workload_pair, &store_redis, &floor_redis_set,
	  .cases = { CASE(1, AT_LEAST("ratio", 0.9, 0.5)) } },
	/* No lease ends meanwhile. */
	{ "redis.parked",
	  "redis: acquire and release while another thread of the client "
	  "waits for a lock; floor: no thread does",
	  RATIO, &workload_parked, &store_redis, .ttl_ms = 3600000,
	  .cases = { CASE(1, TIME("ratio", 1.03, 2)) } },
	THREADS(redis, 2.5),
#ifdef BENCH_REDISS
	{ "tls.pair",
	  "rediss: acquire and release over TLS; floor: the same without TLS",
	  RATES, &workload_pair, &store_rediss, &floor_dlock_redis,
	  .cases = { CASE(1, AT_LEAST("ratio", 0.68, 0.33)) } },
	{ "tls.open",
	  "opening a client over TLS, with a whole handshake, and closing it; "
	  "and without TLS",
	  "us", &workload_open_close,
	  .cases = { STORE(rediss, 1, { "ms", 2, 10, BENCH_TIME,
					 .figure = "value", .unit = 1e3 }),
		     STORE(redis, 1, { 0 }) } },
#endif
	{ "redis.queue",
	  "redis: the same to a bare queue with direct grant",
	  "hand-offs/s (ratio = ours/floor)",
	  &workload_contended, &store_redis, &floor_redis_queue,
	  .cases = { CASE(8, AT_LEAST("ratio", 0.9, 0.25)) } },
	{ "redis.waiters",
	  "redis: 1,000 waiters in 8 processes: what they ask while they wait, "
	  "and what one release costs",
	  "ns from release to the next of 1,000 waiters",
	  &workload_waiters, &store_redis, .ttl_ms = 6000,
	  .cases = { CASE(1000,
			  PLAIN("looks_per_waiter_ttl", 3.4, 4),
			  PLAIN("requests_per_release", 4, 20),
			  ONE_WAKE) } },
	{ "redis.pair_async",
	  "redis: acquire and release, with release=async; floor: hiredis "
	  "doing SET NX PX and compare-and-delete, each awaited",
	  RATES, &workload_pair, &store_redis, &floor_redis_set,
	  .query = "?release=async",
	  .cases = { CASE(1, AT_LEAST("ratio", 1.3, 0.5)) } },
	{ "redis.holds",
	  "redis: 10,000 and 100,000 holds of one client with a lease of 10 s: "
	  "late renewals, CPU",
	  "late renewals", &workload_holds, &store_redis, .ttl_ms = 10000,
	  .cases = { CASE(10000, NONE_LATE),
		     { 100000, .long_only = 1, .target = { NONE_LATE } } } },
#endif

#ifdef BENCH_ZK
	{ "zk.handoff",
	  "zk: from release to a waiter in another process; floor: from delete "
	  "to who watches the node",
	  "ns (ratio = p50 / the floor's)",
	  &workload_handoff, &store_zk, &floor_zk_watch,
	  .cases = { VARIANT(ZK_TMPFS, 1, TIME("ratio", 1.25, 3)),
		     VARIANT(ZK_DISK, 1, TIME("ratio", 1.25, 3)) } },
	{ "zk.contended",
	  "zk: 8 processes that want one mutex; floor: the recipe, bare",
	  "hand-offs/s (ratio = ours/floor)",
	  &workload_contended, &store_zk, &floor_zk_queue,
	  .cases = { VARIANT(ZK_TMPFS, 8, AT_LEAST("ratio", 1, 0.5)) } },
	{ "zk.waiters",
	  "zk: 1,000 waiters in 8 processes: what they ask while they wait, "
	  "and what one release costs",
	  "ns from release to the next of 1,000 waiters",
	  &workload_waiters, &store_zk, .ttl_ms = 10000,
	  .cases = { CASE(1000,
			  PLAIN("idle_packets_per_s", 5, 50),
			  PLAIN("packets_per_release", 3, 20),
			  ONE_WAKE) } },
	{ "zk.killed",
	  "zk: from SIGKILL of the holder until the next has it; floor: the "
	  "session time-out and one tick",
	  "ms from SIGKILL of the holder to the next (floor: the bound)",
	  &workload_killed, &store_zk, .ttl_ms = 500,
	  .cases = { CASE(8, { "worst of the bound's", 1, 2, BENCH_PLAIN,
			       .figure = "p99", .unit = 600 }) } },
	/* On a disk the writes decide, and the recipe makes as many.  While
	 * others use the lock, dlock lists the queue as the recipe does. */
	{ "zk.pair",
	  "zk: acquire and release, with a token; floor: create and delete; "
	  "recipe: create, list and delete",
	  RATES, &workload_pair, &store_zk, &floor_zk_node, &floor_zk_recipe,
	  .cases = { VARIANT(ZK_TMPFS, 1, AT_LEAST("ratio", 1.05, 0.33),
			     AT_LEAST("to_recipe", 1.2, 0.33)),
		     VARIANT(ZK_TMPFS, 2, AT_LEAST("to_recipe", 1.0, 0.33)),
		     VARIANT(ZK_DISK, 1, AT_LEAST("ratio", 0.85, 0.33)) } },
	{ "zk.pair_async",
	  "zk: acquire and release, with release=async; floor: create and "
	  "delete, each awaited",
	  RATES, &workload_pair, &store_zk, &floor_zk_node,
	  .query = "?release=async",
	  .cases = { VARIANT(ZK_TMPFS, 1, AT_LEAST("ratio", 1.35, 0.33)) } },
	THREADS(zk, 2.0),
#endif

#ifdef BENCH_MEMCACHED
	{ "memcached.handoff",
	  "memcached: from release to the next of 1, 8 and 64 waiters in "
	  "8 processes, and after a short hold, to half the polling interval",
	  "ns from release to the next, of waiters in 8 processes (floor: "
	  "half the polling interval)",
	  &workload_poll_handoff, &store_memcached,
	  .cases = { CASE(1, HALF_INTERVAL),
		     CASE(8, HALF_INTERVAL,
			  { "ms of 8", 5, 25, BENCH_TIME,
			    .figure = "value", .unit = 1e6 }),
		     CASE(64, HALF_INTERVAL),
		     SHORT_HOLD(5, { "ms after 5", 3, 15, BENCH_TIME,
				     .figure = "value", .unit = 1e6 }) } },
	/* More waiters in a process ask hardly more often. */
	{ "memcached.waiters",
	  "memcached: what 1, 8 and 64 waiters in 8 processes ask while "
	  "they wait",
	  "requests/s of all waiters in 8 processes",
	  &workload_poll_requests, &store_memcached,
	  .cases = { CASE(1, { 0 }), CASE(8, REQUESTS(160, 240)),
		     CASE(64, REQUESTS(200, 400)) } },
	{ "memcached.pair",
	  "memcached: acquire and release, with a token; floors: "
	  "libmemcached's add, gets, cas; and a bare ms, md",
	  RATES, &workload_pair, &store_memcached, &floor_memcached,
	  .cases = { VARIANT(MEMCACHED_TEXT, 1, AT_LEAST("ratio", 0.9, 0.5)),
		     VARIANT(MEMCACHED_META, 1,
			     AT_LEAST("ratio", 0.9, 0.5)) } },
	THREADS(memcached, 1.0),
#endif

	{ "mem.pair",
	  "mem: acquire and release; floor: a FIFO lock of a pthread mutex, "
	  "condition variables and a list",
	  RATIO, &workload_pair, &store_mem, &floor_fifo,
	  .cases = { CASE(1, TIME("value", 2000, 4000)) } },
	{ "mem.handoff",
	  "mem: from release to a waiter in another thread; floor: a condition "
	  "variable",
	  RATIO, &workload_handoff, &store_mem, &floor_fifo,
	  .cases = { CASE(1, { 0 }) } },
	{ "holds.100k",
	  "100,000 holds of one client with a lease of 3 s, in a store that "
	  "costs nothing: late renewals, CPU, bytes",
	  "late renewals", &workload_holds, &store_null, .ttl_ms = 3000,
	  .cases = { CASE(100000, NONE_LATE,
			  PLAIN("bytes_per_hold", 720, 720)) } },
	{ "threads.mem",
	  "mem: 1, 2 and 8 threads of one client, each with a name of its own",
	  "pairs/s of all (ratio = to one thread)",
	  &workload_threads, &store_mem,
	  .cases = { CASE(1, { 0 }), CASE(2, { 0 }), CASE(8, { 0 }) } },
	{ "local.passes",
	  "8 threads of one client that want one mutex; floor: 8 threads with "
	  "a client each",
	  "hand-offs/s (ratio = ours/floor)", &workload_passes,
	  .cases = { STORE(mem, 8, { 0 }), STORE(file, 8, { 0 }),
		     IF_REDIS(8, AT_LEAST("value", 150000, 15000))
		     IF_ZK(8, AT_LEAST("value", 150000, 15000)) } },
	{ "async.pending",
	  "10,000 asynchronous acquires of one client that wait for a mutex: "
	  "threads of dlock in the process, bytes of each",
	  "threads", &workload_pending,
	  .cases = { STORE(mem, 10000, PENDING), STORE(file, 10000, PENDING),
		     IF_REDIS(10000, PENDING) } },
	{ "async.served",
	  "10,000 asynchronous acquires of one client that wait for 100 "
	  "mutexes: until all are granted, on one CPU",
	  "ms", &workload_served,
	  .cases = { STORE(mem, 10000, TIME("value", 300, 900)),
		     STORE(file, 10000, TIME("value", 300, 900)),
		     IF_REDIS(10000, TIME("value", 300, 900)) } },
#ifdef BENCH_REDIS
	{ "async.pairs",
	  "redis: one thread with 256 pairs of acquire and release under way, "
	  "by asynchronous calls; floor: hiredis, one pair after the other",
	  RATES, &workload_pairs, &store_redis, &floor_redis_set,
	  .cases = { CASE(256, AT_LEAST("ratio", 4.5, 0.25)) } },
#endif
	{ "keep.pair",
	  "acquire and release of a client that keeps the mutex meanwhile, ten "
	  "pairs every 20 us; in_a_row: pairs without a pause",
	  "ns", &workload_keep,
	  .cases = { STORE(mem, 1, TIME("value", 500, 5000)),
		     STORE(file, 1, TIME("value", 500, 5000)),
		     IF_REDIS(1, TIME("value", 500, 5000))
		     IF_ZK(1, TIME("value", 500, 5000)) } },
	{ "keep.recall",
	  "another client takes a mutex that is kept; floor: a hand-off",
	  "ns (ratio = ours/floor)", &workload_recall,
	  .cases = { STORE(mem, 1, TIME("ratio", 1.5, 6)),
		     STORE(file, 1, TIME("ratio", 1.5, 6)),
		     IF_REDIS(1, TIME("ratio", 1.5, 6))
		     IF_ZK(1, TIME("ratio", 1.5, 6)) } },
	{ "revoke.told",
	  "from dlock_revoke() until the holder, another client, is told by "
	  "on_event; floor: a hand-off",
	  "ns (ratio = ours/floor)", &workload_revoke,
	  .cases = { STORE(mem, 1, TIME("ratio", 1.5, 6)),
		     STORE(file, 1, TIME("ratio", 1.5, 6)),
		     IF_REDIS(1, TIME("ratio", 1.5, 6))
		     IF_ZK(1, TIME("ratio", 1.5, 6)) } },
	{ "revoke.many",
	  "1,000 holds of one client that are asked for at once: until the "
	  "last is told",
	  "ns until the last (p50, p99: from a call to its holder)",
	  &workload_revoke_many,
	  .cases = { STORE(mem, 1000, { 0 }), STORE(file, 1000, { 0 }),
		     IF_REDIS(1000, { 0 }) IF_ZK(1000, { 0 }) } },
	{ "revoke.permits",
	  "1,000 permits of a semaphore, held by one client, that another "
	  "client asks for by one call: until the last holder is told",
	  "ns until the last (p50, p99: from the call to a holder)",
	  &workload_revoke_permits,
	  .cases = { STORE(mem, 1000, { 0 }), STORE(file, 1000, { 0 }),
		     IF_REDIS(1000, { 0 }) IF_ZK(1000, { 0 }) } },
#ifdef BENCH_MEMCACHED
	/* The client asks at each renewal. */
	{ "memcached.revoke",
	  "memcached: from dlock_revoke() until the holder is told; floor: "
	  "the time between two renewals",
	  "ns (ratio = ours/floor)", &workload_revoke, &store_memcached,
	  .query = "&ttl=1s",
	  .cases = { VARIANT(MEMCACHED_TEXT, 1, TIME("ratio", 1, 2)),
		     VARIANT(MEMCACHED_META, 1, TIME("ratio", 1, 2)) } },
	{ "memcached.revoke_many",
	  "memcached: 1,000 holds of one client that are asked for at once: "
	  "until the last is told",
	  "ns until the last (p50, p99: from a call to its holder)",
	  &workload_revoke_many, &store_memcached,
	  .query = "&ttl=6s",
	  .cases = { VARIANT(MEMCACHED_TEXT, 1000, { 0 }),
		     VARIANT(MEMCACHED_META, 1000, { 0 }) } },
#endif
	{ "open.close",
	  "opening a client and closing it again, per store",
	  "us", &workload_open_close,
	  .cases = { { .n = 1, .store = &store_null },
		     { .n = 1, .store = &store_mem },
		     { .n = 1, .store = &store_file } } },
	{ .name = NULL },
};
