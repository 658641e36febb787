/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/args.h"

#include <dlock/backend.h>
#include <string.h>

#include "core/base/digits.h"

enum { LABEL_MAX = 240 };

struct redis_arg dlki_redis_key(const char *prefix, const char *key,
				char out[RD_KEY_SIZE])
{
	size_t n = strlen(prefix);
	size_t len = strlen(key);

	memcpy(out, prefix, n);
	memcpy(out + n, ":{", 2);
	memcpy(out + n + 2, key, len);
	memcpy(out + n + 2 + len, "}", 2);
	return (struct redis_arg){ out, n + len + 3 };
}

struct redis_arg dlki_redis_grant(const char *owner, uint64_t token,
				  char out[RD_GRANT_SIZE])
{
	char digits[24];
	size_t len = dlki_digits(digits, token);

	memcpy(out, owner, RD_OWNER_LEN);
	out[RD_OWNER_LEN] = ' ';
	memset(out + RD_OWNER_LEN + 1, '0', RD_TOKEN_LEN);
	if (len <= RD_TOKEN_LEN)
		memcpy(out + RD_OWNER_LEN + 1 + RD_TOKEN_LEN - len, digits,
		       len);
	return (struct redis_arg){ out, RD_OWNER_LEN + 1 + RD_TOKEN_LEN };
}

/* Readers are always fair.  Otherwise they would pass the writers in the
 * queue.  So is who wants several permits, or upgrades, and is not
 * overtaken. */
struct redis_arg dlki_redis_wait_record(char order,
					const struct dlk_request *request,
					uint64_t attempt, const char *channel,
					char out[RD_RECORD_SIZE])
{
	size_t n = 4;
	size_t len = strlen(channel);
	int is_reader = request->kind == DLK_LOCK &&
			request->mode == DLK_SHARED;

	out[0] = is_reader || request->permits > 1 || request->beside ? 'f' :
									order;
	out[1] = ' ';
	out[2] = request->mode == DLK_SHARED ? 's' : 'x';
	out[3] = ' ';
	n += dlki_digits(out + n, request->limit);
	out[n++] = ' ';
	n += dlki_digits(out + n, attempt);
	out[n++] = ' ';
	memcpy(out + n, channel, len);
	return (struct redis_arg){ out, n + len };
}

struct redis_arg dlki_redis_payload(const struct dlk_request *request,
				    struct redis_arg ttl,
				    char out[RD_PAYLOAD_SIZE])
{
	size_t name = strlen(request->name);
	size_t label_len = dlk_utf8_clip(request->label, LABEL_MAX);
	size_t n = ttl.len;

	memcpy(out, ttl.text, n);
	if (request->permits > 1) {
		out[n++] = '*';
		n += dlki_digits(out + n, request->permits);
	} else if (request->beside) {
		out[n++] = '^';
		memcpy(out + n, request->beside, RD_OWNER_LEN);
		n += RD_OWNER_LEN;
	}
	out[n++] = ' ';
	memcpy(out + n, request->label, label_len);
	n += label_len;
	out[n++] = '\n';
	memcpy(out + n, request->name, name);
	return (struct redis_arg){ out, n + name };
}
