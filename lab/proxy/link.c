/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/proxy/impl.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_MAX 65536
#define QUEUE_MAX ((size_t)4 * READ_MAX)
#define LINGER_MS 500
#define REDIAL_MS 20

static void drop_chunks(struct lab_stream *s)
{
	struct lab_chunk *c;

	while (s->head) {
		c = s->head;
		s->head = c->next;
		free(c);
	}
	s->tail = &s->head;
	s->queued = 0;
}

static int dial(struct lab_proxy *p, struct lab_link *l)
{
	struct sockaddr_in addr = lab_sockaddr(&p->to);
	int on = 1;

	l->fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			  0);
	if (l->fd[1] < 0)
		return -1;
	setsockopt(l->fd[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->dialing = false;
	if (connect(l->fd[1], (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return 0;
	l->dialing = errno == EINPROGRESS;
	return l->dialing ? 0 : -1;
}

/* Dial again later, or reset the link if it may not wait.  In a hole neither
 * the request nor the refusal would have passed. */
static void unreached(struct lab_proxy *p, struct lab_link *l)
{
	bool hole = p->fault[LAB_UP].hole || p->fault[LAB_DOWN].hole;

	p->stats[LAB_UNREACHED]++;
	if (!hole && lab_now() >= l->give_up) {
		lab_link_reset(p, l);
		return;
	}
	if (l->fd[1] >= 0)
		close(l->fd[1]);
	l->fd[1] = -1;
	l->dialing = true;
	l->redial = lab_after_ms(REDIAL_MS);
}

void lab_link_redial(struct lab_proxy *p, struct lab_link *l)
{
	if (!l->redial || lab_now() < l->redial)
		return;
	l->redial = 0;
	if (dial(p, l) < 0)
		unreached(p, l);
}

void lab_link_new(struct lab_proxy *p, int client)
{
	struct lab_link *l = calloc(1, sizeof(*l));
	int on = 1;

	if (!l) {
		close(client);
		return;
	}
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->fd[0] = client;
	l->fd[1] = -1;
	for (int w = 0; w < 2; w++)
		l->stream[w].tail = &l->stream[w].head;
	l->next = p->links;
	p->links = l;
	p->stats[LAB_ACCEPTED]++;
	p->stats[LAB_OPEN]++;
	l->give_up = lab_after_ms(p->patience_ms);
	if (dial(p, l) < 0)
		unreached(p, l);
}

void lab_link_free(struct lab_proxy *p, struct lab_link *l)
{
	for (int w = 0; w < 2; w++) {
		drop_chunks(&l->stream[w]);
		if (l->fd[w] >= 0)
			close(l->fd[w]);
	}
	p->stats[LAB_OPEN]--;
	free(l);
}

/* Lingering for no time makes close(2) send RST. */
void lab_link_reset(struct lab_proxy *p, struct lab_link *l)
{
	struct linger none = { .l_onoff = 1 };

	if (l->dead)
		return;
	for (int w = 0; w < 2; w++) {
		if (l->fd[w] < 0)
			continue;
		setsockopt(l->fd[w], SOL_SOCKET, SO_LINGER, &none,
			   sizeof(none));
		close(l->fd[w]);
		l->fd[w] = -1;
	}
	l->dead = true;
	p->stats[LAB_RESET]++;
}

/* close(2) with unread bytes sends RST, which may overtake the last bytes sent:
 * so send FIN both ways, and read on for a while. */
static void finish_link(struct lab_link *l)
{
	l->stream[LAB_UP].over = l->stream[LAB_DOWN].over = true;
	l->linger = LAB_FOREVER;
}

static void note_told(struct lab_link *l, enum lab_way way)
{
	l->stream[way].shut = true;
	if (l->linger && l->stream[!way].shut)
		l->linger = lab_after_ms(LINGER_MS);
}

/* The receiver of `way` has got all, and hears of the end. */
static void tell_end(struct lab_proxy *p, struct lab_link *l, enum lab_way way)
{
	struct lab_stream *s = &l->stream[way];

	if (s->shut)
		return;
	if (s->broken) {
		lab_link_reset(p, l);
		return;
	}
	shutdown(l->fd[!way], SHUT_WR);
	note_told(l, way);
}

/* The receiver of `way` is gone.  Bytes that it sent before may still be on the
 * way, and the other side may not know yet; a client learns of it by RST, as on
 * a connection of the client's own, even after a FIN. */
static void receiver_gone(struct lab_link *l, enum lab_way way)
{
	struct lab_stream *back = &l->stream[!way];

	drop_chunks(&l->stream[way]);
	note_told(l, way);
	if (way == LAB_DOWN) {
		back->ended = back->over = true;
	} else if (!l->linger) {
		back->broken = true;
		back->shut = false;
	}
}

/* The sender's kernel reports the end instead of more bytes. */
static void sender_gone(struct lab_link *l, enum lab_way way)
{
	l->stream[way].ended = l->stream[way].over = true;
	receiver_gone(l, way == LAB_UP ? LAB_DOWN : LAB_UP);
}

/* The server may have sent bytes and be gone already: SO_ERROR would not tell
 * such a server from an unreachable one. */
void lab_link_dialed(struct lab_proxy *p, struct lab_link *l)
{
	char byte;

	l->dialing = false;
	if (recv(l->fd[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
	    errno == EAGAIN)
		return;
	if (errno == ECONNRESET)
		sender_gone(l, LAB_DOWN);
	else
		unreached(p, l);
}

static bool triggers(struct lab_once *once, const char *data, size_t len)
{
	if (!once->armed)
		return false;
	if (*once->match &&
	    !memmem(data, len, once->match, strlen(once->match)))
		return false;
	once->armed = false;
	return true;
}

/* True if this chunk from the server vanishes. */
static bool swallowed(struct lab_proxy *p, struct lab_link *l)
{
	if (p->swallow.armed && !*p->swallow.match)
		p->swallow.armed = false;
	else if (!l->swallow)
		return false;
	l->swallow = false;
	p->stats[LAB_SWALLOWED]++;
	if (p->then == LAB_THEN_CLOSE)
		finish_link(l);
	else if (p->then == LAB_THEN_RESET)
		lab_link_reset(p, l);
	else if (p->then == LAB_THEN_STRAND)
		l->stranded = true;
	return true;
}

static void enqueue(struct lab_proxy *p, struct lab_link *l, enum lab_way way,
		    const char *data, size_t len)
{
	struct lab_stream *s = &l->stream[way];
	struct lab_chunk *c;

	p->stats[way == LAB_UP ? LAB_UP_CHUNKS : LAB_DOWN_CHUNKS]++;
	if (way == LAB_DOWN && swallowed(p, l))
		return;
	if (s->over || s->shut)
		return;
	c = malloc(sizeof(*c) + len);
	if (!c) {
		lab_link_reset(p, l);
		return;
	}
	c->next = NULL;
	c->len = len;
	c->sent = 0;
	c->due = p->fault[way].delay_ns ? lab_now() + p->fault[way].delay_ns :
					  0;
	memcpy(c->data, data, len);
	if (way == LAB_UP && *p->swallow.match &&
	    triggers(&p->swallow, data, len))
		l->swallow = true;
	if (way == LAB_UP && triggers(&p->hold, data, len)) {
		c->due = LAB_FOREVER;
		p->stats[LAB_HELD]++;
	}
	*s->tail = c;
	s->tail = &c->next;
	s->queued += len;
}

void lab_link_read(struct lab_proxy *p, struct lab_link *l, enum lab_way way)
{
	struct lab_stream *s = &l->stream[way];
	char data[READ_MAX];
	ssize_t n = recv(l->fd[way], data, sizeof(data), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && !l->linger) {
		enqueue(p, l, way, data, (size_t)n);
	} else if (n < 0) {
		sender_gone(l, way);
	} else if (n == 0) {
		s->ended = s->over = true;
	}
	if (!l->dead)
		lab_link_flush(p, l, way);
}

/* How much of the chunk may go now; 0 is none. */
static size_t allowed(const struct lab_fault *f, const struct lab_stream *s,
		      int64_t now)
{
	size_t len = s->head->len - s->head->sent;

	if (s->head->due > now || (f->drip_ns && s->next_byte > now))
		return 0;
	if (f->drip_ns)
		len = 1;
	if (f->cut >= 0 && (int64_t)len > f->cut - s->passed)
		len = (size_t)(f->cut - s->passed);
	return len;
}

static void note_sent(struct lab_proxy *p, struct lab_stream *s,
		      enum lab_way way, size_t n)
{
	struct lab_chunk *c = s->head;

	p->stats[way == LAB_UP ? LAB_UP_BYTES : LAB_DOWN_BYTES] += n;
	s->passed += (int64_t)n;
	s->queued -= n;
	c->sent += n;
	if (p->fault[way].drip_ns)
		s->next_byte = lab_now() + p->fault[way].drip_ns;
	if (c->sent < c->len)
		return;
	s->head = c->next;
	if (!s->head)
		s->tail = &s->head;
	free(c);
}

static bool cut_now(const struct lab_fault *f, const struct lab_stream *s)
{
	return f->cut >= 0 && s->passed >= f->cut;
}

static bool holed(const struct lab_fault *f, const struct lab_link *l)
{
	return f->hole || l->stranded;
}

void lab_link_flush(struct lab_proxy *p, struct lab_link *l, enum lab_way way)
{
	struct lab_stream *s = &l->stream[way];
	const struct lab_fault *f = &p->fault[way];
	size_t len;
	ssize_t n;

	while (s->head && !holed(f, l) && !l->dialing) {
		len = allowed(f, s, lab_now());
		if (!len)
			break;
		n = send(l->fd[!way], s->head->data + s->head->sent, len,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			receiver_gone(l, way);
			return;
		}
		note_sent(p, s, way, (size_t)n);
	}
	if (cut_now(f, s) && !l->dialing) {
		drop_chunks(s);
		if (!l->linger) {
			p->stats[LAB_CUT]++;
			finish_link(l);
		}
	}
	if (!s->head && s->over && !holed(f, l) && !l->dialing)
		tell_end(p, l, way);
}

bool lab_link_wants(const struct lab_proxy *p, const struct lab_link *l,
		    enum lab_way way)
{
	const struct lab_stream *s = &l->stream[way];

	if (s->ended || (way == LAB_DOWN && l->dialing))
		return false;
	return l->linger ||
	       (!holed(&p->fault[way], l) && s->queued < QUEUE_MAX);
}

int64_t lab_link_due(const struct lab_proxy *p, const struct lab_link *l,
		     enum lab_way way)
{
	const struct lab_stream *s = &l->stream[way];

	if (!s->head || holed(&p->fault[way], l) || l->dialing)
		return LAB_FOREVER;
	if (p->fault[way].drip_ns && s->next_byte > s->head->due)
		return s->next_byte;
	return s->head->due;
}
