/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/wait.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#include <dlock/backend.h>

/* In a client without threads no other thread does what is due. */
static void attend(struct zk_session *s, dlk_time *until)
{
	if (!s->upkeep.attend)
		return;
	s->upkeep.attend(s);
	if (s->timer.at < *until)
		*until = s->timer.at;
}

/* 0: that time has come. */
static int drive(struct zk_session *s, struct zk_reply_wait *wait,
		 dlk_time until)
{
	until = dlk_deadline(until);
	if (dlk_now() >= until)
		return 0;
	attend(s, &until);
	if (!wait || wait->left > 0)
		dlki_zk_drive_wait(s, wait, until);
	return 1;
}

int dlki_zk_sleep(pthread_cond_t *cond, struct zk_session *s, dlk_time until)
{
	int rc = 1;

	if (s->upkeep.attend) {
		rc = drive(s, NULL, until);
		dlki_zk_drive_leave(s);
		return rc;
	}
	until = dlk_deadline(until);
	if (dlk_now() >= until)
		return 0;
	dlk_cond_wait(cond, &s->mu, until);
	return rc;
}

int dlki_zk_await_connection(struct zk_session *s, dlk_time until)
{
	return drive(s, NULL, until);
}

void dlki_zk_wait(struct zk_session *s, struct zk_call *const calls[], size_t n,
		  dlk_time deadline)
{
	struct zk_reply_wait wait = { .patience = dlki_patience_here() };

	dlk_cond_init(&wait.done);
	for (size_t i = 0; i < n; i++) {
		if (calls[i] && !calls[i]->done) {
			calls[i]->wait = &wait;
			wait.left++;
		}
	}
	while (wait.left > 0 && drive(s, &wait, deadline) != 0)
		continue;
	dlki_zk_drive_leave(s);
	if (wait.left > 0) /* perhaps the server is to be left */
		dlki_zk_timer_now(s);
	for (size_t i = 0; i < n; i++) {
		if (calls[i])
			calls[i]->wait = NULL;
	}
	pthread_cond_destroy(&wait.done);
}
