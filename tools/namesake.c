/* SPDX-License-Identifier: Apache-2.0 */
#include "namesake.h"

#include <dlock/dlock.h>

#include "exits.h"
#include "message.h"

static int is_lock(const struct options *o)
{
	return o->kind == KIND_LOCK;
}

const char *namesake_kind(const struct options *o)
{
	return kind_name(is_lock(o) ? KIND_SEMAPHORE : KIND_LOCK);
}

/* To look at a semaphore, a handle with any number of permits will do. */
static int namesake(dlock_lock **out, const struct store *s,
		    const struct options *o, const char *name)
{
	uint32_t caps = dlock_caps(s->client);

	if (!(caps & DLOCK_CAP_INSPECT))
		return DLOCK_ENOTSUP;
	if (!is_lock(o))
		return dlock_mutex_new(out, s->client, name);
	if (!(caps & DLOCK_CAP_COUNT))
		return DLOCK_ENOTSUP;
	return dlock_semaphore_new(out, s->client, name, UINT32_MAX);
}

void namesake_fetch(struct participants *p, const struct store *s,
		    const struct options *o, const char *name)
{
	size_t before = p->count;
	dlock_lock *lock;

	if (namesake(&lock, s, o, name) < 0)
		return;
	if (participants_ask(p, lock, ask_ms(o)) < 0)
		participants_cut(p, before);
	dlock_lock_free(lock);
}

int namesake_fail(const struct options *o, const struct store *s,
		  const char *name, const char *what)
{
	struct participants p = { 0 };
	size_t holders;

	namesake_fetch(&p, s, o, name);
	holders = participants_holders(&p);
	participants_free(&p);
	if (holders == 0)
		return fail(LEAVE_BUSY, "nobody holds \"%s\": %s", name, what);
	return fail(LEAVE_BUSY,
		    "nobody holds the %s \"%s\": %s; the %s of that name is "
		    "held: %s",
		    kind_name(o->kind), name, what, namesake_kind(o),
		    is_lock(o) ? "use -S PERMITS" : "leave out -S");
}
