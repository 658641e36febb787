/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/looks.h"

/* Hash by FNV-1a, 64 bits. */
static uint64_t name_of(const struct dlk_request *request, enum dlk_mode mode)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + (uint64_t)mode;

	for (const char *s = request->key; *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

static struct memc_look *place_of(struct memc_looks *p, uint64_t name)
{
	return &p->v[(name ^ name >> 32) % MEMC_LOOKS];
}

int dlki_memc_looks_busy(struct memc_looks *p,
			 const struct dlk_request *request, uint64_t waiter,
			 uint64_t waker, int64_t max_ms, dlk_time now)
{
	uint64_t name = name_of(request, request->mode);
	struct memc_look *at = place_of(p, name);
	int busy = at->name == name && at->asker != waiter &&
		   now - at->told_at < max_ms * DLK_MS;

	if (busy)
		at->silent = waker;
	return busy;
}

int dlki_memc_looks_early(int64_t poll_min_ms)
{
	int n = 0;

	while (INT64_C(1) << n < poll_min_ms)
		n++;
	return n;
}

dlk_time dlki_memc_looks_pause(int looks, char digit)
{
	int64_t drawn = digit <= '9' ? digit - '0' : digit - 'a' + 10;

	return DLK_MS * (INT64_C(1) << looks) * (17 + 2 * drawn) / 32;
}

dlk_time dlki_memc_looks_told(struct memc_looks *p,
			      const struct dlk_request *request,
			      uint64_t waiter, uint64_t waker, int *had,
			      int early, int64_t max_ms, dlk_time now)
{
	uint64_t name = name_of(request, request->mode);
	struct memc_look *at = place_of(p, name);
	int looks = *had;

	if (at->name != name)
		at->silent = 0;
	else if (now - at->told_at < max_ms * DLK_MS && looks < at->looks)
		looks = at->looks;
	at->name = name;
	at->asker = waiter;
	at->waker = waker;
	at->told_at = now;
	at->looks = looks + (looks < early);
	*had = at->looks;
	if (looks == early)
		return 0;
	return dlki_memc_looks_pause(looks, request->owner[looks]);
}

void dlki_memc_looks_wake(struct memc_looks *p,
			  const struct dlk_request *request,
			  void (*wake)(void *arg, uint64_t waker), void *arg)
{
	for (int mode = DLK_EXCLUSIVE; mode <= DLK_SHARED; mode++) {
		uint64_t name = name_of(request, (enum dlk_mode)mode);
		struct memc_look *at = place_of(p, name);

		if (at->name != name)
			continue;
		wake(arg, at->waker);
		if (at->silent)
			wake(arg, at->silent);
		at->name = 0;
	}
}
