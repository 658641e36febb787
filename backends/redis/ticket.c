/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/ticket.h"

#include <string.h>

struct redis_arg dlki_redis_key(const struct redis_session *s, const char *key,
				char out[RD_KEY_SIZE])
{
	const char *prefix = dlk_param_text(s->base.uri, "prefix");
	size_t n = strlen(prefix);
	size_t len = strlen(key);

	memcpy(out, prefix, n);
	memcpy(out + n, ":{", 2);
	memcpy(out + n + 2, key, len);
	memcpy(out + n + 2 + len, "}", 2);
	return (struct redis_arg){ out, n + len + 3 };
}

struct redis_arg dlki_redis_ticket_key(struct redis_ticket *t)
{
	const struct redis_session *s = (struct redis_session *)t->base.session;

	if (t->key_len == 0)
		t->key_len = dlki_redis_key(s, t->base.request.key, t->key).len;
	return (struct redis_arg){ t->key, t->key_len };
}

struct redis_arg dlki_redis_plain_key(const struct redis_session *s,
				      const struct dlk_request *request)
{
	if (!s->plain)
		return (struct redis_arg){ NULL, 0 };
	return (struct redis_arg){ request->name, strlen(request->name) };
}

int dlki_redis_plain_check(const struct redis_session *s,
			   const struct dlk_request *request,
			   struct dlk_error *err)
{
	const char *prefix = dlk_param_text(s->base.uri, "prefix");
	size_t n = strlen(prefix);

	if (!s->plain || strncmp(request->name, prefix, n) != 0 ||
	    request->name[n] != ':')
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"'%s': with key=plain a name is a key of the server, "
			"and those that begin with '%s:' are dlock's own: use "
			"another prefix= or another name",
			request->name, prefix);
}

struct redis_arg dlki_redis_ticket_grant(const struct redis_ticket *t,
					 char out[RD_GRANT_SIZE])
{
	char token[24];
	size_t len = dlki_redis_digits(token, t->base.token);

	memcpy(out, t->base.request.owner, RD_ID_SIZE - 1);
	out[RD_ID_SIZE - 1] = ' ';
	memset(out + RD_ID_SIZE, '0', RD_TOKEN_LEN);
	if (len <= RD_TOKEN_LEN)
		memcpy(out + RD_ID_SIZE + RD_TOKEN_LEN - len, token, len);
	return (struct redis_arg){ out, RD_ID_SIZE + RD_TOKEN_LEN };
}
