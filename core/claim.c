/* SPDX-License-Identifier: Apache-2.0 */
#include "core/claim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/lock.h"
#include "core/utf8.h"

/* The ticket stands behind the claim, aligned for whatever it holds. */
static size_t ticket_offset(void)
{
	size_t align = _Alignof(max_align_t);

	return (sizeof(struct dlki_claim) + align - 1) / align * align;
}

int dlki_claim_new(struct dlki_claim **out, struct dlki_record *record,
		   enum dlk_mode mode, struct dlk_error *err)
{
	struct dlock_client *c = record->client;
	struct dlki_claim *claim;

	claim = calloc(1, ticket_offset() + c->backend->ticket_size);
	if (!claim)
		return dlki_nomem(err);
	if (dlki_owner_new(&c->owners, claim->owner, err) != 0) {
		free(claim);
		return err->code;
	}
	claim->client = c;
	claim->record = record;
	claim->thread = dlki_thread_serial();
	claim->refs = 1;
	claim->lost_fd = -1;
	claim->own.claim = claim->read.claim = claim;
	claim->own.side = mode;
	claim->read.side = DLK_SHARED;
	claim->ticket = (void *)((char *)claim + ticket_offset());
	claim->ticket->session = c->session;
	claim->ticket->claim = (struct dlk_claim){
		.name = record->name,
		.key = record->key,
		.owner = claim->owner,
		.label = c->label,
		.kind = record->kind,
		.mode = mode,
		.limit = record->limit,
	};
	atomic_init(&claim->valid_until, DLK_FOREVER);
	*out = claim;
	return 0;
}

void dlki_claim_discard(struct dlki_claim *claim)
{
	free(claim);
}

int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;

	if (dlki_lease_reserve(&c->lease, (size_t)c->slots.n + 1) != 0)
		return dlki_nomem(err);
	claim->ticket->id = dlki_slots_add(&c->slots, claim);
	if (claim->ticket->id == 0)
		return dlki_nomem(err);
	c->refs++;
	claim->record->refs++;
	return 0;
}

void dlki_claim_ref(struct dlki_claim *claim)
{
	claim->refs++;
}

void dlki_claim_unref(struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;

	if (--claim->refs > 0)
		return;
	if (claim->lost_fd >= 0)
		close(claim->lost_fd);
	if (claim->cond_ready)
		pthread_cond_destroy(&claim->cond);
	dlki_record_unref(claim->record);
	c->refs--;
	free(claim);
}

int dlki_claim_seize(struct dlki_claim *claim, dlk_time deadline)
{
	struct dlock_client *c = claim->client;

	while (claim->busy) {
		if (dlk_now() >= deadline)
			return 0;
		dlki_wait(&c->changed, &c->mu, deadline);
	}
	claim->busy = 1;
	return 1;
}

void dlki_claim_yield(struct dlki_claim *claim)
{
	claim->busy = 0;
	pthread_cond_broadcast(&claim->client->changed);
}

int dlki_claim_valid(struct dlki_claim *claim)
{
	dlk_time until = atomic_load(&claim->valid_until);

	while (until != DLKI_EXPIRED && until != DLK_FOREVER) {
		if (dlk_now() < until)
			return 1;
		if (atomic_compare_exchange_strong(&claim->valid_until, &until,
						   DLKI_EXPIRED))
			return 0;
	}
	return until == DLK_FOREVER;
}

void dlki_claim_clean_later(struct dlki_claim *claim, int64_t pause_ms)
{
	if (claim->needs_cleaning || claim->client->dead)
		return;
	claim->needs_cleaning = 1;
	claim->client->stats.remnants++;
	claim->pause_ns = 20 * DLKI_MS;
	dlki_claim_ref(claim);
	dlki_lease_work(claim, dlki_after_ms(dlk_now(), pause_ms));
}

void dlki_claim_gone(struct dlki_claim *claim)
{
	if (claim->ticket->id != 0)
		dlki_slots_remove(&claim->client->slots, claim->ticket->id);
	claim->ticket->id = 0;
	if (claim->needs_cleaning) {
		dlki_heap_remove(&claim->client->lease.clean, &claim->work);
		claim->needs_cleaning = 0;
		claim->client->stats.remnants--;
		dlki_claim_unref(claim);
	}
}

void dlki_claim_explain(struct dlki_claim *claim, const char *why)
{
	size_t n = dlki_utf8_clip(why, sizeof(claim->why) - 1);

	memcpy(claim->why, why, n);
	claim->why[n] = '\0';
}

void dlki_claim_lose(struct dlki_claim *claim, const char *why)
{
	struct dlock_client *c = claim->client;

	if (claim->state != DLKI_HELD)
		return;
	claim->state = DLKI_LOST;
	atomic_store(&claim->valid_until, DLKI_EXPIRED);
	c->stats.lost++;
	c->stats.holds--;
	dlki_claim_explain(claim, why);
	if (claim->lost_fd >= 0)
		eventfd_write(claim->lost_fd, 1);
	dlki_lease_remove(claim);
	dlki_event_post(claim, DLOCK_LOST);
	dlki_claim_clean_later(claim, 0);
}

int dlki_claim_fd(struct dlki_claim *claim, struct dlk_error *err)
{
	if (claim->lost_fd < 0) {
		unsigned int lost_already = claim->state == DLKI_LOST;

		claim->lost_fd = eventfd(lost_already,
					 EFD_CLOEXEC | EFD_NONBLOCK);
		if (claim->lost_fd < 0)
			return dlki_system(err, errno, "eventfd");
	}
	return claim->lost_fd;
}
