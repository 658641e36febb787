/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/memcached/protocol/rig.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"

extern const struct dlock_backend dlki_memcached_backend;

#define RIG_BORN UINT64_C(1700000000)

static int speaks_meta;

static void begin(const char *before, const char *query)
{
	const struct rig_store store = {
		.protocol = &dlki_memc_protocol,
		.params = dlki_memcached_backend.params,
		.port = 11211,
		.patience_ms = 3000,
	};
	char uri[200];

	snprintf(uri, sizeof(uri), "memcached://%sh?ttl=10s%s", before, query);
	rig_open(&store, uri);
}

void rig_begin(const char *query)
{
	begin("", query);
}

void rig_begin_login(const char *query)
{
	begin("me:secret@", query);
}

const char *rig_stats(uint64_t born_s, unsigned int uptime_s)
{
	static char text[300];

	snprintf(text, sizeof(text),
		 "STAT pid 7\r\nSTAT uptime %u\r\nSTAT time %" PRIu64
		 "\r\nSTAT version 1.6.18\r\nSTAT libevent 2.1\r\nEND\r\n",
		 uptime_s, (born_s ? born_s : RIG_BORN) + uptime_s);
	return text;
}

void rig_welcome(int sock, unsigned int uptime_s, int meta)
{
	speaks_meta = meta;
	rig_say(sock, rig_stats(0, uptime_s));
	rig_say(sock,
		"STORED\r\nVALUE dlock.0 0 32 1\r\n" RIG_WITNESS "\r\nEND\r\n");
	if (strstr(rig_heard(sock), "mn\r\n"))
		rig_say(sock, meta ? "MN\r\n" : "ERROR\r\n");
}

void rig_begin_up(const char *query, int meta)
{
	rig_begin(query);
	rig_welcome(RIG_MAIN, 100, meta);
	cr_assert(dlki_engine_is_up(rig.e));
	rig_heard(RIG_MAIN);
}

void rig_up(void)
{
	rig_begin_up("", 1);
}

const char *rig_got(const char *text, unsigned int cas)
{
	static char got[8][400];
	static int at;
	char *out = got[at++ % 8];

	if (!text)
		return speaks_meta ? "EN\r\n" : "END\r\n";
	snprintf(out, sizeof(got[0]),
		 speaks_meta ? "VA %zu c%u t12\r\n%s\r\n" :
			       "VALUE k 0 %zu %u\r\n%s\r\nEND\r\n",
		 strlen(text), cas, text);
	return out;
}

void rig_say_all(const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	for (const char *text = first; text; text = va_arg(ap, const char *))
		rig_say_slowly(RIG_MAIN, text);
	va_end(ap);
}

void rig_grant(void)
{
	rig_say_all("STORED\r\n", rig_got(RIG_ITEM(RIG_OWNER, "1"), 5), NONE,
		    NULL);
}

void rig_hold(void)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_grant();
	cr_assert_eq(rig.ops[0].outcome, DLKI_GRANTED);
	rig.ops[1].claim = rig.ops[2].claim = rig.claims[0];
	rig_heard(RIG_MAIN);
}

int rig_is_open(void)
{
	return rig.world.socks[RIG_MAIN].is_open;
}

void rig_expect_failed(int i, const char *why)
{
	cr_assert_eq(rig.ops[i].outcome, DLKI_FAILED);
	cr_assert_not_null(strstr(rig.errors[i], why), "%s", rig.errors[i]);
}

void rig_expect(const char *bytes)
{
	const char *heard = rig_heard(RIG_MAIN);

	cr_assert_str_eq(heard, bytes, "%s\nand not\n%s", heard, bytes);
}
