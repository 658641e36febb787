/* SPDX-License-Identifier: Apache-2.0 */
#include "ticket.h"

#include <string.h>

#include "core/client.h"
#include "support/check.h"

#define FIRST_ID (UINT64_C(1) << 63) /* no ticket of the core has such an id */

atomic_int told, wakes;
_Atomic uint64_t woken;

/* The linker replaces the second function of each pair with the first. */
void __wrap_dlk_wanted(struct dlk_session *s, uint64_t id);
void __real_dlk_wanted(struct dlk_session *s, uint64_t id);
void __wrap_dlk_wake(struct dlk_session *s, uint64_t id);
void __real_dlk_wake(struct dlk_session *s, uint64_t id);

void __wrap_dlk_wanted(struct dlk_session *s, uint64_t id)
{
	if (id >= FIRST_ID)
		told++;
	else
		__real_dlk_wanted(s, id);
}

void __wrap_dlk_wake(struct dlk_session *s, uint64_t id)
{
	if (id >= FIRST_ID) {
		woken = id;
		wakes++;
	} else {
		__real_dlk_wake(s, id);
	}
}

void ticket_make(struct file_ticket *t, dlock_client *c, enum dlk_mode mode)
{
	static atomic_uint made;

	memset(t, 0, sizeof(*t));
	t->base.session = c->session;
	t->base.id = FIRST_ID + made++;
	t->base.request = (struct dlk_request){
		.name = "x",
		.key = "lnx",
		.owner = "0123456789abcdef0123456789abcdef",
		.label = c->session->label,
		.kind = DLK_LOCK,
		.mode = mode,
	};
}

enum dlk_verdict ticket_ask(struct file_ticket *t)
{
	struct dlk_error err = { 0 };
	enum dlk_verdict v;

	v = t->base.session->backend->attempt(&t->base, DLK_FOREVER, &err);
	if (v == DLK_FAILED)
		FAIL("an attempt failed: %s", err.text);
	return v;
}

void ticket_take(struct file_ticket *t, dlock_client *c)
{
	ticket_make(t, c, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(t), ==, DLK_GRANTED);
}

int ticket_watch(struct file_ticket *t)
{
	struct dlk_error err = { 0 };

	return t->base.session->backend->watch_wanted(&t->base, DLK_FOREVER,
						      &err);
}

void ticket_give(struct file_ticket *t)
{
	struct dlk_error err = { 0 };

	CHECK_OK(
		t->base.session->backend->release(&t->base, DLK_FOREVER, &err));
}
