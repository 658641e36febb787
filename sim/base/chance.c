/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/chance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

enum { LOG_ROOM = 4096 };

void sim_chance_begin(struct sim_chance *c, uint64_t seed)
{
	*c = (struct sim_chance){ .state = seed, .room = LOG_ROOM };
	c->log = sim_alloc(LOG_ROOM * sizeof(*c->log));
}

void sim_chance_end(struct sim_chance *c)
{
	free(c->log);
	free(c->replay);
	free(c->sites);
	*c = (struct sim_chance){ 0 };
}

/* SplitMix64. */
uint64_t sim_next(struct sim_chance *c)
{
	uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t replayed(struct sim_chance *c, const char *site, uint64_t n)
{
	const struct sim_draw *draw = &c->replay[c->n];

	if (c->n >= c->n_replay)
		return 0;
	if (strcmp(draw->site, site) != 0) {
		c->n_replay = 0;
		return 0;
	}
	return draw->value % n;
}

uint64_t sim_draw(struct sim_chance *c, const char *site, uint64_t n)
{
	uint64_t value = c->replay ? replayed(c, site, n) : sim_next(c) % n;

	if (c->n == c->room) {
		c->room *= 2;
		c->log = sim_grow(c->log, c->room, sizeof(*c->log));
	}
	c->log[c->n++] = (struct sim_draw){ site, value };
	return value;
}

int sim_happens(struct sim_chance *c, const char *site, uint64_t rate)
{
	return rate > 0 && sim_draw(c, site, rate) == rate - 1;
}

uint64_t sim_draw_rate(struct sim_chance *c, const char *site, uint64_t in,
		       uint64_t n)
{
	return sim_draw(c, "kind", in) == 0 ? 20 + sim_draw(c, site, n) : 0;
}

uint64_t sim_draw_us(struct sim_chance *c, const char *site, uint64_t ms)
{
	return 1000 * (1 + sim_draw(c, site, ms));
}

void sim_chance_repeat(struct sim_chance *c, const struct sim_draw *draws,
		       size_t n)
{
	sim_chance_begin(c, 0);
	c->n_replay = n;
	c->replay = sim_alloc((n + 1) * sizeof(*draws));
	memcpy(c->replay, draws, n * sizeof(*draws));
}

int sim_chance_save(const struct sim_chance *c, FILE *to)
{
	for (size_t i = 0; i < c->n; i++) {
		if (fprintf(to, "%s %" PRIu64 "\n", c->log[i].site,
			    c->log[i].value) < 0)
			return -1;
	}
	return fflush(to) == 0 ? 0 : -1;
}

/* Read all of a file, with a zero behind it. */
static char *read_all(FILE *from)
{
	size_t len = 0, room = 0, n;
	char *text = NULL;

	do {
		room = 2 * room + 4096;
		text = sim_grow(text, room, 1);
		n = fread(text + len, 1, room - len - 1, from);
		len += n;
	} while (n > 0);
	text[len] = '\0';
	return text;
}

int sim_chance_replay(struct sim_chance *c, FILE *from)
{
	size_t room = 0;
	char *at;

	c->sites = read_all(from);
	for (char *line = strtok_r(c->sites, "\n", &at); line;
	     line = strtok_r(NULL, "\n", &at)) {
		char *blank = strchr(line, ' ');

		if (!blank)
			return -1;
		*blank = '\0';
		if (c->n_replay == room) {
			room = 2 * room + 256;
			c->replay = sim_grow(c->replay, room,
					     sizeof(*c->replay));
		}
		c->replay[c->n_replay++] = (struct sim_draw){
			line, strtoull(blank + 1, NULL, 10)
		};
	}
	return c->replay ? 0 : -1;
}
