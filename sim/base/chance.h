/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chance of a simulation, all of which comes from a seed, or from the log of an
 * earlier run.
 *
 * Each draw has a site, the name of the question, and a value.  If the question
 * is whether a fault occurs, 0 is no.  Draws are logged; a run with the log of
 * another repeats that run, and a log with some values set to 0 is the same run
 * with fewer faults.  A site is a string literal.
 */
#ifndef DLOCK_SIM_CHANCE_H
#define DLOCK_SIM_CHANCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sim_draw {
	const char *site;
	uint64_t value;
};

struct sim_chance {
	uint64_t state;
	struct sim_draw *log;
	size_t n, room;
	struct sim_draw *replay; /* or NULL */
	size_t n_replay;
	char *sites;             /* the text of a log from a file, or NULL */
};

void sim_chance_begin(struct sim_chance *c, uint64_t seed);
void sim_chance_end(struct sim_chance *c);

/* Any number, which is not logged. */
uint64_t sim_next(struct sim_chance *c);

/* A number of [0, n); n >= 1.  `site` has no blanks. */
uint64_t sim_draw(struct sim_chance *c, const char *site, uint64_t n);

/* The rate of a fault, 20 to 19 + n, in a weather of `in`; else 0. */
uint64_t sim_draw_rate(struct sim_chance *c, const char *site, uint64_t in,
		       uint64_t n);

/* A longest time: 1 to `ms` ms, in us. */
uint64_t sim_draw_us(struct sim_chance *c, const char *site, uint64_t ms);

/* Let the next run repeat these draws, which are copied. */
void sim_chance_repeat(struct sim_chance *c, const struct sim_draw *draws,
		       size_t n);

/* 1 with a probability of 1 / rate; never, and without a draw, if `rate` is
 * 0. */
int sim_happens(struct sim_chance *c, const char *site, uint64_t rate);

/* A line a draw: "SITE VALUE".  0, or -1 and errno. */
int sim_chance_save(const struct sim_chance *c, FILE *to);

/* Draw from such a log until a site differs from the log's; from then on, and
 * behind the log's end, each draw is 0.  0; -1: the file is no log. */
int sim_chance_replay(struct sim_chance *c, FILE *from);

#endif
