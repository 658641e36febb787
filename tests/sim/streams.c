/* SPDX-License-Identifier: Apache-2.0 */
/* Chance, and the streams of draws. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/base/chance.h"
#include "sim/world/stream.h"

static struct sim_chance chance;
static struct sim_stream stream;

static void begin(void)
{
	sim_chance_begin(&chance, 3);
	sim_stream_begin(&stream);
}

/* A sanitizer must see no pointer to leaked memory. */
static void end(void)
{
	sim_stream_free(&stream);
	sim_chance_end(&chance);
	memset(&stream, 0, sizeof(stream));
	memset(&chance, 0, sizeof(chance));
}

TestSuite(sim_streams, .init = begin, .fini = end, .timeout = 60);

static size_t put(const struct sim_weather *w, const char *text)
{
	return sim_stream_write(&stream, w, &chance, 0, text, strlen(text));
}

static const struct sim_weather wild = { .delay_us = 1000,
					 .split = 2,
					 .stall = 20,
					 .buffer = 100 };

/* Write 0, 1, 2, ... through a stream; returns how many pieces arrived. */
static size_t pump(struct sim_chance *c, size_t total, int64_t *took)
{
	struct sim_stream s;
	unsigned char out = 0, in = 0;
	size_t written = 0, arrived = 0, pieces = 0;
	int64_t now = 0;

	sim_stream_begin(&s);
	while (arrived < total) {
		int64_t due;

		while (written < total &&
		       sim_stream_write(&s, &wild, c, now, &out, 1) == 1) {
			out++;
			written++;
		}
		due = sim_stream_due(&s);
		cr_assert_neq(due, SIM_NEVER);
		cr_assert_geq(due, now, "it went back in time");
		now = due;
		pieces += sim_stream_step(&s, now) != 0;
		for (size_t i = 0; i < s.arrived.len; i++)
			cr_assert_eq(
				(unsigned char)sim_bytes_text(&s.arrived)[i],
				in++, "out of order");
		arrived += s.arrived.len;
		sim_bytes_take(&s.arrived, s.arrived.len);
	}
	sim_stream_free(&s);
	*took = now;
	return pieces;
}

Test(sim_streams, bytes_arrive_in_order)
{
	struct sim_chance c;
	int64_t took;

	for (uint64_t seed = 0; seed < 20; seed++) {
		sim_chance_begin(&c, seed);
		cr_assert_gt(pump(&c, 1000, &took), 1);
		sim_chance_end(&c);
	}
}

Test(sim_streams, a_write_is_split)
{
	struct sim_weather w = { .delay_us = 5000, .split = 1, .buffer = 100 };

	cr_assert_eq(put(&w, "0123456789"), 10);
	cr_assert_gt(stream.n_pieces, 1);
	cr_assert_eq(sim_stream_step(&stream, sim_stream_due(&stream)), 1);
	cr_assert_lt(stream.arrived.len, 10);
}

Test(sim_streams, a_full_buffer_takes_a_part)
{
	struct sim_weather w = { .delay_us = 1, .buffer = 4 };

	cr_assert_eq(put(&w, "0123456789"), 4);
	cr_assert_eq(put(&w, "456789"), 0);
	cr_assert_eq(sim_stream_step(&stream, 1000000), 1);
	cr_assert_eq(put(&w, "456789"), 0, "nobody has read");
	sim_bytes_take(&stream.arrived, 3);
	cr_assert_eq(put(&w, "456789"), 3);
}

Test(sim_streams, silence_hides_the_end)
{
	struct sim_weather w = { .delay_us = 1, .silence = 1, .buffer = 100 };

	put(&w, "x");
	sim_stream_end(&stream, 5);
	cr_assert_eq(sim_stream_due(&stream), SIM_NEVER);
	cr_assert_eq(sim_stream_step(&stream, INT64_MAX - 1), 0);
}

Test(sim_streams, the_end_comes_behind_the_bytes)
{
	struct sim_weather w = { .delay_us = 1000000, .buffer = 100 };

	put(&w, "x");
	sim_stream_end(&stream, 5);
	cr_assert_gt(sim_stream_due(&stream), 5);
	cr_assert_eq(sim_stream_step(&stream, sim_stream_due(&stream)), 1);
	cr_assert_eq(stream.arrived.len, 1);
	cr_assert(stream.is_ended, "bytes and the end are one event");
	cr_assert_eq(sim_stream_due(&stream), SIM_NEVER);
}

Test(sim_streams, a_log_repeats_the_run)
{
	struct sim_chance a, b;
	int64_t took, again;
	size_t pieces;
	FILE *f = tmpfile();

	cr_assert_not_null(f);
	sim_chance_begin(&a, 11);
	pieces = pump(&a, 500, &took);
	cr_assert_eq(sim_chance_save(&a, f), 0);
	rewind(f);
	sim_chance_begin(&b, 12);
	cr_assert_eq(sim_chance_replay(&b, f), 0);
	cr_assert_eq(pump(&b, 500, &again), pieces);
	cr_assert_eq(again, took);
	cr_assert_eq(a.n, b.n);
	sim_chance_end(&a);
	sim_chance_end(&b);
	fclose(f);
}

Test(sim_streams, behind_its_log_nothing_happens)
{
	struct sim_chance c;
	FILE *f = tmpfile();

	cr_assert_not_null(f);
	fputs("a 7\nb 8\n", f);
	rewind(f);
	sim_chance_begin(&c, 1);
	cr_assert_eq(sim_chance_replay(&c, f), 0);
	cr_assert_eq(sim_draw(&c, "a", 100), 7);
	cr_assert_eq(sim_draw(&c, "other", 100), 0);
	cr_assert_eq(sim_draw(&c, "b", 100), 0);
	sim_chance_end(&c);
	fclose(f);
}
