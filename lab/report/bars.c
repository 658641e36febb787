/* SPDX-License-Identifier: Apache-2.0 */
/* How long things took to come right: bars, their lengths in figures too. */
#include "lab/report/impl.h"

#include <math.h>
#include <string.h>

#define LEFT 4.0
#define RIGHT 450.0
#define ROW 40.0
#define FOOT 30.0

/* From a figure, or from when losses were told. */
struct bars {
	struct lab_sheet *s;
	const struct lab_findings *f;
	double most; /* ms, the end of the axis */
	size_t rows;
};

static double across(const struct bars *b, double ms)
{
	double part = b->most > 0 ? ms / b->most : 0;

	part = part > 0 ? (part > 1 ? 1 : part) : 0;
	return LEFT + (RIGHT - LEFT) * part;
}

static void make_room(struct bars *b, double ms)
{
	b->rows++;
	if (isfinite(ms) && ms > b->most)
		b->most = ms;
}

/* Leases are shown as long as the bars can be seen beside them. */
static bool shows_lease(const struct bars *b, double lease)
{
	return lease > 0 && lease <= b->most;
}

static void make_room_for_leases(struct bars *b)
{
	double bars = b->most;

	for (size_t i = 0; i < b->f->n_stores; i++) {
		double lease = (double)b->f->stores[i].ttl_ms;

		if (lease <= 3 * bars && lease > b->most)
			b->most = lease;
	}
}

static void begin_bars(struct bars *b, const char *title)
{
	double high = (double)b->rows * ROW + FOOT;

	lab_put(b->s,
		"<figure>\n<figcaption>%s</figcaption>\n"
		"<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %f %f\" "
		"aria-label=\"%s: bars, with their lengths in words\">\n",
		title, LAB_WIDE, high, title);
}

static void end_bars(struct bars *b)
{
	double step = lab_tick_step(b->most);
	double y = (double)b->rows * ROW;
	char text[LAB_SHORT];

	lab_put(b->s,
		"<line class=\"axis\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
		"y2=\"%f\"/>\n",
		LEFT, y + 4, RIGHT, y + 4);
	for (int i = 0; i <= LAB_TICKS && i * step <= b->most; i++) {
		double at = i * step;
		double x = across(b, at);

		lab_put(b->s,
			"<line class=\"axis\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
			"y2=\"%f\"/>",
			x, y + 4, x, y + 9);
		lab_put(b->s, "<text class=\"dim m\" x=\"%f\" y=\"%f\">%s",
			fmin(fmax(x, LEFT + 4), RIGHT - 20), y + 23,
			at > 0 ? lab_say_ms(text, at) : "0");
		lab_put(b->s, "</text>\n");
	}
	lab_put(b->s, "</svg>\n</figure>\n");
}

/* `row` from the top; a lease is a dashed line across the bar. */
static void draw_bar(struct bars *b, size_t row, size_t store, double ms,
		     double max, const char *words)
{
	double y = (double)row * ROW;
	double lease = (double)b->f->stores[store].ttl_ms;
	char text[LAB_SHORT];

	lab_put(b->s,
		"<text x=\"%f\" y=\"%f\"><tspan class=\"b\">%s</tspan>: ", LEFT,
		y + 14, lab_say_short(text, b->f->stores[store].name, 20));
	lab_put(b->s, "%s", words);
	if (lease > 0)
		lab_put(b->s, " (lease %s)", lab_say_ms(text, lease));
	lab_put(b->s,
		"</text><rect class=\"bar\" x=\"%f\" y=\"%f\" width=\"%f\" "
		"height=\"12\"/>",
		LEFT, y + 20, fmax(across(b, ms) - LEFT, 1));
	if (max > ms)
		lab_put(b->s, "<path class=\"whisk\" d=\"M%f %fH%fM%f %fv8\"/>",
			across(b, ms), y + 26, across(b, max), across(b, max),
			y + 22);
	if (shows_lease(b, lease))
		lab_put(b->s,
			"<path class=\"halo\" d=\"M%f %fv18\"/>"
			"<path class=\"lease\" d=\"M%f %fv18\"/>",
			across(b, lease), y + 17, across(b, lease), y + 17);
	lab_put(b->s, "\n");
}

static void of_figure(struct bars b, size_t lead)
{
	char p50[LAB_SHORT], max[LAB_SHORT], words[3 * LAB_SHORT];
	size_t row = 0;

	for (size_t i = lead; i < b.f->n_figures; i++)
		if (lab_figure_same(b.f, lead, i))
			make_room(&b, b.f->figures[i].max);
	make_room_for_leases(&b);
	begin_bars(&b, b.f->figures[lead].name);
	for (size_t i = lead; i < b.f->n_figures; i++) {
		const struct lab_figure *g = &b.f->figures[i];

		if (!lab_figure_same(b.f, lead, i))
			continue;
		lab_say_ms(p50, g->samples ? g->p50 : NAN);
		lab_say_ms(max, g->max);
		if (g->samples > 1)
			snprintf(words, sizeof(words), "%s, at most %s", p50,
				 max);
		draw_bar(&b, row++, g->store, g->p50, g->max,
			 g->samples > 1 ? words : p50);
	}
	end_bars(&b);
}

static bool was_told(const struct lab_findings *f, size_t scenario)
{
	for (size_t i = 0; i < f->n_stores; i++)
		if (lab_finding(f, i, scenario)->found_ms >= 0)
			return true;
	return false;
}

static void of_losses(struct bars b, size_t scenario)
{
	char title[3 * LAB_SHORT], name[LAB_SHORT], words[LAB_SHORT];
	size_t row = 0;

	for (size_t i = 0; i < b.f->n_stores; i++) {
		int64_t ms = lab_finding(b.f, i, scenario)->found_ms;

		if (ms >= 0)
			make_room(&b, (double)ms);
	}
	lab_say_short(name, b.f->scenarios[scenario].title, 50);
	snprintf(title, sizeof(title), "%s: from the loss to LOST", name);
	make_room_for_leases(&b);
	begin_bars(&b, title);
	for (size_t i = 0; i < b.f->n_stores; i++) {
		double ms = (double)lab_finding(b.f, i, scenario)->found_ms;

		if (ms >= 0)
			draw_bar(&b, row++, i, ms, ms, lab_say_ms(words, ms));
	}
	end_bars(&b);
}

static bool recovers(const struct lab_findings *f, size_t i)
{
	const struct lab_figure *g = &f->figures[i];

	return f->scenarios[g->scenario].fault && strcmp(g->unit, "ms") == 0;
}

void lab_html_bars(struct lab_sheet *s, const struct lab_findings *f)
{
	struct bars b = { .s = s, .f = f };
	bool any = false;

	lab_put(s, "<p>Shorter is better. The bar is the p50, the thin line "
		   "reaches to the maximum, a dashed one is the "
		   "lease, if it is not far longer.</p>\n"
		   "<div class=\"plots\">\n");
	for (size_t i = 0; i < f->n_figures; i++)
		if (lab_figure_leads(f, i) && recovers(f, i)) {
			of_figure(b, i);
			any = true;
		}
	for (size_t i = 0; i < f->n_scenarios; i++)
		if (was_told(f, i)) {
			of_losses(b, i);
			any = true;
		}
	if (!any)
		lab_put(s, "<p>Nothing had to recover.</p>\n");
	lab_put(s, "</div>\n");
}
