/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void put_bytes(struct memc_conn *c, const char *bytes, size_t len)
{
	assert(len <= sizeof(c->out) - c->out_len);
	memcpy(c->out + c->out_len, bytes, len);
	c->out_len += len;
}

static void put_number(struct memc_conn *c, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	put_bytes(c, digits + at, sizeof(digits) - at);
}

/* vsnprintf() took longer than all else that is done for a request. */
void dlki_memc_put(struct memc_conn *c, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	for (;;) {
		size_t len = strcspn(fmt, "%");

		put_bytes(c, fmt, len);
		fmt += len;
		if (*fmt++ == '\0')
			break;
		if (*fmt == 's') {
			text = va_arg(ap, const char *);
			put_bytes(c, text, strlen(text));
			fmt++;
		} else {
			put_number(c, va_arg(ap, uint64_t));
			fmt += strlen(PRIu64);
		}
	}
	va_end(ap);
}

int dlki_memc_send(struct memc_conn *c, dlk_time deadline,
		   struct dlk_error *err)
{
	size_t len = c->out_len;

	c->out_len = 0;
	return dlk_net_send(&c->net, c->out, len, deadline, err);
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

int dlki_memc_data(struct memc_conn *c, size_t size, char *out, size_t most,
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

void dlki_memc_answered(struct memc_conn *c, dlk_time asked)
{
	dlk_time now = dlk_now();

	c->round_trip = now - asked;
	dlk_answered(&c->session->base, asked, now);
}

int dlki_memc_unexpected(const struct memc_conn *c, const char *line,
			 struct dlk_error *err)
{
	int code = DLOCK_EPROTO;

	if (c->born_s == 0 && line[0] == '-') /* the first that it says */
		return dlk_fail(err, DLOCK_EINVAL,
				"%s answers as Redis does, not as memcached: "
				"use redis:// for it",
				c->net.peer);
	if (strstr(line, "unauthenticated"))
		return dlk_fail(err, DLOCK_EDENIED,
				"%s wants a login (its -Y or -S), which dlock "
				"does not have for memcached: start it "
				"without, behind a firewall, or use redis://; "
				"it says '%.60s'",
				c->net.peer, line);
	if (strncmp(line, "SERVER_ERROR ", 13) == 0)
		code = strstr(line, "memory") ? DLOCK_EEXHAUSTED :
						DLOCK_EUNREACHABLE;
	else if (strstr(line, "Too many open connections"))
		code = DLOCK_EUNREACHABLE; /* until another goes */
	return dlk_fail(err, code, "%s: the server says '%.100s'", c->net.peer,
			line);
}
