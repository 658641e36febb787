/* SPDX-License-Identifier: Apache-2.0 */
/* Events: into the hash of a run, and into the trace. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/world/net.h"

static void mix(struct sim_net *n, uint64_t value)
{
	n->hash = ((n->hash << 23 | n->hash >> 41) ^ value) *
		  UINT64_C(0x9e3779b97f4a7c15);
}

static void mix_text(struct sim_net *n, const char *text)
{
	size_t left = strlen(text);
	uint64_t word;

	for (; left >= sizeof(word); left -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		mix(n, word);
		text += sizeof(word);
	}
	word = left;
	memcpy((char *)&word + 1, text, left);
	mix(n, word);
}

/* The format and the arguments; to print them all takes five times as long. */
static void mix_args(struct sim_net *n, const char *fmt, va_list ap)
{
	mix_text(n, fmt);
	while ((fmt = strchr(fmt, '%'))) {
		fmt++;
		if (*fmt == 's')
			mix_text(n, va_arg(ap, const char *));
		else if (*fmt == 'l' || *fmt == 'z')
			mix(n, va_arg(ap, uint64_t));
		else
			mix(n, (uint64_t)va_arg(ap, int));
	}
}

static void print(const struct sim_net *n, const char *fmt, va_list ap)
{
	fprintf(n->trace, "%9" PRId64 ".%03" PRId64 " ", n->now / 1000000,
		n->now / 1000 % 1000);
	vfprintf(n->trace, fmt, ap);
	fputc('\n', n->trace);
}

void sim_net_note(struct sim_net *n, const char *fmt, ...)
{
	va_list ap;

	n->events++;
	mix(n, (uint64_t)n->now);
	va_start(ap, fmt);
	mix_args(n, fmt, ap);
	va_end(ap);
	if (!n->trace)
		return;
	va_start(ap, fmt);
	print(n, fmt, ap);
	va_end(ap);
}
