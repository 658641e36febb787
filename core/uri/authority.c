/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <string.h>

#include "core/base/digits.h"
#include "core/uri/escape.h"
#include "core/uri/uri.h"

#define HOST_MAX 253 /* of a domain name, RFC 1035 */

static int parse_user(struct dlk_uri *uri, char **room, const char *text,
		      size_t len, struct dlk_error *err)
{
	const char *colon = memchr(text, ':', len);
	size_t user_len = colon ? (size_t)(colon - text) : len;
	size_t password_len = colon ? len - user_len - 1 : 0;
	char *start = *room;

	if (colon && memchr(colon + 1, ':', password_len))
		return dlk_fail(err, DLOCK_EINVAL,
				"':' in a user or password must be written "
				"%%3A");
	if (colon ? password_len == 0 : user_len == 0)
		return dlk_fail(err, DLOCK_EINVAL, "the %s before '@' is empty",
				colon ? "password" : "user");
	if (user_len > 0) {
		if (dlki_unescape(room, text, user_len, "user", err) < 0)
			return DLOCK_EINVAL;
		uri->user = start;
	}
	if (colon) {
		start = *room;
		if (dlki_unescape(room, colon + 1, password_len, "password",
				  err) < 0)
			return DLOCK_EINVAL;
		uri->password = start;
	}
	return DLOCK_OK;
}

static const char *parse_port(uint16_t *port, const char *text, size_t len)
{
	uint64_t value;

	if (dlki_digits_read(text, &value) != text + len || value < 1 ||
	    value > 65535)
		return "the port must be a number from 1 to 65535";
	*port = (uint16_t)value;
	return NULL;
}

static const char *name_flaw(const char *name, size_t len)
{
	if (len == 0)
		return "there is no name";
	if (len > HOST_MAX)
		return "the name is longer than 253 bytes";
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != len)
		return "a name has only A-Z a-z 0-9 . _ - (others in their "
		       "xn-- form), an IPv6 address stands in [ ]";
	return NULL;
}

static const char *address_flaw(const char *name)
{
	struct in6_addr address;

	if (inet_pton(AF_INET6, name, &address) != 1)
		return "there is no IPv6 address in the brackets";
	return NULL;
}

static char *copy(char **room, const char *text, size_t len)
{
	char *start = *room;

	memcpy(start, text, len);
	start[len] = '\0';
	*room = start + len + 1;
	return start;
}

/* Parse a host.  NULL, or the flaw. */
static const char *parse_host(struct dlk_host *host, char **room,
			      const char *text, size_t len)
{
	int bracket = len > 0 && text[0] == '[';
	const char *end = memchr(text, bracket ? ']' : ':', len);
	const char *name = text + bracket;
	size_t name_len, rest_len;
	const char *flaw;

	if (bracket && !end)
		return "the IPv6 address lacks its ']'";
	if (!end)
		end = text + len;
	name_len = (size_t)(end - name);
	end += bracket;
	rest_len = len - (size_t)(end - text);
	host->name = copy(room, name, name_len);
	flaw = bracket ? address_flaw(host->name) :
			 name_flaw(host->name, name_len);
	if (flaw || rest_len == 0)
		return flaw;
	if (end[0] != ':')
		return "after ']' comes a port or nothing";
	if (memchr(end + 1, ':', rest_len - 1))
		return "it has too many ':'; an IPv6 address stands in [ ]";
	return parse_port(&host->port, end + 1, rest_len - 1);
}

static int parse_hosts(struct dlk_uri *uri, struct dlk_host *hosts, char **room,
		       const char *text, size_t len, struct dlk_error *err)
{
	const char *end = text + len;

	uri->hosts = hosts;
	for (;;) {
		size_t left = (size_t)(end - text);
		const char *comma = memchr(text, ',', left);
		size_t n = comma ? (size_t)(comma - text) : left;
		const char *flaw = parse_host(&hosts[uri->n_hosts++], room,
					      text, n);

		if (flaw)
			return dlk_fail(err, DLOCK_EINVAL, "host %zu: %s",
					uri->n_hosts, flaw);
		if (!comma)
			return DLOCK_OK;
		text = comma + 1;
	}
}

int dlki_authority_parse(struct dlk_uri *uri, struct dlk_host *hosts,
			 char **room, const char *text, size_t len,
			 struct dlk_error *err)
{
	const char *at = memchr(text, '@', len);
	size_t user_len = at ? (size_t)(at - text) : 0;

	if (at && memchr(at + 1, '@', len - user_len - 1))
		return dlk_fail(err, DLOCK_EINVAL,
				"'@' in a user or password must be written "
				"%%40");
	if (at) {
		if (parse_user(uri, room, text, user_len, err) < 0)
			return DLOCK_EINVAL;
		text = at + 1;
		len -= user_len + 1;
	}
	return parse_hosts(uri, hosts, room, text, len, err);
}
