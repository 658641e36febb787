/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of bytes, one way: bytes arrive in the order written, in pieces, by
 * and by, or not at all.  Times are true ones, in nanoseconds.
 */
#ifndef DLOCK_SIM_STREAM_H
#define DLOCK_SIM_STREAM_H

#include "sim/base/bytes.h"
#include "sim/world/weather.h"

#define SIM_NEVER INT64_MAX

struct sim_piece {
	int64_t at;
	size_t len;
};

struct sim_stream {
	struct sim_bytes flying, arrived;
	struct sim_piece *pieces; /* of the bytes that fly */
	size_t n_pieces, room;
	int64_t last_at;          /* bytes arrive in order */
	int64_t end_at;           /* the end of the stream; SIM_NEVER */
	int is_closed, is_ended;  /* the end was written; has arrived */
};

void sim_stream_begin(struct sim_stream *s);
void sim_stream_free(struct sim_stream *s);

/* Write the bytes, and return how many fit: fewer than `len` if the stream is
 * full. */
size_t sim_stream_write(struct sim_stream *s, const struct sim_weather *w,
			struct sim_chance *c, int64_t now, const void *bytes,
			size_t len);

/* Write the end, behind all bytes. */
void sim_stream_end(struct sim_stream *s, int64_t now);

/* Let bytes due by now arrive at `at`, and all others not before. */
void sim_stream_put_off(struct sim_stream *s, int64_t now, int64_t at);

/* Let all written bytes arrive now at the latest. */
void sim_stream_heal(struct sim_stream *s, int64_t now);

/* Return when the next bytes arrive; or SIM_NEVER. */
static inline int64_t sim_stream_due(const struct sim_stream *s)
{
	if (s->n_pieces > 0)
		return s->pieces[0].at;
	return s->is_ended ? SIM_NEVER : s->end_at;
}

/* Let due bytes arrive.  1: some have. */
int sim_stream_step(struct sim_stream *s, int64_t now);

#endif
