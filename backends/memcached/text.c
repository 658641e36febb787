/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text protocol, for servers without the meta protocol.  It has no "delete
 * this very item": an empty one that is over at once is put in its place.
 */
#include "dialect.h"
#include "wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_get(struct memc_conn *c, const char *key)
{
	dlki_memc_put(c, "gets %s\r\n", key);
}

static void put_drop(struct memc_conn *c, const char *key, uint64_t cas)
{
	dlki_memc_put(c, "cas %s 0 -1 0 %" PRIu64 "\r\n\r\n", key, cas);
}

static int read_get(struct memc_conn *c, struct memc_op *op, char *text,
		    dlk_time deadline, struct dlk_error *err)
{
	const char *line, *at;
	char *end;
	size_t size;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	op->answer = MEMC_MISSING;
	if (strcmp(line, "END") == 0)
		return 0;
	op->answer = MEMC_OTHER;
	op->item.left_s = -1;
	if (strncmp(line, "VALUE ", 6) != 0)
		return dlki_memc_unexpected(c, line, err);
	/* The key has no spaces; flags, size and cas follow. */
	at = line + 6 + strcspn(line + 6, " ");
	(void)strtoul(at, &end, 10);
	size = strtoul(end, &end, 10);
	op->item.cas = strtoull(end, &end, 10);
	if (*end != '\0')
		return dlki_memc_unexpected(c, line, err);
	rc = dlki_memc_data(c, size, text, MEMC_TEXT_SIZE - 1, deadline, err);
	if (rc == 0)
		rc = dlki_memc_line(c, &line, deadline, err);
	if (rc == 0 && strcmp(line, "END") != 0)
		rc = dlki_memc_unexpected(c, line, err);
	return rc;
}

static int read_drop(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		     struct dlk_error *err)
{
	const char *line;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	if (strcmp(line, "STORED") == 0)
		op->answer = MEMC_DONE;
	else if (strcmp(line, "NOT_FOUND") == 0)
		op->answer = MEMC_MISSING;
	else if (strcmp(line, "EXISTS") == 0)
		op->answer = MEMC_OTHER;
	else if (strncmp(line, "SERVER_ERROR out of memory", 26) == 0)
		op->answer = MEMC_NO_ROOM;
	else
		rc = dlki_memc_unexpected(c, line, err);
	return rc;
}

const struct memc_dialect dlki_memc_text = {
	.put_get = put_get,
	.put_drop = put_drop,
	.read_get = read_get,
	.read_drop = read_drop,
};
