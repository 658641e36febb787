/* SPDX-License-Identifier: Apache-2.0 */
#include "core/claim.h"

#include <assert.h>
#include <dlock/backend.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/record.h"
#include "core/schedule.h"

int dlki_claim_new(struct dlki_claim **out, struct dlki_record *record,
		   enum dlk_mode mode, const struct dlki_terms *terms,
		   struct dlk_error *err)
{
	struct dlock_client *c = record->client;
	size_t size = sizeof(struct dlki_claim) + c->backend->ticket_size;
	struct dlki_claim *claim = dlki_blocks_get(&c->claims, size);

	if (!claim)
		return dlki_nomem(err);
	dlki_owner_new(&c->owners, claim->owner);
	claim->client = c;
	claim->record = record;
	claim->refs = 1;
	claim->lost_fd = claim->wanted_fd = -1;
	claim->own.of = DLKI_OF_CLAIM;
	claim->read.of = DLKI_OF_CLAIM_READ;
	claim->own.side = mode;
	claim->read.side = DLK_SHARED;
	claim->ticket->session = c->session;
	claim->ticket->request = (struct dlk_request){
		.name = record->name,
		.key = dlki_record_key(record),
		.owner = claim->owner,
		.label = c->label,
		.kind = record->kind,
		.mode = mode,
		.limit = record->limit,
	};
	atomic_init(&claim->valid_until, DLKI_EXPIRED);
	claim->terms = terms ? dlki_terms_copy(terms) : NULL;
	if (terms && !claim->terms) {
		dlki_claim_discard(claim);
		return dlki_nomem(err);
	}
	if (terms && terms->has_label)
		claim->ticket->request.label = claim->terms->label;
	*out = claim;
	return 0;
}

void dlki_claim_upgrade(struct dlki_claim *claim, struct dlki_claim *read)
{
	if (!read)
		return;
	dlki_claim_ref(read);
	read->upgrades++;
	claim->beside = read;
	claim->ticket->request.beside = read->owner;
}

/* The release of the read side waits for the last upgrade. */
static void end_upgrade(struct dlki_claim *read)
{
	struct dlock_client *c = read->client;

	if (--read->upgrades > 0 || dlki_claim_has_hold(read))
		return;
	pthread_cond_broadcast(&c->changed);
	dlki_asyncs_rouse_releases(&c->asyncs);
}

void dlki_claim_end_upgrade(struct dlki_claim *claim)
{
	if (claim->beside)
		end_upgrade(claim->beside);
}

void dlki_claim_begin_upgrades(struct dlki_claim *read)
{
	dlki_claim_ref(read);
	read->upgrades++;
	read->upgrade_calls++;
}

void dlki_claim_end_upgrades(struct dlki_claim *read)
{
	end_upgrade(read);
	dlki_claim_unref(read);
}

bool dlki_claim_has_upgrade(const struct dlki_claim *read)
{
	const struct dlki_claim *h;

	LIST_FOREACH(h, &read->record->held, in_list)
		if (h->beside == read && dlki_claim_has_hold(h) &&
		    h->undelivered != DLKI_TO_HAND_OUT)
			return true;
	return read->upgrade_calls > 0;
}

void dlki_claim_discard(struct dlki_claim *claim)
{
	free(claim->terms);
	free(claim->why);
	free(claim->watch);
	dlki_blocks_put(&claim->client->claims, claim);
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
	assert(claim->state == DLKI_GONE && !claim->busy && !claim->upgrades);
	if (claim->lost_fd >= 0)
		close(claim->lost_fd);
	if (claim->wanted_fd >= 0)
		close(claim->wanted_fd);
	if (claim->cond)
		pthread_cond_destroy(claim->cond);
	free(claim->cond);
	if (claim->beside)
		dlki_claim_unref(claim->beside);
	dlki_record_unref(claim->record);
	c->refs--;
	dlki_claim_discard(claim);
}

void dlki_claim_wrong(struct dlki_claim *claim, enum dlki_claim_state from)
{
	assert(0 && "a claim's state is wrong");
	atomic_store(&claim->valid_until, DLKI_EXPIRED);
	dlk_log(claim->client->session, DLKI_ERROR,
		"internal error: a claim of %s '%s' went from %s to %s; its "
		"hold has ended",
		dlki_kind_name(claim->record->kind), claim->record->name,
		dlki_claim_state_name(from),
		dlki_claim_state_name(claim->state));
}

int dlki_claim_seize(struct dlki_claim *claim, dlk_time deadline)
{
	struct dlock_client *c = claim->client;

	while (claim->busy) {
		if (dlk_now() >= dlk_deadline(deadline))
			return 0;
		if (c->schedule.hurry &&
		    c->schedule.hurry(claim, dlk_deadline(deadline)))
			continue;
		dlk_cond_wait(&c->changed, &c->mu, dlk_deadline(deadline));
	}
	claim->busy = 1;
	return 1;
}

void dlki_claim_yield(struct dlki_claim *claim)
{
	claim->busy--;
	/* The hold may have been extended meanwhile. */
	if (claim->state == DLKI_HELD)
		dlki_schedule_extended(claim);
	pthread_cond_broadcast(&claim->client->changed);
	if (claim->client->schedule.renewals)
		dlki_asyncs_rouse_releases(&claim->client->asyncs);
}

void dlki_claim_explain(struct dlki_claim *claim, const char *why)
{
	size_t n = dlk_utf8_clip(why, DLKI_WHY - 1);
	char *text = malloc(n + 1);

	free(claim->why);
	claim->why = text;
	if (!text)
		return;
	memcpy(text, why, n);
	text[n] = '\0';
}

const char *dlki_claim_why(const struct dlki_claim *claim)
{
	return claim->why ? claim->why : "";
}

int dlki_claim_fail_lost(const struct dlki_claim *claim, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ELOST, "%s '%s' was lost: %s",
			dlki_kind_name(claim->record->kind),
			claim->record->name, dlki_claim_why(claim));
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

int dlki_claim_check_upgradeable(struct dlki_claim *read,
				 struct dlki_claim *gate, struct dlk_error *err)
{
	if (dlki_claim_valid(read) && (!gate || dlki_claim_valid(gate)))
		return 0;
	return dlk_fail(err, DLOCK_ELOST,
			"lock '%s': the upgradeable read side was lost",
			read->record->name);
}

int dlki_claim_check(struct dlki_claim *claim)
{
	if (claim->client->process != dlki_process())
		return DLOCK_EFORKED;
	return dlki_claim_valid(claim) ? DLOCK_OK : DLOCK_ELOST;
}

int64_t dlki_claim_remaining_ms(struct dlki_claim *claim)
{
	dlk_time until;

	if (dlki_claim_check(claim) != DLOCK_OK)
		return 0;
	until = atomic_load(&claim->valid_until);
	if (until == DLK_FOREVER)
		return -1;
	return dlki_ms_until(dlk_now(), until);
}

int64_t dlki_claim_warning_ms(struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;
	int64_t left_ms = dlki_claim_remaining_ms(claim);

	if (left_ms <= 0)
		return left_ms;
	pthread_mutex_lock(&c->mu);
	left_ms = dlki_schedule_warning(claim, left_ms);
	pthread_mutex_unlock(&c->mu);
	return left_ms;
}

int dlki_claim_eventfd(int *fd, bool told, struct dlk_error *err)
{
	if (*fd < 0)
		*fd = eventfd(told, EFD_CLOEXEC | EFD_NONBLOCK);
	return *fd >= 0 ? *fd : dlki_system(err, errno, "eventfd");
}

int dlki_claim_fd(struct dlki_claim *claim, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int fd = dlki_client_ours(c, err);

	if (fd != 0)
		return fd;
	pthread_mutex_lock(&c->mu);
	fd = dlki_claim_eventfd(&claim->lost_fd, claim->state == DLKI_LOST,
				err);
	pthread_mutex_unlock(&c->mu);
	return fd;
}
