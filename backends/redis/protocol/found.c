/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/found.h"

#include <stdlib.h>
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/fault.h"
#include "backends/redis/protocol/texts.h"

enum { BATCH = 256, KEYS_MAX = 1 << 22 };

void dlki_redis_found_init(struct redis_found *f, const char *prefix)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->cursor, "0", 2);
	/* Without the '}'. */
	f->begin_len = dlki_redis_key(prefix, "", f->begin).len - 1;
	f->begin[f->begin_len] = '\0';
}

void dlki_redis_found_free(struct redis_found *f)
{
	free(f->v);
}

void dlki_redis_found_scan(const struct redis_found *f,
			   struct redis_commands *out)
{
	char glob[RD_KEY_SIZE + 1];
	const char *const argv[] = { "SCAN", f->cursor, "MATCH",
				     glob,   "COUNT",   "1000" };

	memcpy(glob, f->begin, f->begin_len);
	memcpy(glob + f->begin_len, "*", 2);
	dlki_redis_commands_argv(out, 6, argv);
}

static int add_key(struct redis_found *f, const char *key, size_t len)
{
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		char(*grown)[72] = room > KEYS_MAX ?
					   NULL :
					   realloc(f->v, room * sizeof(*grown));

		if (!grown)
			return DLOCK_ENOMEM;
		f->v = grown;
		f->room = room;
	}
	memcpy(f->v[f->n], key, len);
	f->v[f->n++][len] = '\0';
	return 0;
}

/* Add the key in "prefix:{key}", or in a derived key. */
static int add_scanned_key(struct redis_found *f,
			   const struct redis_reply *found)
{
	const char *key;
	size_t len;

	if (found->type != RD_STRING ||
	    strncmp(found->text, f->begin, f->begin_len) != 0)
		return 0;
	key = found->text + f->begin_len;
	len = strspn(key, "0123456789abcdefghijklmnopqrstuvwxyz");
	if (len < 2 || len >= sizeof(f->v[0]) || key[len] != '}')
		return 0;
	return add_key(f, key, len);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Sort the keys, and drop doubles: SCAN may return a key twice, and a lock may
 * have several keys. */
static void sort_out(struct redis_found *f)
{
	size_t last = 0;

	if (f->n == 0)
		return;
	qsort(f->v, f->n, sizeof(f->v[0]), compare_keys);
	for (size_t i = 1; i < f->n; i++) {
		if (strcmp(f->v[last], f->v[i]) != 0)
			memmove(f->v[++last], f->v[i], sizeof(f->v[0]));
	}
	f->n = last + 1;
}

int dlki_redis_found_add(struct redis_found *f, const struct redis_reply *r)
{
	const struct redis_reply *keys;
	int rc = 0;

	if (r->type != RD_ARRAY || r->len != 2 ||
	    r->parts[0]->type != RD_STRING ||
	    r->parts[0]->len >= sizeof(f->cursor) ||
	    r->parts[1]->type != RD_ARRAY)
		return DLOCK_EPROTO;
	keys = r->parts[1];
	for (size_t i = 0; rc == 0 && i < keys->len; i++)
		rc = add_scanned_key(f, keys->parts[i]);
	if (rc != 0)
		return rc;
	memcpy(f->cursor, r->parts[0]->text, r->parts[0]->len + 1);
	f->whole = strcmp(f->cursor, "0") == 0;
	if (f->whole)
		sort_out(f);
	return 0;
}

size_t dlki_redis_found_describe(const struct redis_found *f,
				 struct redis_commands *out)
{
	size_t left = f->n - f->described;
	size_t n = left > BATCH ? BATCH : left;
	char key[RD_KEY_SIZE];

	memcpy(key, f->begin, f->begin_len);
	for (size_t i = 0; i < n; i++) {
		const char *name = f->v[f->described + i];
		size_t len = strlen(name);
		const struct redis_script_keys keys = {
			.lock = { key, f->begin_len + len + 1 },
		};

		memcpy(key + f->begin_len, name, len);
		key[f->begin_len + len] = '}';
		dlki_redis_commands_call(out, RD_DESCRIBE, i == 0, &keys, NULL,
					 0);
	}
	return n;
}

enum redis_found_what dlki_redis_found_described(struct redis_found *f,
						 const struct redis_reply *r,
						 struct dlock_lock_info *info,
						 char name[256])
{
	const char *key = f->v[f->described++];

	if (r->type == RD_ERROR)
		return dlki_redis_fault_is(r->text, "WRONGTYPE") ?
			       RD_FOUND_NOTHING :
			       RD_FOUND_FAULT;
	return dlki_redis_lock_info(r, key, info, name) == 1 ? RD_FOUND_LOCK :
							       RD_FOUND_NOTHING;
}
