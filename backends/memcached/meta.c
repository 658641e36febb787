/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meta protocol, where it says more than the text protocol: how long an
 * item has to live, and "delete this very item".
 *
 * Its `ms` stays unused: on a server that is full and must not evict (-M) an
 * `ms` that may only add deletes the item that was there, another's lock.
 */
#include "dialect.h"
#include "wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_S UINT32_MAX /* that a server can count */

static void put_get(struct memc_conn *c, const char *key)
{
	dlki_memc_put(c, "mg %s v c t\r\n", key);
}

static void put_drop(struct memc_conn *c, const char *key, uint64_t cas)
{
	dlki_memc_put(c, "md %s C%" PRIu64 "\r\n", key, cas);
}

/* -1: it never ends, or says what cannot be. */
static int64_t left_s(const char *text, char **end)
{
	long long n = strtoll(text, end, 10);

	return n >= 0 && n <= (long long)MOST_S ? n : -1;
}

static int read_get(struct memc_conn *c, struct memc_op *op, char *text,
		    dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	char *at;
	unsigned long size;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	op->answer = MEMC_MISSING;
	if (strcmp(line, "EN") == 0)
		return 0;
	if (strncmp(line, "VA ", 3) != 0)
		return dlki_memc_unexpected(c, line, err);
	op->answer = MEMC_OTHER;
	op->item.cas = 0;
	op->item.left_s = -1;
	size = strtoul(line + 3, &at, 10);
	while (*at == ' ') {
		if (at[1] == 'c')
			op->item.cas = strtoull(at + 2, &at, 10);
		else if (at[1] == 't')
			op->item.left_s = left_s(at + 2, &at);
		else
			at += 1 + strcspn(at + 1, " ");
	}
	return dlki_memc_data(c, size, text, MEMC_TEXT_SIZE - 1, deadline, err);
}

static int read_drop(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		     struct dlk_error *err)
{
	const char *line;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	if (strncmp(line, "HD", 2) == 0)
		op->answer = MEMC_DONE;
	else if (strncmp(line, "NF", 2) == 0)
		op->answer = MEMC_MISSING;
	else if (strncmp(line, "EX", 2) == 0)
		op->answer = MEMC_OTHER;
	else
		rc = dlki_memc_unexpected(c, line, err);
	return rc;
}

const struct memc_dialect dlki_memc_meta = {
	.put_get = put_get,
	.put_drop = put_drop,
	.read_get = read_get,
	.read_drop = read_drop,
};
