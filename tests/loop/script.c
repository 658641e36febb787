/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/script.h"
#include "support/address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct script *script_of(struct dlki_world *w)
{
	return (struct script *)w;
}

static dlk_time script_now(struct dlki_world *w)
{
	return script_of(w)->clock;
}

static int script_chance(struct dlki_world *w, void *out, size_t size)
{
	memset(out, 0x5a, size);
	return script_of(w)->chance_error;
}

static int script_connect(struct dlki_world *w, const struct dlki_address *to,
			  enum dlki_set set, struct dlki_tag tag)
{
	struct script *s = script_of(w);
	struct script_sock *k;

	if (s->connect_error)
		return s->connect_error;
	if (s->opened == SCRIPT_SOCKS)
		return -EMFILE;
	k = &s->socks[s->opened];
	k->is_open = 1;
	k->set = set;
	k->tag = tag;
	k->to = *to;
	k->writable_wanted = 1;
	k->finish = -EINPROGRESS;
	k->room = SCRIPT_BYTES;
	return s->opened++;
}

static int script_finish(struct dlki_world *w, int sock)
{
	return script_of(w)->socks[sock].finish;
}

static ssize_t script_read(struct dlki_world *w, int sock, void *out,
			   size_t size)
{
	struct script_sock *k = &script_of(w)->socks[sock];
	size_t n = k->in_to - k->in_from;

	script_of(w)->reads++;
	if (n == 0)
		return k->end == 0 ? -EAGAIN : k->end == 1 ? 0 : k->end;
	if (n > size)
		n = size;
	if (k->most && n > k->most)
		n = k->most;
	memcpy(out, k->in + k->in_from, n);
	k->in_from += n;
	return (ssize_t)n;
}

static ssize_t script_await(struct dlki_world *w, int sock, void *out,
			    size_t size)
{
	ssize_t n = script_read(w, sock, out, size);

	script_of(w)->awaits++;
	if (n == -EAGAIN)
		script_of(w)->clock += DLK_MS;
	return n;
}

static ssize_t script_write(struct dlki_world *w, int sock, const void *bytes,
			    size_t size)
{
	struct script *s = script_of(w);
	struct script_sock *k = &s->socks[sock];

	s->writes++;
	s->clock += s->per_write;
	if (k->room == 0)
		return -EAGAIN;
	if (size > k->room)
		size = k->room;
	memcpy(k->out + k->out_len, bytes, size);
	k->out_len += size;
	k->room -= size;
	return (ssize_t)size;
}

static void script_want(struct dlki_world *w, int sock, int writable)
{
	struct script_sock *k = &script_of(w)->socks[sock];

	k->writable_wanted = writable;
	if (writable && k->room > 0)
		k->bits |= DLKI_WRITABLE;
}

static void script_close(struct dlki_world *w, int sock)
{
	script_of(w)->socks[sock].is_open = 0;
}

static int script_wait(struct dlki_world *w, unsigned int sets,
		       struct dlki_event *out, int room, dlk_time until)
{
	struct script *s = script_of(w);
	int n = 0, kicked = 0;

	s->waits++;
	s->until = until;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set)) {
			kicked |= s->kicks[set];
			s->kicks[set] = 0;
		}
	}
	if (s->stray_bits)
		out[n++] = (struct dlki_event){ s->stray, s->stray_bits };
	s->stray_bits = 0;
	for (int i = 0; i < s->opened && n < room; i++) {
		struct script_sock *k = &s->socks[i];
		unsigned int bits = k->bits;

		if (!k->is_open || !(sets & DLKI_BIT(k->set)))
			continue;
		if (!k->writable_wanted)
			bits &= ~DLKI_WRITABLE;
		k->bits = 0;
		if (bits)
			out[n++] = (struct dlki_event){ k->tag, bits };
	}
	if (n == 0 && !kicked && until != DLK_FOREVER && until > s->clock)
		s->clock = until;
	return n;
}

static void script_kick(struct dlki_world *w, enum dlki_set set)
{
	script_of(w)->kicks[set]++;
}

static int script_resolve(struct dlki_world *w, const char *host, uint16_t port,
			  struct dlki_address *out, int room)
{
	struct script *s = script_of(w);

	(void)host;
	(void)port;
	s->resolved++;
	for (int i = 0; i < s->named && i < room; i++)
		out[i] = s->names[i % 8];
	return s->named;
}

static const struct dlki_world_type script_type = {
	.now = script_now,
	.chance = script_chance,
	.connect = script_connect,
	.finish = script_finish,
	.read = script_read,
	.await = script_await,
	.write = script_write,
	.want = script_want,
	.close = script_close,
	.wait = script_wait,
	.kick = script_kick,
	.resolve = script_resolve,
};

void script_init(struct script *s)
{
	memset(s, 0, sizeof(*s));
	s->base.type = &script_type;
	s->clock = 1000 * DLK_MS;
	for (int i = 0; i < SCRIPT_SOCKS; i++) {
		s->socks[i].in = malloc(SCRIPT_BYTES);
		s->socks[i].out = malloc(SCRIPT_BYTES + 1);
	}
}

void script_free(struct script *s)
{
	for (int i = 0; i < SCRIPT_SOCKS; i++) {
		free(s->socks[i].in);
		free(s->socks[i].out);
	}
}

void script_connected(struct script *s, int sock)
{
	s->socks[sock].finish = 0;
	s->socks[sock].bits |= DLKI_WRITABLE;
}

void script_refused(struct script *s, int sock, int error)
{
	s->socks[sock].finish = error;
	s->socks[sock].bits |= DLKI_WRITABLE | DLKI_READABLE | DLKI_ENDED;
}

void script_named(struct script *s, int n, const uint16_t ports[])
{
	s->named = n;
	for (int i = 0; i < n && ports; i++)
		address_tcp(&s->names[i], "127.0.0.1", ports[i]);
	s->kicks[DLKI_ANSWERS]++;
}

void script_says_bytes(struct script *s, int sock, const char *b, size_t n)
{
	struct script_sock *k = &s->socks[sock];

	if (k->in_from == k->in_to)
		k->in_from = k->in_to = 0;
	memcpy(k->in + k->in_to, b, n);
	k->in_to += n;
	k->bits |= DLKI_READABLE;
}

void script_says(struct script *s, int sock, const char *text)
{
	script_says_bytes(s, sock, text, strlen(text));
}

void script_ends(struct script *s, int sock)
{
	s->socks[sock].end = 1;
	s->socks[sock].bits |= DLKI_READABLE | DLKI_ENDED;
}

void script_room(struct script *s, int sock, size_t n)
{
	s->socks[sock].room = n;
	if (n > 0)
		s->socks[sock].bits |= DLKI_WRITABLE;
}

const char *script_heard(struct script *s, int sock)
{
	struct script_sock *k = &s->socks[sock];

	k->out[k->out_len] = '\0';
	k->out_len = 0;
	return k->out;
}
