/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds and who waits.  Records in the file say who somebody is; only the
 * lock on its byte says that it lives.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report {
	struct file_session *s;
	int fd;
	void (*each)(const struct dlock_party *p, void *arg);
	void *arg;
	struct {
		uint64_t session, ticket;
	} holder[FILE_SEATS];
	unsigned int n_holders;
};

static void party(const struct report *r, const struct file_seat *who,
		  int waiting)
{
	char id[48];
	struct dlock_party p = { .size = sizeof(p),
				 .label = who->label,
				 .id = id,
				 .token = who->token,
				 .remaining_ms = -1,
				 .shared = who->shared != 0,
				 .waiting = waiting };

	snprintf(id, sizeof(id), "%016llx-%llu",
		 (unsigned long long)who->session,
		 (unsigned long long)who->ticket);
	r->each(&p, r->arg);
}

static void holder(struct report *r, const struct file_seat *who)
{
	party(r, who, 0);
	if (r->n_holders == FILE_SEATS)
		return;
	r->holder[r->n_holders].session = who->session;
	r->holder[r->n_holders++].ticket = who->ticket;
}

/* The exact token of a mutex that this session holds, or 0. */
static uint64_t own_token(struct file_session *s, const char *key)
{
	struct file_name *n = dlki_file_name_get(s, key);
	uint64_t token = 0;

	if (!n)
		return 0;
	pthread_mutex_lock(&n->mu);
	if (n->holding.head)
		token = n->holding.head->base.token;
	pthread_mutex_unlock(&n->mu);
	dlki_file_name_put(n);
	return token;
}

static int locked(const struct report *r, off_t at, off_t len)
{
	return dlki_file_probe(r->fd, F_WRLCK, at, len) != F_UNLCK;
}

static void report_shares(struct report *r, uint32_t limit)
{
	struct file_seat seat;
	uint32_t i, from, seats = FILE_SEATS;
	int rest;

	if (limit && limit < seats)
		seats = limit;
	for (i = 0; i < seats; i++) {
		if (dlki_file_seat_load(r->fd, i, &seat) &&
		    locked(r, FILE_SEAT0 + i, 1))
			holder(r, &seat);
	}
	from = r->n_holders ? seats : 0;
	if (limit)
		rest = from < limit &&
		       locked(r, FILE_SEAT0 + from, limit - from);
	else
		rest = !r->n_holders && locked(r, FILE_MAIN, 1);
	if (!rest)
		return;
	/* Somebody without a record: say at least that there is one. */
	memset(&seat, 0, sizeof(seat));
	seat.shared = 1;
	holder(r, &seat);
}

/* A byte of the bench stays locked a moment longer than the wait. */
static void report_waiting(const struct report *r)
{
	struct file_seat who;
	unsigned int i, k;

	for (i = 0; i < FILE_BENCH; i++) {
		if (!locked(r, FILE_BENCH0 + i, 1) ||
		    !dlki_file_seat_load(r->fd, FILE_SEATS + i, &who))
			continue;
		for (k = 0; k < r->n_holders; k++) {
			if (who.session == r->holder[k].session &&
			    who.ticket == r->holder[k].ticket)
				break;
		}
		if (k == r->n_holders)
			party(r, &who, 1);
	}
}

static void report_holders(struct report *r, const struct dlk_claim *claim)
{
	struct file_header h;
	struct file_state st;
	struct file_seat who = { 0 };
	short type;

	if (dlki_file_load(r->fd, claim->kind, claim->name, &h, &st) < 0)
		return;
	if (claim->kind == DLK_SEMAPHORE) {
		if (st.limit)
			report_shares(r, (uint32_t)st.limit);
		return;
	}
	type = dlki_file_probe(r->fd, F_WRLCK, FILE_MAIN, 1);
	if (type == F_RDLCK) {
		report_shares(r, 0);
	} else if (type == F_WRLCK) {
		who.session = st.session;
		who.ticket = st.ticket;
		memcpy(who.label, st.label, sizeof(who.label));
		if (st.first == st.last)
			who.token = st.last;
		else if (st.session == r->s->id)
			who.token = own_token(r->s, claim->key);
		holder(r, &who);
	}
}

int dlki_file_inspect(struct dlk_session *base, const struct dlk_claim *claim,
		      void (*each)(const struct dlock_party *p, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct report r = { .s = file_session(base), .each = each, .arg = arg };
	char *file;
	int rc = dlki_file_dir_follow(r.s, err);

	(void)deadline;
	if (rc < 0)
		return rc;
	file = dlki_file_entry_name(r.s, claim->key, "");
	if (!file)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	r.fd = dlki_file_entry_read(r.s, file);
	if (r.fd >= 0) {
		report_holders(&r, claim);
		report_waiting(&r);
		close(r.fd);
	} else if (errno != ENOENT) {
		rc = dlki_file_fail(err, errno, "open lock file", file);
	}
	free(file);
	return rc;
}
