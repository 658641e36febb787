/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/session.h"
#include "backends/zk/conn.h"

#include <dlock/backend.h>
#include <stdlib.h>
#include <string.h>

#define NOTICE_NS (10 * DLK_MS)

struct zk_session *dlki_zk_session_new(struct dlk_session *core)
{
	struct zk_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->mu, NULL);
	dlk_cond_init(&s->changed);
	dlki_zk_watchers_init(s);
	TAILQ_INIT(&s->unanswered);
	dlki_zk_drive_init(s);
	s->core = core;
	return s;
}

void dlki_zk_session_free(struct zk_session *s)
{
	dlki_zk_drive_free(s);
	dlki_zk_watches_over(s);
	dlki_zk_watchers_free(s);
	dlki_zk_orphans_free(s);
	dlki_zk_data_over(s);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mu);
	if (s->config.auth)
		explicit_bzero(s->config.auth, strlen(s->config.auth));
	free(s->config.auth);
	dlki_zk_addresses_forget(s);
	dlki_zk_hosts_free(s);
	free(s);
}

/* The client is being opened, each server has refused, and the program has no
 * time for a server that starts. */
static int gives_up(const struct zk_session *s)
{
	return s->core && s->core->once && s->lease.timeout_ms == 0 &&
	       s->hosts.misses >= s->hosts.n && s->hosts.silences == 0;
}

int dlki_zk_enter(struct zk_session *s, dlk_time deadline,
		  struct dlk_error *err)
{
	enum zk_state state;
	const char *ended;

	pthread_mutex_lock(&s->mu);
	for (;;) {
		state = s->conn ? s->conn->state : ZK_DOWN;
		if (state == ZK_UP)
			break;
		if (state == ZK_DENIED || gives_up(s) ||
		    dlki_zk_await_connection(s, deadline) == 0)
			break;
	}
	dlki_zk_drive_leave(s);
	if (state == ZK_UP)
		return 0;
	ended = s->ended;
	pthread_mutex_unlock(&s->mu);
	if (state == ZK_DENIED)
		return dlk_fail(err, DLOCK_EDENIED,
				"%.150s refused the credentials: check the "
				"URI's user and password",
				s->hosts.shown);
	return dlk_fail(err, DLOCK_EUNREACHABLE, "no connection to %.100s%s%s",
			s->hosts.shown, ended ? " since " : "",
			ended ? ended : "");
}

void dlki_zk_await_change(struct zk_session *s, dlk_time deadline)
{
	dlk_time soon = dlk_now() + NOTICE_NS;

	if (dlki_zk_is_up(s))
		dlki_zk_sleep(&s->changed, s,
			      soon < deadline ? soon : deadline);
}

void dlki_zk_leave(struct zk_session *s)
{
	pthread_mutex_unlock(&s->mu);
}
