/* SPDX-License-Identifier: Apache-2.0 */
/* Percentile curves of a figure, a line a store. */
#include "lab/report/impl.h"

#include <math.h>
#include <stdlib.h>

#define MOST 24 /* lines; no reader can tell more apart */
#define LEFT 56.0
#define RIGHT 336.0
#define TOP 12.0
#define BOTTOM 270.0
#define HIGH 312.0
#define STYLES 5
#define SHAPES 6

static const char *const dashes[STYLES] = { "none", "8 4", "2 4", "11 4 2 4",
					    "16 5" };
static const char *const dash_words[STYLES] = { "solid", "dashed", "dotted",
						"dash-dotted", "long-dashed" };
static const char *const shape_words[SHAPES] = { "circles",   "squares",
						 "triangles", "diamonds",
						 "crosses",   "half moons" };

/* Around the origin. */
static const char *const shapes[SHAPES] = {
	"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
	"M-3.5 -3.5h7v7h-7z",
	"M0 -4.5L4.5 3.5H-4.5z",
	"M0 -5L5 0L0 5L-5 0z",
	"M-4 -4L4 4M-4 4L4 -4",
	"M-4.5 2a4.5 4.5 0 0 1 9 0z",
};

struct line {
	const struct lab_figure *figure;
	size_t last; /* the last point with samples */
	double end;  /* where the curve ends */
	double label;
};

struct plot {
	struct lab_sheet *s;
	const struct lab_findings *f;
	const struct lab_figure *lead;
	struct line lines[MOST];
	size_t n;
	size_t last;
	double low, high; /* decades */
};

static double across(const struct plot *p, double point)
{
	return LEFT + (RIGHT - LEFT) * point / (double)p->last;
}

static double down(const struct plot *p, double value)
{
	double part;

	if (!(value > 0))
		return BOTTOM;
	part = (log10(value) - p->low) / (p->high - p->low);
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return BOTTOM - (BOTTOM - TOP) * part;
}

/* n samples reach up to the part 1 - 1/n. */
static size_t last_point(const struct lab_figure *g)
{
	double last = g->samples ? ceil(12 * log10((double)g->samples)) : 0;

	return last > LAB_CURVE - 1 ? LAB_CURVE - 1 : (size_t)last;
}

static void gather_lines(struct plot *p, size_t lead)
{
	double least = INFINITY, most = 0;

	for (size_t i = lead; i < p->f->n_figures && p->n < MOST; i++) {
		const struct lab_figure *g = &p->f->figures[i];
		struct line *l = &p->lines[p->n];

		if (!lab_figure_same(p->f, lead, i) || !g->has_curve)
			continue;
		l->figure = g;
		l->last = last_point(g);
		if (l->last > p->last)
			p->last = l->last;
		for (size_t j = 0; j <= l->last; j++) {
			if (g->curve[j] > 0 && g->curve[j] < least)
				least = g->curve[j];
			if (isfinite(g->curve[j]) && g->curve[j] > most)
				most = g->curve[j];
		}
		p->n++;
	}
	if (p->last < 13)
		p->last = 13;
	p->low = isfinite(least) ? floor(log10(least)) : 0;
	p->high = most > 0 ? ceil(log10(most)) : 1;
	if (p->high <= p->low)
		p->high = p->low + 1;
}

static int by_end(const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

/* Put each label at the end of the curve, but no two on each other: labels
 * without room push the labels below down, and at the bottom all are pushed
 * up. */
static void spread_labels(struct plot *p)
{
	double gap = (BOTTOM - TOP) / (double)(p->n > 1 ? p->n - 1 : 1);
	double y = TOP - 100;

	gap = gap > 15 ? 15 : gap;
	for (size_t i = 0; i < p->n; i++)
		p->lines[i].end =
			down(p, p->lines[i].figure->curve[p->lines[i].last]);
	qsort(p->lines, p->n, sizeof(p->lines[0]), by_end);
	for (size_t i = 0; i < p->n; i++) {
		double want = p->lines[i].end;

		y = want > y + gap ? want : y + gap;
		p->lines[i].label = y;
	}
	y = BOTTOM;
	for (size_t i = p->n; i-- > 0;) {
		if (p->lines[i].label > y)
			p->lines[i].label = y;
		y = p->lines[i].label - gap;
	}
}

static void draw_rule(struct plot *p, double value, bool named)
{
	char text[LAB_SHORT];
	double y = down(p, value);

	lab_put(p->s,
		"<line class=\"grid\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
		"y2=\"%f\"/>",
		LEFT, y, RIGHT, y);
	if (named)
		lab_put(p->s,
			"<text class=\"dim e\" x=\"%f\" y=\"%f\">%s"
			"</text>\n",
			LEFT - 5, y + 4.5,
			lab_say_value(text, value, p->lead->unit));
}

static void draw_axes(struct plot *p)
{
	static const struct {
		double point;
		const char *text;
	} parts[] = { { 0, "0" },   { 3.612, "50" }, { 12, "90" },
		      { 24, "99" }, { 36, "99.9" },  { 48, "99.99" } };
	bool few = p->high - p->low <= 2;
	int step = p->high - p->low > 8 ? 2 : 1;

	for (int d = (int)p->low; d <= (int)p->high; d++) {
		draw_rule(p, pow(10, d), (d - (int)p->low) % step == 0);
		if (few && d < (int)p->high) {
			draw_rule(p, 2 * pow(10, d), true);
			draw_rule(p, 5 * pow(10, d), true);
		}
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double x = across(p, parts[i].point);

		if (x > RIGHT)
			continue;
		lab_put(p->s,
			"<line class=\"axis\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
			"y2=\"%f\"/><text class=\"dim m\" x=\"%f\" "
			"y=\"%f\">%s</text>\n",
			x, BOTTOM, x, BOTTOM + 5, x, BOTTOM + 19,
			parts[i].text);
	}
	lab_put(p->s,
		"<line class=\"axis\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
		"y2=\"%f\"/><text class=\"dim m\" x=\"%f\" y=\"%f\">"
		"percent of the samples are at or below</text>\n",
		LEFT, BOTTOM, RIGHT, BOTTOM, (LEFT + RIGHT) / 2, BOTTOM + 37);
}

static void draw_shape(struct plot *p, size_t store, double x, double y)
{
	lab_put(p->s,
		"<path class=\"mark\" transform=\"translate(%f %f)\" "
		"d=\"%s\"/>",
		x, y, shapes[store % SHAPES]);
}

static void draw_line(struct plot *p, const struct line *l)
{
	const struct lab_figure *g = l->figure;
	size_t store = g->store;
	const char *name = p->f->stores[store].name;
	char text[LAB_SHORT];

	lab_put(p->s,
		"<g class=\"c%zu\"><title>%s</title><polyline class=\"line\" "
		"stroke-dasharray=\"%s\" points=\"",
		store % 6, name, dashes[store % STYLES]);
	for (size_t i = 0; i <= l->last; i++)
		lab_put(p->s, "%f,%f ", across(p, (double)i),
			down(p, g->curve[i]));
	lab_put(p->s, "\"/>");
	for (size_t i = 4; i < l->last; i += i < 12 ? 8 : 12)
		draw_shape(p, store, across(p, (double)i),
			   down(p, g->curve[i]));
	draw_shape(p, store, across(p, (double)l->last), l->end);
	lab_put(p->s,
		"<path class=\"lead\" d=\"M%f %fL%f %f\"/>"
		"<text class=\"name\" x=\"%f\" y=\"%f\">%s</text></g>\n",
		across(p, (double)l->last) + 5, l->end, RIGHT + 12, l->label,
		RIGHT + 15, l->label + 4.5, lab_say_short(text, name, 13));
}

/* Draw the legend, for readers who do not see colours or lines. */
static void draw_keys(struct plot *p)
{
	lab_put(p->s, "<ul class=\"keys\" aria-label=\"lines\">\n");
	for (size_t i = 0; i < p->n; i++) {
		size_t store = p->lines[i].figure->store;

		lab_put(p->s,
			"<li class=\"c%zu\"><svg viewBox=\"0 0 56 14\" "
			"aria-hidden=\"true\"><line class=\"line\" "
			"stroke-dasharray=\"%s\" x1=\"0\" y1=\"7\" "
			"x2=\"56\" y2=\"7\"/>",
			store % 6, dashes[store % STYLES]);
		draw_shape(p, store, 28, 7);
		lab_put(p->s, "</svg> %s: %s, %s</li>\n",
			p->f->stores[store].name, dash_words[store % STYLES],
			shape_words[store % SHAPES]);
	}
	lab_put(p->s, "</ul>\n");
}

void lab_html_curves(struct lab_sheet *s, const struct lab_findings *f,
		     size_t lead)
{
	struct plot p = { .s = s, .f = f, .lead = &f->figures[lead] };

	gather_lines(&p, lead);
	spread_labels(&p);
	lab_put(s,
		"<figure>\n<figcaption>%s: percentiles<small>Both axes are "
		"logarithmic; a curve ends where its samples do, at their "
		"maximum.</small></figcaption>\n"
		"<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %f %f\" "
		"aria-labelledby=\"c-%zu\"><title id=\"c-%zu\">Percentile "
		"curves of %s; the table has the figures</title>\n",
		p.lead->name, LAB_WIDE, HIGH, lead, lead, p.lead->name);
	draw_axes(&p);
	for (size_t i = 0; i < p.n; i++)
		draw_line(&p, &p.lines[i]);
	lab_put(s, "</svg>\n");
	draw_keys(&p);
	lab_put(s, "</figure>\n");
}
