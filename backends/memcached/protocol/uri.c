/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/uri.h"

#include <string.h>

#include "backends/memcached/protocol/looks.h"

#define LEAST_TTL_MS 500
#define LEAST_MARK_S 600
#define MEMC_LOGIN_MAX 4000

int dlki_memc_uri_is_tls(const struct dlk_uri *uri)
{
	return strcmp(uri->scheme, "memcacheds") == 0;
}

int dlki_memc_uri_is_unix(const struct dlk_uri *uri)
{
	return strcmp(uri->scheme + strcspn(uri->scheme, "+"), "+unix") == 0;
}

/* Check user and password.  A server with -Y is told "user password", and knows
 * users by one word. */
int dlki_memc_uri_check_login(const struct dlk_uri *uri, struct dlk_error *err)
{
	const char *user = uri->user ? uri->user : "";

	if (!uri->password && !user[0])
		return 0;
	if (!uri->password || !user[0])
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: a login takes a user and a password: "
				"%s://user:password@host",
				uri->scheme, uri->scheme);
	if (user[strcspn(user, " \t\r\n:")] != '\0' ||
	    uri->password[strcspn(uri->password, "\r\n")] != '\0' ||
	    strlen(user) + strlen(uri->password) > MEMC_LOGIN_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: no server has such a user or password: a "
				"user is one word without ':', and both are "
				"%d bytes at most",
				uri->scheme, MEMC_LOGIN_MAX);
	return 0;
}

static int check_place(const struct dlk_uri *uri, struct dlk_error *err)
{
	if (dlki_memc_uri_is_unix(uri)) {
		if (uri->n_hosts > 0 && uri->hosts[0].name[0])
			return dlk_fail(err, DLOCK_EINVAL,
					"memcached+unix: write "
					"memcached+unix:///path/of/socket");
		if (!uri->path || !uri->path[1])
			return dlk_fail(err, DLOCK_EINVAL,
					"memcached+unix: no path; write "
					"memcached+unix:///path/of/socket");
		return 0;
	}
	if (uri->n_hosts == 0 || !uri->hosts[0].name[0])
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: no host; write %s://host:port/",
				uri->scheme, uri->scheme);
	if (uri->path && uri->path[0] && uri->path[1])
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: a server has no parts; leave out the path "
				"'%.100s'",
				uri->scheme, uri->path);
	return 0;
}

int dlki_memc_uri_check(const struct dlk_uri *uri, struct dlk_error *err)
{
	int rc = check_place(uri, err);

	return rc != 0 ? rc : dlki_memc_uri_check_login(uri, err);
}

/*
 * Round the lease up, and choose how long items live.  The server counts in
 * whole seconds, by a timer that may be late and then counts two at once: an
 * item of n seconds lives for more than n - 2 seconds and at most n.  The item
 * gets one second more, which is how far age.c can tell; and as it lives for
 * whole seconds anyway, the lease is rounded up.  The common parameter's limit
 * keeps the number far below 30 days, from which on memcached takes a number
 * for a date.
 */
int dlki_memc_uri_lease(int64_t *ttl_ms, struct memc_lives *lives,
			struct dlk_error *err)
{
	int64_t ttl_s = (*ttl_ms + 999) / 1000;

	if (*ttl_ms < LEAST_TTL_MS)
		return dlk_fail(err, DLOCK_EINVAL,
				"memcached: parameter 'ttl': %lld ms; the "
				"server counts in seconds, %d ms is the least",
				(long long)*ttl_ms, LEAST_TTL_MS);
	*ttl_ms = ttl_s * 1000;
	lives->exptime_s = ttl_s + MEMC_MORE_S;
	lives->mark_s = 3 * lives->exptime_s;
	if (lives->mark_s < LEAST_MARK_S)
		lives->mark_s = LEAST_MARK_S;
	return 0;
}

/* Choose the pauses.  A waiting writer polls often enough to keep the place at
 * the gate.  A range given by the URI holds from the first look on. */
struct memc_pauses dlki_memc_uri_pauses(const struct dlk_uri *uri,
					int64_t ttl_ms)
{
	struct memc_pauses p = {
		.min_ms = dlk_param_int(uri, "retry_min"),
		.max_ms = dlk_param_int(uri, "retry_max"),
	};
	int64_t most_ms = ttl_ms / 4;
	int given_min = dlk_param_given(uri, "retry_min");
	int given_max = dlk_param_given(uri, "retry_max");

	if (!given_max)
		p.max_ms = dlk_param_int(uri, "poll");
	if (!given_min)
		p.min_ms = p.max_ms / 5;
	if (p.max_ms > most_ms)
		p.max_ms = most_ms;
	if (p.min_ms > p.max_ms)
		p.min_ms = p.max_ms;
	if (p.min_ms < 1)
		p.min_ms = 1;
	if (!given_min && !given_max)
		p.early = dlki_memc_looks_early(p.min_ms);
	return p;
}
