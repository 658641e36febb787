/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/impl.h"

#include <dlock/dlock.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

const char *lab_say_number(char text[LAB_SHORT], double value)
{
	double size = fabs(value);
	int64_t scale = size < 1 ? 1000 : size < 10 ? 100 : size < 100 ? 10 : 1;
	int decimals = size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0;
	int64_t whole;
	size_t end;

	if (!isfinite(value) || size >= 1e15) {
		snprintf(text, LAB_SHORT,
			 isnan(value) ? "–" :
			 value > 0    ? "> 10^15" :
					"< -10^15");
		return text;
	}
	whole = llround(size * (double)scale);
	snprintf(text, LAB_SHORT, "%s%" PRId64, value < 0 && whole ? "-" : "",
		 whole / scale);
	if (whole % scale == 0)
		return text;
	end = strlen(text);
	snprintf(text + end, LAB_SHORT - end, ".%0*" PRId64, decimals,
		 whole % scale);
	for (end = strlen(text); text[end - 1] == '0'; end--)
		text[end - 1] = '\0';
	return text;
}

const char *lab_say_ms(char text[LAB_SHORT], double ms)
{
	char number[LAB_SHORT];
	bool long_ago = fabs(ms) >= 1000;

	if (!isfinite(ms))
		return lab_say_number(text, NAN);
	if (ms >= 60000 && ms < 1e12) {
		int64_t seconds = llround(ms / 1000);

		snprintf(text, LAB_SHORT, "%" PRId64 " min %" PRId64 " s",
			 seconds / 60, seconds % 60);
		return text;
	}
	lab_say_number(number, long_ago ? ms / 1000 : ms);
	snprintf(text, LAB_SHORT, "%.50s %s", number, long_ago ? "s" : "ms");
	return text;
}

const char *lab_say_value(char text[LAB_SHORT], double value, const char *unit)
{
	char number[LAB_SHORT];
	bool us = strcmp(unit, "us") == 0;

	if (isfinite(value) && us && fabs(value) >= 1000)
		return lab_say_ms(text, value / 1000);
	if (isfinite(value) && strcmp(unit, "ms") == 0)
		return lab_say_ms(text, value);
	lab_say_number(number, value);
	snprintf(text, LAB_SHORT, "%.20s%s%.40s", number,
		 *unit && isfinite(value) ? " " : "",
		 isfinite(value) ? lab_say_unit(unit) : "");
	return text;
}

const char *lab_say_stop(const char *sentence)
{
	size_t n = strlen(sentence);

	return n && strchr(".!?", sentence[n - 1]) ? "" : ".";
}

const char *lab_say_date(char text[LAB_SHORT], int64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&at, &tm) ||
	    !strftime(text, LAB_SHORT, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(text, LAB_SHORT, "unknown");
	return text;
}

const char *lab_say_busy(char text[LAB_SHORT], const struct lab_run *run)
{
	snprintf(text, LAB_SHORT, "%d %% of the time", run->busy_percent);
	return text;
}

const char *lab_say_seed(char text[LAB_SHORT], uint64_t seed)
{
	snprintf(text, LAB_SHORT, "%" PRIu64, seed);
	return text;
}

const char *lab_say_caps(char text[256], uint32_t caps)
{
	size_t used = 0;

	text[0] = '\0';
	for (int bit = 0; bit < 32; bit++) {
		const char *name = NULL;

		if (caps & 1U << bit)
			name = dlock_cap_name(1U << bit);
		if (name && used + strlen(name) + 2 < 256)
			used += (size_t)snprintf(text + used, 256 - used,
						 "%s%s", used ? " " : "", name);
	}
	return text;
}

double lab_text_wide(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return 8.2 * (double)n;
}

double lab_tick_step(double span)
{
	double step;

	if (!(span > 0) || !isfinite(span))
		return 1;
	step = pow(10, floor(log10(span / LAB_TICKS)));
	if (span / step <= LAB_TICKS)
		return step;
	return span / step <= 2 * LAB_TICKS ? 2 * step :
	       span / step <= 5 * LAB_TICKS ? 5 * step :
					      10 * step;
}

const char *lab_say_unit(const char *unit)
{
	return strcmp(unit, "us") == 0 ? "µs" : unit;
}

const char *lab_say_symbol(enum lab_outcome outcome)
{
	static const char *const symbols[LAB_NOUTCOMES] = {
		[LAB_OUTCOME_NOT_RUN] = "○", [LAB_OUTCOME_KEPT] = "✓",
		[LAB_OUTCOME_REFUSED] = "⊘", [LAB_OUTCOME_LOSS] = "△",
		[LAB_OUTCOME_BROKEN] = "✗",  [LAB_OUTCOME_LIE] = "✗✗",
	};

	return outcome < LAB_NOUTCOMES ? symbols[outcome] : "";
}

size_t lab_count_outcome(const struct lab_findings *f, enum lab_outcome o)
{
	size_t n = 0;

	for (size_t s = 0; s < f->n_stores; s++)
		for (size_t b = 0; b < f->n_scenarios; b++)
			n += lab_finding(f, s, b)->outcome == o;
	return n;
}

bool lab_figure_same(const struct lab_findings *f, size_t i, size_t j)
{
	return strcmp(f->figures[i].id, f->figures[j].id) == 0;
}

bool lab_figure_leads(const struct lab_findings *f, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (lab_figure_same(f, i, j))
			return false;
	return true;
}
