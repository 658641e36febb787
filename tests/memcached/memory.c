/* SPDX-License-Identifier: Apache-2.0 */
/* A server without free memory evicts, or refuses. */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/net.h"

static const struct lab_memcached_options small = { .memory_mb = 2 };
static const struct lab_memcached_options full = { .memory_mb = 2,
						   .no_evict = true };

/* Return the length of a mutex's text, for names of one letter. A read spares
 * an item, so this reads the mutex "y". */
static int size_of_y(const struct scene *s)
{
	int size = 0;

	CHECK_INT(sscanf(scene_do(s, "get %s", "lny"), "VALUE %*s 0 %d", &size),
		  ==, 1);
	CHECK_INT(size, <, 256);
	return size;
}

/* Read the last answer, without the end of the line. */
static void last_reply(int fd, char reply[64], int64_t deadline)
{
	ssize_t got;

	do {
		got = read(fd, reply, 63);
		if (got < 0)
			nap_ms(0);
	} while (got < 0 && lab_now() < deadline);
	CHECK_INT(got, >, 2);
	reply[got - 2] = '\0';
}

enum { BATCH = 100 }; /* the last of which is answered */

/* Fill the memory for items of this size.  `answer` is the first answer other
 * than STORED, or the last. */
static void fill_size(const struct scene *s, int n, int size, char answer[64])
{
	struct lab_address to = lab_server_address(s->server);
	int64_t deadline = lab_after_ms(30000);
	int fd = lab_connect(&to, deadline);

	CHECK_INT(fd, >=, 0);
	strcpy(answer, "STORED");
	for (int i = 0; i < n && strcmp(answer, "STORED") == 0; i += BATCH) {
		static char text[BATCH * 320];
		int len = 0;

		for (int k = i; k < i + BATCH; k++)
			len += snprintf(text + len, 320,
					"set f.%07d%03d 0 0 %d%s\r\n%*s\r\n", k,
					size, size,
					k < i + BATCH - 1 ? " noreply" : "",
					size, "");
		CHECK_INT(lab_send(fd, text, (size_t)len, deadline), ==, 0);
		last_reply(fd, answer, deadline);
	}
	close(fd);
}

/* Fill a server that evicts; the server refuses, too, if the last items are all
 * in use. */
static int overflow(const struct scene *s, int size)
{
	char answer[64];

	fill_size(s, 60000, size, answer);
	if (strcmp(answer, "STORED") != 0)
		CHECK_TEXT(answer, "SERVER_ERROR out of memory");
	return strcmp(answer, "STORED") == 0;
}

/* No other client reads the item: the holder finds the loss, in time. */
EITHER_WAY_ON(memcached_memory, eviction_is_found, &small)
{
	dlock_client *c = direct(&s, "ttl=6s"), *other = direct(&s, "");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(other, "x");
	dlock_hold *h = NULL, *next = NULL;
	int64_t since;

	/* The server may have spared an item renewed meanwhile. */
	for (int i = 0; i < 5; i++) {
		dlock_hold *sample = take(mutex(other, "y"));
		int size = size_of_y(&s); /* before it is evicted, too */

		h = take(l);
		EVENTUALLY(overflow(&s, size));
		dlock_release(sample);
		since = now_ms();
		if (dlock_acquire(theirs, 0, &next) == DLOCK_OK)
			break;
		give(h);
	}
	CHECK(next);
	CHECK(dlock_token(next) > dlock_token(h));
	found_lost(h, c, since);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_OK(dlock_check(next));
	give(next);
}

/* The items have a long label, and memory; the mark is to live longer, and has
 * no memory. */
EITHER_WAY_ON(memcached_memory, renewal_without_memory_for_the_mark, &full)
{
	char query[160], answer[64];
	dlock_client *c;
	dlock_hold *reader, *permit;

	snprintf(query, sizeof(query), "ttl=3s&label=%0100d", 0);
	c = direct(&s, query);
	reader = take_shared(rwlock(c, "x"), patience_ms());
	permit = take(semaphore(c, "s", 2));
	mark_ends_in(&s, "lnx.m", 200);
	mark_ends_in(&s, "sns.m", 200);
	for (int size = 40; size <= 80; size += 8) {
		fill_size(&s, 60000, size, answer);
		CHECK_TEXT(answer, "SERVER_ERROR out of memory");
	}
	ALL_ALONG(3 * dlock_ttl_ms(c) / 2,
		  dlock_check(reader) == DLOCK_OK &&
			  dlock_check(permit) == DLOCK_OK);
	CHECK_INT(stats(c).renew_failed, ==, 0);
	give(reader);
	give(permit);
}

/* The key of the wish is longer, and so the item has another size than the item
 * at the gate, for which there is memory. */
EITHER_WAY_ON(memcached_memory, waiter_without_memory_for_the_wish, &full)
{
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	dlock_client *c;
	char query[64], answer[64];

	snprintf(query, sizeof(query), "label=%026d", 0);
	c = direct(&s, query);
	give(take(mutex(c, "y")));
	fill_size(&s, 60000, 100, answer);
	CHECK_TEXT(answer, "SERVER_ERROR out of memory");
	ask(mutex(c, "x"), 2500, DLOCK_EBUSY);
	give(h);
}
