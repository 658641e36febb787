/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <string.h>

int dlki_memc_send(struct memc_conn *c, dlk_time deadline,
		   struct dlk_error *err)
{
	size_t len = c->out.len;

	c->out.len = 0;
	return dlk_net_send(&c->net, c->out.bytes, len, deadline, err);
}

static int protocol_error(const struct memc_conn *c, const char *what,
			  struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EPROTO, "%s: %s", c->net.peer, what);
}

static int receive_more(struct memc_conn *c, dlk_time deadline,
			struct dlk_error *err)
{
	size_t got;
	int rc;

	if (c->in_at > 0) {
		c->in_end -= c->in_at;
		memmove(c->in, c->in + c->in_at, c->in_end);
		c->in_at = 0;
	}
	if (c->in_end == sizeof(c->in))
		return protocol_error(c, "a line without an end", err);
	rc = dlk_net_recv(&c->net, c->in + c->in_end, sizeof(c->in) - c->in_end,
			  &got, deadline, err);
	if (rc == 0)
		c->in_end += got;
	return rc;
}

int dlki_memc_line(struct memc_conn *c, const char **line, dlk_time deadline,
		   struct dlk_error *err)
{
	char *from, *end;

	for (;;) {
		int rc;

		from = c->in + c->in_at;
		end = memchr(from, '\n', c->in_end - c->in_at);
		if (end)
			break;
		rc = receive_more(c, deadline, err);
		if (rc != 0)
			return rc;
	}
	c->in_at = (size_t)(end + 1 - c->in);
	*end = '\0';
	if (end > from && end[-1] == '\r')
		end[-1] = '\0';
	*line = from;
	return 0;
}

/* The next `size` bytes and a line end.  Only the first `most` bytes are kept,
 * with a NUL behind. */
static int read_data(struct memc_conn *c, size_t size, char *out, size_t most,
		     dlk_time deadline, struct dlk_error *err)
{
	const char *rest;
	size_t kept = 0;
	int rc;

	while (size > 0) {
		size_t here = c->in_end - c->in_at;

		if (here == 0) {
			rc = receive_more(c, deadline, err);
			if (rc != 0)
				return rc;
			continue;
		}
		if (here > size)
			here = size;
		if (kept < most) {
			size_t some = most - kept < here ? most - kept : here;

			memcpy(out + kept, c->in + c->in_at, some);
			kept += some;
		}
		c->in_at += here;
		size -= here;
	}
	out[kept] = '\0';
	rc = dlki_memc_line(c, &rest, deadline, err);
	if (rc == 0 && rest[0] != '\0')
		rc = protocol_error(c, "an item that is too long", err);
	return rc;
}

int dlki_memc_read(struct memc_conn *c, struct memc_op *op,
		   struct memc_reading *r, dlk_time deadline,
		   struct dlk_error *err)
{
	enum memc_next next = MEMC_LINE;
	const char *line;
	int rc = 0;

	dlki_memc_reading_begin(r);
	while (rc == 0 && next != MEMC_READ) {
		if (next == MEMC_DATA) {
			rc = read_data(c, r->size, r->text, sizeof(r->text) - 1,
				       deadline, err);
			next = dlki_memc_reading_data(r, &c->run, op);
			continue;
		}
		rc = dlki_memc_line(c, &line, deadline, err);
		if (rc != 0)
			break;
		next = dlki_memc_reading_line(r, &c->run, op, line);
		if (next == MEMC_UNEXPECTED)
			rc = dlki_memc_unexpected_from(c, line, err);
	}
	return rc;
}

void dlki_memc_answered(struct memc_conn *c, dlk_time asked)
{
	dlk_time now = dlk_now();

	c->round_trip = now - asked;
	dlk_answered(&c->session->base, asked, now);
}

int dlki_memc_unexpected_from(const struct memc_conn *c, const char *line,
			      struct dlk_error *err)
{
	return dlki_memc_unexpected(c->net.peer, c->run.born_s == 0, line, err);
}
