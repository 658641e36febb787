/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/wait.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#include <dlock/backend_net.h>
#include <stdlib.h>

int dlki_zk_sleep(pthread_cond_t *cond, struct zk_session *s, dlk_time until)
{
	until = dlk_deadline(until);
	if (dlk_now() >= until)
		return 0;
	dlk_cond_wait(cond, &s->mu, until);
	return 1;
}

static struct zk_reply_wait *new_reply_wait(struct zk_session *s)
{
	struct zk_reply_wait *wait = s->waits.unused;

	if (wait) {
		s->waits.unused = wait->next;
		return wait;
	}
	wait = calloc(1, sizeof(*wait));
	if (wait)
		dlk_cond_init(&wait->done);
	return wait;
}

void dlki_zk_waits_free(struct zk_session *s)
{
	while (s->waits.unused) {
		struct zk_reply_wait *wait = s->waits.unused;

		s->waits.unused = wait->next;
		pthread_cond_destroy(&wait->done);
		free(wait);
	}
}

/* There is no memory for a wait, so no thread signals. */
static void poll_for_replies(struct zk_session *s,
			     struct zk_call *const calls[], size_t n,
			     dlk_time deadline)
{
	for (size_t i = 0; i < n; i++) {
		while (calls[i] && !calls[i]->done &&
		       dlk_now() < dlk_deadline(deadline)) {
			dlki_zk_drive_now(s);
			dlki_zk_sleep(&s->changed, s, dlk_now() + DLK_MS);
		}
	}
}

/* 0: that time has come. */
static int drive(struct zk_session *s, struct zk_reply_wait *wait,
		 dlk_time until)
{
	until = dlk_deadline(until);
	if (dlk_now() >= until)
		return 0;
	dlki_zk_drive_wait(s, wait, until);
	return 1;
}

int dlki_zk_await_connection(struct zk_session *s, dlk_time until)
{
	return drive(s, NULL, until);
}

void dlki_zk_wait(struct zk_session *s, struct zk_call *const calls[], size_t n,
		  dlk_time deadline)
{
	struct zk_reply_wait *wait = new_reply_wait(s);

	if (!wait) {
		poll_for_replies(s, calls, n, deadline);
		return;
	}
	wait->left = 0;
	wait->patience = dlki_patience_here();
	for (size_t i = 0; i < n; i++) {
		if (calls[i] && !calls[i]->done) {
			calls[i]->wait = wait;
			wait->left++;
		}
	}
	while (wait->left > 0 && drive(s, wait, deadline) != 0)
		continue;
	dlki_zk_drive_leave(s);
	if (wait->left > 0) /* perhaps the server is to be left */
		dlki_zk_timer_now(s);
	for (size_t i = 0; i < n; i++) {
		if (calls[i])
			calls[i]->wait = NULL;
	}
	wait->next = s->waits.unused;
	s->waits.unused = wait;
}
