/* SPDX-License-Identifier: Apache-2.0 */
/* A store that listens, and an open that fails after that: more cases of
 * pump.c's suite. */
#include "core/support.h"

#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int is_inside, is_closed, met;
static int fd;

/* The pump is under way when this returns. */
static int store_open(struct dlk_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	(void)deadline;
	s->ttl_ms = 0;
	fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(fd, 0);
	cr_assert_eq(dlk_listen(s, fd, err), 0);
	EVENTUALLY(is_inside);
	return 0;
}

static void store_close(struct dlk_session *s, dlk_time deadline)
{
	(void)deadline;
	is_closed = 1;
	cr_assert_eq(dlk_listen(s, -1, NULL), 0);
	close(fd);
}

static void store_pump(struct dlk_session *s)
{
	eventfd_t ignored;

	(void)s;
	is_inside = 1;
	for (int i = 0; i < 30 && !is_closed; i++)
		nap_ms(1);
	met |= is_closed;
	(void)eventfd_read(fd, &ignored);
}

static enum dlk_verdict store_attempt(struct dlk_ticket *t, dlk_time deadline,
				      struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return DLK_BUSY;
}

static int store_release(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return 0;
}

static const char *const schemes[] = { "hears", NULL };

static const struct dlock_backend hears = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "a store with news at once",
	.session_size = sizeof(struct dlk_session),
	.ticket_size = sizeof(struct dlk_ticket),
	.open = store_open,
	.close = store_close,
	.attempt = store_attempt,
	.release = store_release,
	.pump = store_pump,
};

CASE(pump, is_over_before_a_store_is_closed_that_cannot_do_what_is_asked)
{
	dlock_client *none = NULL;

	cr_assert_eq(dlock_backend_register(&hears), 0);
	REFUSED(dlock_open(&none, "hears:?keep=1s", NULL), DLOCK_ENOTSUP,
		"cannot tell when another client wants a lock");
	cr_assert(is_closed);
	cr_assert_not(met, "the pump was under way");
}
