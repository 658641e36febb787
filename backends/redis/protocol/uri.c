/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/uri.h"

#include <string.h>

int dlki_redis_uri_is_tls(const struct dlk_uri *uri)
{
	return strcmp(uri->scheme, "rediss") == 0 ||
	       strcmp(uri->scheme, "valkeys") == 0;
}

int dlki_redis_uri_is_unix(const struct dlk_uri *uri)
{
	return strstr(uri->scheme, "+unix") != NULL;
}

/* Parse "/5", "/" or "". */
static int parse_database(const struct dlk_uri *uri, uint32_t *db,
			  struct dlk_error *err)
{
	const char *path = dlki_redis_uri_is_unix(uri) ? NULL : uri->path;
	uint32_t n = 0;

	*db = (uint32_t)dlk_param_int(uri, "db");
	if (!path || !path[0] || !path[1])
		return 0;
	if (dlk_param_given(uri, "db"))
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: the database is given twice, by the path "
				"and by db=",
				uri->scheme);
	for (const char *p = path + 1; *p; p++) {
		int digit = *p >= '0' && *p <= '9';

		if (digit)
			n = n * 10 + (uint32_t)(*p - '0');
		if (!digit || n > 65535)
			return dlk_fail(err, DLOCK_EINVAL,
					"%s: the path must be the number of a "
					"database, /0 to /65535",
					uri->scheme);
	}
	*db = n;
	return 0;
}

static int check_place(const struct dlk_uri *uri, struct dlk_error *err)
{
	int named = uri->n_hosts > 0 && uri->hosts[0].name[0];

	if (dlki_redis_uri_is_unix(uri)) {
		if (named || !uri->path || !uri->path[0] || !uri->path[1])
			return dlk_fail(err, DLOCK_EINVAL,
					"redis+unix: write the socket's path, "
					"redis+unix:///run/redis.sock");
		return 0;
	}
	if (!named)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: write a host, %s://host:6379", uri->scheme,
				uri->scheme);
	if (uri->n_hosts > 1)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: several hosts: a lock on one server is no "
				"lock on another, so give the master only",
				uri->scheme);
	return 0;
}

/* The server takes no other bytes. */
static int check_client_name(const struct dlk_uri *uri, struct dlk_error *err)
{
	const char *name = dlk_param_text(uri, "client_name");

	for (const char *p = name; p && *p; p++) {
		if (*p < '!' || *p > '~')
			return dlk_fail(err, DLOCK_EINVAL,
					"client_name=%s: write ASCII letters, "
					"digits and signs only, and no spaces",
					name);
	}
	return 0;
}

int dlki_redis_uri_check(const struct dlk_uri *uri, uint32_t *db,
			 struct dlk_error *err)
{
	int rc;

	if (dlk_param_int(uri, "key") != 0 && dlk_param_given(uri, "order") &&
	    dlk_param_int(uri, "order") == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: order=fair and key=plain exclude each "
				"other: clients of other libraries do not "
				"queue",
				uri->scheme);
	rc = check_client_name(uri, err);
	if (rc == 0)
		rc = check_place(uri, err);
	return rc != 0 ? rc : parse_database(uri, db, err);
}
