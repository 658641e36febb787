/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backends/redis/redis.h"

struct redis_word dlki_redis_key(const struct redis_session *s, const char *key,
				 char out[136])
{
	const char *prefix = dlk_param_text(s->base.uri, "prefix");
	size_t n = strlen(prefix);
	size_t len = strlen(key);

	memcpy(out, prefix, n);
	memcpy(out + n, ":{", 2);
	memcpy(out + n + 2, key, len);
	memcpy(out + n + 2 + len, "}", 2);
	return (struct redis_word){ out, n + len + 3 };
}

struct redis_word dlki_redis_ticket_key(struct redis_ticket *t)
{
	const struct redis_session *s = (struct redis_session *)t->base.session;

	if (t->key_len == 0)
		t->key_len = dlki_redis_key(s, t->base.claim.key, t->key).len;
	return (struct redis_word){ t->key, t->key_len };
}

struct redis_word dlki_redis_tail(const struct redis_session *s,
				  const struct dlk_claim *claim, char out[520])
{
	size_t name = strlen(claim->name);

	memcpy(out, claim->label, s->label_len);
	out[s->label_len] = '\n';
	memcpy(out + s->label_len + 1, claim->name, name);
	return (struct redis_word){ out, s->label_len + 1 + name };
}

struct redis_word dlki_redis_grant(const struct redis_ticket *t, char out[52])
{
	char token[24];
	size_t len = dlki_redis_digits(token, t->base.token);

	memcpy(out, t->base.claim.owner, REDIS_ID_SIZE - 1);
	out[REDIS_ID_SIZE - 1] = ' ';
	memset(out + REDIS_ID_SIZE, '0', REDIS_TOKEN_LEN);
	if (len <= REDIS_TOKEN_LEN)
		memcpy(out + REDIS_ID_SIZE + REDIS_TOKEN_LEN - len, token, len);
	return (struct redis_word){ out, REDIS_ID_SIZE + REDIS_TOKEN_LEN };
}
