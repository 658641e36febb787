/* SPDX-License-Identifier: Apache-2.0 */
/* A store that listens, and an open that fails after that: more cases of
 * pump.c's suite. */
#include "core/support.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "support/closed.h"

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

static const char *const schemes[] = { "hears", NULL };

static struct dlock_backend hears;

CASE(pump, is_over_before_a_store_is_closed_that_cannot_do_what_is_asked)
{
	dlock_client *none = NULL;

	hears = closed_backend(schemes);
	hears.open = store_open;
	hears.close = store_close;
	hears.pump = store_pump;
	cr_assert_eq(dlock_backend_register(&hears), 0);
	REFUSED(dlock_open(&none, "hears:?keep=1s", NULL), DLOCK_ENOTSUP,
		"cannot tell when another client wants a lock");
	cr_assert(is_closed);
	cr_assert_not(met, "the pump was under way");
}
