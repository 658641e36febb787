/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/link.h"

#include <errno.h>
#include <string.h>

#include "core/base/error.h"

void dlki_link_init(struct dlki_link *l, struct dlki_world *world,
		    enum dlki_set set, uint32_t place)
{
	memset(l, 0, sizeof(*l));
	l->world = world;
	l->set = set;
	l->tag.place = place;
	l->sock = -1;
}

void dlki_link_free(struct dlki_link *l)
{
	dlki_bytes_free(&l->out);
	dlki_bytes_free(&l->going);
	dlki_bytes_free(&l->sealed);
	dlki_flight_free(&l->flight);
}

int dlki_link_connect(struct dlki_link *l, const struct dlki_address *to)
{
	int sock = l->world->type->connect(l->world, to, l->set, l->tag);

	if (sock < 0)
		return sock;
	l->sock = sock;
	l->state = DLKI_LINK_CONNECTING;
	l->hung_up = 0;
	return 0;
}

int dlki_link_finish(struct dlki_link *l)
{
	int rc = l->world->type->finish(l->world, l->sock);

	if (rc != 0)
		return rc;
	l->state = DLKI_LINK_GREETING;
	l->world->type->want(l->world, l->sock, 0);
	return 0;
}

void dlki_link_secure(struct dlki_link *l, struct dlki_tls_context *tls,
		      const char *host, const char *peer)
{
	struct dlk_error err;

	l->tls = tls->type->begin(tls, host, peer, &err);
	if (l->tls)
		l->state = DLKI_LINK_SECURING;
	else
		dlki_link_cut(l, err.code, err.text);
}

int64_t dlki_link_append(struct dlki_link *l, int verb, struct dlki_op *op,
			 const void *bytes, size_t len)
{
	struct dlki_slot slot = {
		.op = op,
		.start = l->appended,
		.verb = verb,
	};

	if (dlki_flight_reserve(&l->flight) != 0 ||
	    dlki_bytes_reserve(&l->out, len) != 0)
		return -1;
	dlki_bytes_append(&l->out, bytes, len);
	l->appended += len;
	return (int64_t)dlki_flight_add(&l->flight, slot);
}

/* ---- Writing ------------------------------------------------------------- */

static void take_output(struct dlki_link *l)
{
	if (dlki_bytes_len(&l->going) == 0) {
		struct dlki_bytes empty = l->going;

		l->going = l->out;
		l->out = empty;
	}
}

/* Seal the next ciphertext: the session's own, else a record of requests.  The
 * record begins with the first byte of `sealed`: a byte taken is a byte of the
 * record. */
static void seal(struct dlki_link *l)
{
	const struct dlki_tls_type *type = l->tls->type;
	size_t len = dlki_bytes_len(&l->going);
	struct dlk_error err;
	int rc = 0;

	if (dlki_bytes_len(&l->sealed) > 0)
		return;
	l->sealed_to = l->written;
	if (type->pending(l->tls) == 0 && len > 0) {
		if (len > DLKI_TLS_RECORD)
			len = DLKI_TLS_RECORD;
		rc = type->write(l->tls, dlki_bytes_at(&l->going), len, &err);
		dlki_bytes_take(&l->going, len);
		l->sealed_to += len;
	}
	if (rc == 0)
		rc = type->take(l->tls, &l->sealed, &err);
	if (rc != 0)
		dlki_link_cut(l, err.code, err.text);
}

/* Write once.  `since` is in the slots before the bytes are with the kernel,
 * because the answer may be here before this thread has the mutex again. */
static void write_once(struct dlki_link *l, pthread_mutex_t *mu)
{
	struct dlki_bytes *from = l->tls ? &l->sealed : &l->going;
	struct dlki_world *w = l->world;
	dlk_time since = w->type->now(w);
	size_t len = dlki_bytes_len(from);
	ssize_t n;

	dlki_flight_mark(&l->flight, l->tls ? l->sealed_to : l->written + len,
			 since);
	pthread_mutex_unlock(mu);
	n = w->type->write(w, l->sock, dlki_bytes_at(from), len);
	pthread_mutex_lock(mu);
	if (n > 0) {
		dlki_bytes_take(from, (size_t)n);
		l->written = l->tls ? l->sealed_to : l->written + (size_t)n;
	}
	if (n == (ssize_t)len)
		return;
	dlki_flight_unmark(&l->flight, l->written);
	if (n > 0)
		return;
	if (n == -EAGAIN) {
		l->blocked = 1;
		l->blocked_at = since;
		w->type->want(w, l->sock, 1);
	} else {
		dlki_link_cut(l, DLOCK_EUNREACHABLE, dlki_errno_text((int)-n));
	}
}

void dlki_link_write(struct dlki_link *l, pthread_mutex_t *mu)
{
	l->writing = 1;
	while (dlki_link_has_output(l) && !l->blocked && !l->cut) {
		take_output(l);
		if (l->tls)
			seal(l);
		if (!l->cut)
			write_once(l, mu);
	}
	l->writing = 0;
}

/* ---- Reading ------------------------------------------------------------- */

/* Room in the reader's buffer for a record begun by an earlier read. */
enum { RECORD_ROOM = 20 * 1024 };

/* Replace `n` bytes of ciphertext at `out` by all plaintext of whole records.
 * With plaintext left, or a failure behind plaintext, the link stays
 * readable. */
static size_t unseal(struct dlki_link *l, char *out, size_t n)
{
	const struct dlki_tls_type *type = l->tls->type;
	struct dlk_error err;
	size_t len = 0;
	ssize_t k = 0;

	if (type->feed(l->tls, out, n, &err) != 0) {
		dlki_link_cut(l, err.code, err.text);
		return 0;
	}
	if (l->state == DLKI_LINK_SECURING) {
		if (l->tls->up) {
			l->state = DLKI_LINK_GREETING;
			l->readable = 1;
		}
		return 0;
	}
	while (len < DLKI_INPUT) {
		k = type->read(l->tls, out + len, DLKI_INPUT - len, &err);
		if (k <= 0)
			break;
		len += (size_t)k;
	}
	if (k < 0 && len == 0)
		dlki_link_cut(l, err.code, err.text);
	else if (k != 0)
		l->readable = 1;
	return len;
}

typedef ssize_t read_fn(struct dlki_world *w, int sock, void *out, size_t size);

static size_t read_by(read_fn *read, struct dlki_link *l, pthread_mutex_t *mu,
		      char *out, size_t *left)
{
	int ended = l->ended;
	size_t size = *left;
	size_t len = 0;
	ssize_t n;

	if (l->tls && size > DLKI_INPUT - RECORD_ROOM)
		size = DLKI_INPUT - RECORD_ROOM;
	l->readable = 0;
	l->reading = 1;
	if (mu)
		pthread_mutex_unlock(mu);
	n = read(l->world, l->sock, out, size);
	if (mu)
		pthread_mutex_lock(mu);
	l->reading = 0;
	if (n > 0) {
		l->slow = 0;
		len = (size_t)n;
		*left -= len;
		/* All of the buffer: there may be more.  With the end behind
		 * the bytes no other event comes. */
		if (n == (ssize_t)size || ended)
			l->readable = 1;
	}
	if (l->tls && !l->cut)
		len = unseal(l, out, len);
	if (n > 0 || n == -EAGAIN)
		return len;
	if (len > 0)
		l->readable = 1; /* once more, for the end */
	l->hung_up = n == 0 && len == 0;
	if (l->hung_up)
		dlki_link_cut(l, DLOCK_EUNREACHABLE,
			      l->state == DLKI_LINK_SECURING ?
				      "the server closed the connection in the "
				      "TLS handshake" :
				      "the server closed the connection");
	else if (len == 0)
		dlki_link_cut(l, DLOCK_EUNREACHABLE, dlki_errno_text((int)-n));
	return len;
}

size_t dlki_link_read(struct dlki_link *l, pthread_mutex_t *mu, char *out,
		      size_t *left)
{
	return read_by(l->world->type->read, l, mu, out, left);
}

size_t dlki_link_await(struct dlki_link *l, pthread_mutex_t *mu, char *out)
{
	size_t left = DLKI_INPUT;

	l->slow = 1;
	return read_by(l->world->type->await, l, mu, out, &left);
}

int dlki_link_can_await(const struct dlki_link *l)
{
	return l->state == DLKI_LINK_UP && l->flight.first != l->flight.end &&
	       !l->slow && !l->readable && !l->blocked && !l->cut &&
	       !dlki_link_has_output(l) && l->world->type->await;
}

/* ---- The end ------------------------------------------------------------- */

void dlki_link_cut(struct dlki_link *l, int code, const char *why)
{
	if (l->cut || l->state == DLKI_LINK_DOWN)
		return;
	l->cut = 1;
	dlk_fail(&l->why, code, "%s", why);
}

void dlki_link_doubt(struct dlki_link *l, dlk_time since, dlk_time now)
{
	if (l->state == DLKI_LINK_UP && !l->cut && since != 0 &&
	    l->heard < since && now - since >= 2 * l->took)
		l->doubted = since;
}

void dlki_link_cut_silent(struct dlki_link *l)
{
	if (l->doubted != 0 && l->heard < l->doubted)
		dlki_link_cut(l, DLOCK_EUNREACHABLE, "no answer in time");
	l->doubted = 0;
}

int dlki_link_was_sent(const struct dlki_link *l, const struct dlki_slot *s)
{
	return s->start < l->written;
}

/* Say goodbye, if the kernel takes the bytes at once.  While a record waits, no
 * record can follow. */
static void say_goodbye(struct dlki_link *l)
{
	struct dlk_error err;
	size_t len;

	if (!l->tls || dlki_bytes_len(&l->sealed) > 0)
		return;
	l->tls->type->goodbye(l->tls);
	if (l->tls->type->take(l->tls, &l->sealed, &err) != 0)
		return;
	len = dlki_bytes_len(&l->sealed);
	if (len > 0)
		(void)l->world->type->write(l->world, l->sock,
					    dlki_bytes_at(&l->sealed), len);
}

void dlki_link_close(struct dlki_link *l)
{
	say_goodbye(l);
	l->tag.generation++;
	l->world->type->close(l->world, l->sock);
	l->sock = -1;
	l->state = DLKI_LINK_DOWN;
	l->readable = l->ended = l->slow = l->blocked = l->cut = 0;
	l->doubted = 0;
	dlki_bytes_clear(&l->out);
	dlki_bytes_clear(&l->going);
	dlki_bytes_clear(&l->sealed);
	dlki_flight_clear(&l->flight);
	l->appended = l->written = 0;
	if (l->tls)
		l->tls->type->end(l->tls);
	l->tls = NULL;
}
