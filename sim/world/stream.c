/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/stream.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

enum { US = 1000 };

static const int64_t second = INT64_C(1000000000);

void sim_stream_begin(struct sim_stream *s)
{
	*s = (struct sim_stream){ .end_at = SIM_NEVER };
}

void sim_stream_free(struct sim_stream *s)
{
	sim_bytes_free(&s->flying);
	sim_bytes_free(&s->arrived);
	free(s->pieces);
	sim_stream_begin(s);
}

static void add_piece(struct sim_stream *s, const char *bytes, size_t len)
{
	if (s->n_pieces == s->room) {
		s->room = 2 * s->room + 4;
		s->pieces = sim_grow(s->pieces, s->room, sizeof(*s->pieces));
	}
	s->pieces[s->n_pieces++] = (struct sim_piece){ s->last_at, len };
	sim_bytes_add(&s->flying, bytes, len);
}

/* When the next piece arrives. */
static int64_t arrival(const struct sim_stream *s, const struct sim_weather *w,
		       struct sim_chance *c, int64_t now)
{
	int64_t at = now + US + US * (int64_t)sim_draw(c, "delay", w->delay_us);

	if (s->last_at == SIM_NEVER || sim_happens(c, "silence", w->silence))
		return SIM_NEVER;
	if (sim_happens(c, "stall", w->stall))
		at += second / 10 * (int64_t)(1 + sim_draw(c, "stall:for", 40));
	return at > s->last_at ? at : s->last_at;
}

size_t sim_stream_write(struct sim_stream *s, const struct sim_weather *w,
			struct sim_chance *c, int64_t now, const void *bytes,
			size_t len)
{
	size_t taken = s->flying.len + s->arrived.len;
	size_t room = taken < w->buffer ? w->buffer - taken : 0;
	const char *at = bytes;
	size_t left;

	len = len < room ? len : room;
	for (left = len; left > 0;) {
		size_t n = left;

		if (left > 1 && sim_happens(c, "split", w->split))
			n = 1 + sim_draw(c, "split:at", left - 1);
		s->last_at = arrival(s, w, c, now);
		add_piece(s, at, n);
		at += n;
		left -= n;
	}
	return len;
}

void sim_stream_end(struct sim_stream *s, int64_t now)
{
	s->is_closed = 1;
	s->end_at = now > s->last_at ? now : s->last_at;
}

void sim_stream_put_off(struct sim_stream *s, int64_t now, int64_t at)
{
	if (sim_stream_due(s) > now)
		return;
	for (size_t i = 0; i < s->n_pieces && s->pieces[i].at < at; i++)
		s->pieces[i].at = at;
	if (s->last_at < at)
		s->last_at = at;
	if (s->end_at < at)
		s->end_at = at;
}

void sim_stream_heal(struct sim_stream *s, int64_t now)
{
	for (size_t i = 0; i < s->n_pieces; i++) {
		if (s->pieces[i].at > now)
			s->pieces[i].at = now;
	}
	if (s->last_at > now)
		s->last_at = now;
	if (s->is_closed && s->end_at > now)
		s->end_at = now;
}

int sim_stream_step(struct sim_stream *s, int64_t now)
{
	size_t n = 0, len = 0;

	if (sim_stream_due(s) > now)
		return 0;
	for (; n < s->n_pieces && s->pieces[n].at <= now; n++)
		len += s->pieces[n].len;
	s->n_pieces -= n;
	if (n > 0)
		memmove(s->pieces, s->pieces + n,
			s->n_pieces * sizeof(*s->pieces));
	sim_bytes_add(&s->arrived, sim_bytes_text(&s->flying), len);
	sim_bytes_take(&s->flying, len);
	if (s->n_pieces == 0 && !s->is_ended && s->end_at <= now) {
		s->is_ended = 1;
		return 1;
	}
	return n > 0;
}
