/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/ticket.h"

#include <string.h>

struct redis_arg dlki_redis_session_key(const struct redis_session *s,
					const char *key, char out[RD_KEY_SIZE])
{
	return dlki_redis_key(dlk_param_text(s->base.uri, "prefix"), key, out);
}

struct redis_arg dlki_redis_ticket_key(struct redis_ticket *t)
{
	const struct redis_session *s = (struct redis_session *)t->base.session;

	if (t->key_len == 0)
		t->key_len = dlki_redis_session_key(s, t->base.request.key,
						    t->key)
				     .len;
	return (struct redis_arg){ t->key, t->key_len };
}

struct redis_arg dlki_redis_plain_key(const struct redis_session *s,
				      const struct dlk_request *request)
{
	if (!s->plain)
		return (struct redis_arg){ NULL, 0 };
	return (struct redis_arg){ request->name, strlen(request->name) };
}

int dlki_redis_session_check(const struct redis_session *s,
			     const struct dlk_request *request,
			     struct dlk_error *err)
{
	const char *prefix = dlk_param_text(s->base.uri, "prefix");

	return s->plain ? dlki_redis_plain_check(prefix, request->name, err) :
			  0;
}

struct redis_arg dlki_redis_ticket_grant(const struct redis_ticket *t,
					 char out[RD_GRANT_SIZE])
{
	return dlki_redis_grant(t->base.request.owner, t->base.token, out);
}
