/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include <stdio.h>

#include "backends/mem/orphan.h"
#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"

/* Reset in a forked child, where only the forking thread lives: another thread
 * may have held the mutex, and the parent's holds are void. */
static void reset_in_child(void)
{
	dlki_mem_mu = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	dlki_mem_queues_forget();
	dlki_mem_orphans_forget();
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
}

static int mem_open(struct dlk_session *base, dlk_time deadline,
		    struct dlk_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct mem_session *s = mem_session(base);
	const struct dlk_uri *uri = base->uri;
	const char *host = uri->n_hosts > 0 ? uri->hosts[0].name : "";

	(void)deadline;
	pthread_once(&once, watch_forks);
	if (uri->n_hosts > 1 ||
	    (uri->n_hosts == 1 && uri->hosts[0].port != 0) || uri->path)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: only a name may follow: "
				"mem: or mem://NAME",
				uri->shown);
	if (snprintf(s->space, sizeof(s->space), "%s/%s/", host,
		     dlk_param_text(uri, "prefix")) >= (int)sizeof(s->space))
		return dlk_fail(err, DLOCK_EINVAL, "%s: the name is too long",
				uri->shown);
	s->leased = dlk_param_given(uri, "ttl");
	s->lose_ms = dlk_param_int(uri, "lose");
	if (dlki_mem_rehearsal_begin(s, err) != 0)
		return err->code;
	if (!s->leased)
		base->ttl_ms = 0;
	/* A check finds the loss, as with a store that cannot tell. */
	if (s->lose_ms > 0)
		base->check_ms = s->lose_ms < 100 ? (s->lose_ms + 9) / 10 : 10;
	return 0;
}

static void mem_close(struct dlk_session *s, dlk_time deadline)
{
	(void)deadline;
	pthread_mutex_lock(&dlki_mem_mu);
	dlki_mem_orphans_close(mem_session(s));
	pthread_mutex_unlock(&dlki_mem_mu);
}

static const char *const schemes[] = { "mem", NULL };

static const struct dlk_param params[] = {
	{ .name = "lose",
	  .type = DLK_DURATION,
	  .min = 1,
	  .max = 86400000,
	  .text = "rehearsal: every hold is lost this long after it was "
		  "granted" },
	{ .name = "refuse",
	  .type = DLK_NUMBER,
	  .def = "0",
	  .max = 100,
	  .text = "rehearsal: percentage of requests that get no answer" },
	{ .name = "delay",
	  .type = DLK_DURATION,
	  .min = 1,
	  .max = 60000,
	  .text = "rehearsal: every request takes this long" },
	{ .name = "fail",
	  .type = DLK_TEXT,
	  .min = 1,
	  .max = 40,
	  .text = "rehearsal: this request of the client gets no answer, "
		  "counted from 1; or these: 3-5, or 3- for all from the "
		  "third" },
	{ .name = "seed",
	  .type = DLK_NUMBER,
	  .def = "1",
	  .max = 2147483647,
	  .text = "rehearsal: which of the requests `refuse` takes" },
	{ 0 }
};

const struct dlock_backend dlki_mem_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks within this process",
	.caps = DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |
		DLOCK_CAP_FAIR | DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST |
		DLOCK_CAP_WANTED | DLOCK_CAP_RESIZE | DLOCK_CAP_PERMITS |
		DLOCK_CAP_REVOKE_PERMITS | DLOCK_CAP_UPGRADE |
		DLOCK_CAP_NO_THREADS,
	.params = params,
	.session_size = sizeof(struct mem_session),
	.ticket_size = sizeof(struct mem_ticket),
	.open = mem_open,
	.close = mem_close,
	.attempt = dlki_mem_attempt,
	.renew = dlki_mem_renew,
	.release = dlki_mem_release,
	.downgrade = dlki_mem_downgrade,
	.inspect = dlki_mem_inspect,
	.list = dlki_mem_list,
	.break_ = dlki_mem_break,
	.watch_wanted = dlki_mem_watch_wanted,
	.revoke = dlki_mem_revoke,
	.resize = dlki_mem_resize,
};
