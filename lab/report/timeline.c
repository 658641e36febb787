/* SPDX-License-Identifier: Apache-2.0 */
/* Which participant believed to hold when, around a fault: a lane for each, and
 * a lane for overlaps. */
#include "lab/report/impl.h"

#include <math.h>
#include <string.h>

#define LEFT 6.0
#define RIGHT 454.0
#define HEAD 24.0   /* the fault's name */
#define BAR_AT 18.0 /* below a lane's name */
#define BAR 18.0
#define LINE 15.0 /* of text */
#define FOOT 30.0
#define TEXTS 24 /* a lane has room for, at most */

struct view {
	struct lab_sheet *s;
	const struct lab_timeline *t;
	double from, to;
};

static double across(const struct view *v, double ms)
{
	double part = (ms - v->from) / (v->to - v->from);

	part = part > 0 ? (part > 1 ? 1 : part) : 0;
	return LEFT + (RIGHT - LEFT) * part;
}

/* ---- Marks --------------------------------------------------------------- */

/* The texts in the two lines below a bar. */
struct texts {
	size_t n;
	int lines;
	struct {
		int line;
		double from, to;
	} at[TEXTS];
};

static bool is_free(const struct texts *x, int line, double from, double to)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->at[i].line == line && from < x->at[i].to + 6 &&
		    x->at[i].from - 6 < to)
			return false;
	return true;
}

/* Return a line with room, or -1. */
static int place_text(struct texts *x, double *from, double wide)
{
	if (*from + wide > RIGHT)
		*from = RIGHT - wide;
	for (int line = 0; line < 2 && x->n < TEXTS; line++) {
		if (!is_free(x, line, *from, *from + wide))
			continue;
		x->at[x->n].line = line;
		x->at[x->n].from = *from;
		x->at[x->n].to = *from + wide;
		x->n++;
		if (line >= x->lines)
			x->lines = line + 1;
		return line;
	}
	return -1;
}

static void words_of(char text[LAB_SHORT], const struct lab_mark *m)
{
	char what[LAB_SHORT], when[LAB_SHORT];

	snprintf(text, LAB_SHORT, "%.40s %.20s",
		 lab_say_short(what, m->text, 12), lab_say_ms(when, m->at));
}

static void draw_mark(const struct view *v, struct texts *x, double y,
		      bool draw, const struct lab_mark *m)
{
	char text[LAB_SHORT];
	double at = across(v, m->at), from = at - 4;
	bool lost = strcmp(m->text, "LOST") == 0;
	int line;

	words_of(text, m);
	line = place_text(x, &from, (lost ? 1.15 : 1) * lab_text_wide(text));
	if (!draw)
		return;
	y += BAR_AT;
	lab_put(v->s, "<g><title>%s</title>", text);
	if (lost)
		lab_put(v->s,
			"<path class=\"cross\" "
			"d=\"M%f %fl12 18M%f %fl-12 18\"/>",
			at - 6, y, at + 6, y);
	else
		lab_put(v->s, "<path class=\"tick\" d=\"M%f %fv24\"/>", at,
			y - 3);
	if (line >= 0)
		lab_put(v->s, "<text class=\"%s\" x=\"%f\" y=\"%f\">%s</text>",
			lost ? "red" : "", from, y + BAR + 13 + line * LINE,
			text);
	lab_put(v->s, "</g>\n");
}

/* Return how many lines a participant's marks take, and draw them if `draw`.
 * The usual marks give way to the others. */
static int draw_marks(const struct view *v, size_t participant, double y,
		      bool draw)
{
	struct texts x = { .n = 0 };

	for (int usual = 0; usual < 2; usual++)
		for (size_t i = 0; i < v->t->n_marks; i++) {
			const struct lab_mark *m = &v->t->marks[i];
			int is_usual = strcmp(m->text, "released") == 0;

			if (m->participant == participant &&
			    is_usual == usual && m->at >= v->from &&
			    m->at <= v->to)
				draw_mark(v, &x, y, draw, m);
		}
	return x.lines;
}

/* ---- Lanes --------------------------------------------------------------- */

static double lane_high(const struct view *v, size_t participant)
{
	return BAR_AT + BAR + draw_marks(v, participant, 0, false) * LINE + 10;
}

static void draw_belief(const struct view *v, const struct lab_belief *b,
			double y, bool alone)
{
	char text[LAB_SHORT], token[LAB_SHORT];
	double x = across(v, b->from);
	double wide = fmax(across(v, b->to) - x, 1.5);

	lab_put(v->s,
		"<rect class=\"%s\" x=\"%f\" y=\"%f\" width=\"%f\" "
		"height=\"%f\"/>",
		b->shared ? "shared" : "held", x, y + BAR_AT, wide, BAR);
	snprintf(text, sizeof(text), "%s", "held");
	if (b->token && !alone)
		snprintf(text, sizeof(text), "#%s",
			 lab_say_seed(token, b->token));
	if (lab_text_wide(text) + 14 < wide)
		lab_put(v->s, "<text class=\"%s\" x=\"%f\" y=\"%f\">%s</text>",
			b->shared ? "on" : "in", x + 5, y + BAR_AT + 13.5,
			text);
	lab_put(v->s, "\n");
}

static void draw_lane(const struct view *v, size_t participant, double y)
{
	const struct lab_belief *one = NULL;
	char text[LAB_SHORT];
	size_t n = 0;

	for (size_t i = 0; i < v->t->n_beliefs; i++)
		if (v->t->beliefs[i].participant == participant) {
			one = &v->t->beliefs[i];
			n++;
		}
	lab_put(v->s, "<text class=\"b\" x=\"%f\" y=\"%f\">%s", LEFT, y + 13,
		lab_say_short(text, v->t->participants[participant], 30));
	if (n == 1 && one->token)
		lab_put(v->s, ", token %s", lab_say_seed(text, one->token));
	if (n == 1 && one->shared)
		lab_put(v->s, ", shared");
	lab_put(v->s, "</text>\n");
	for (size_t i = 0; i < v->t->n_beliefs; i++)
		if (v->t->beliefs[i].participant == participant)
			draw_belief(v, &v->t->beliefs[i], y, n == 1);
	draw_marks(v, participant, y, true);
}

/* ---- Overlaps ------------------------------------------------------------ */

static double longest(const struct lab_timeline *t)
{
	double most = 0;

	for (size_t i = 0; i < t->n_overlaps; i++)
		most = fmax(most, t->overlaps[i].to - t->overlaps[i].from);
	return most;
}

static void draw_overlaps(const struct view *v, double top, double y)
{
	const struct lab_timeline *t = v->t;
	char text[LAB_SHORT];

	if (t->n_overlaps == 0)
		return;
	lab_put(v->s,
		"<text class=\"red\" x=\"%f\" y=\"%f\">OVERLAP: two believed "
		"to hold%s %s</text>\n",
		LEFT, y + 13, t->n_overlaps > 1 ? ", longest" : ",",
		lab_say_ms(text, longest(t)));
	for (size_t i = 0; i < t->n_overlaps; i++) {
		double x = across(v, t->overlaps[i].from);
		double wide = fmax(across(v, t->overlaps[i].to) - x, 2);

		lab_put(v->s,
			"<rect class=\"veil\" x=\"%f\" y=\"%f\" width=\"%f\" "
			"height=\"%f\"/><rect class=\"both\" x=\"%f\" "
			"y=\"%f\" width=\"%f\" height=\"%f\"/>\n",
			x, top, wide, y - top, x, y + BAR_AT, wide, BAR);
	}
}

/* ---- The whole ----------------------------------------------------------- */

static void draw_fault(const struct view *v, double bottom)
{
	bool ended = v->t->fault_to >= 0;
	double from = across(v, 0);
	double to = ended ? across(v, v->t->fault_to) : RIGHT;
	double wide = fmax(to - from, 2);
	char text[LAB_SHORT], words[2 * LAB_SHORT];
	double x;

	if (ended)
		snprintf(words, sizeof(words), "fault, 0 to %s",
			 lab_say_ms(text, v->t->fault_to));
	else
		snprintf(words, sizeof(words), "fault, from 0 on");
	x = fmin(from, RIGHT - lab_text_wide(words));
	lab_put(v->s,
		"<rect class=\"fault\" x=\"%f\" y=\"%f\" width=\"%f\" "
		"height=\"%f\"/><path class=\"edge\" d=\"M%f %fV%fM%f %fV%f\"/>"
		"<text x=\"%f\" y=\"%f\">%s</text>\n",
		from, HEAD - 4, wide, bottom - HEAD + 4, from, HEAD - 4, bottom,
		from + wide, HEAD - 4, bottom, x, HEAD - 9, words);
}

static void draw_axis(const struct view *v, double y)
{
	double step = lab_tick_step(v->to - v->from);
	char text[LAB_SHORT];

	lab_put(v->s,
		"<line class=\"axis\" x1=\"%f\" y1=\"%f\" x2=\"%f\" "
		"y2=\"%f\"/>\n",
		LEFT, y, RIGHT, y);
	for (int i = 0; i <= LAB_TICKS; i++) {
		double at = (ceil(v->from / step) + i) * step;
		double x = across(v, at);

		if (at > v->to)
			break;
		lab_put(v->s, "<path class=\"axis\" d=\"M%f %fv5\"/>", x, y);
		lab_put(v->s, "<text class=\"dim m\" x=\"%f\" y=\"%f\">%s",
			fmin(fmax(x, LEFT + 20), RIGHT - 20), y + 19,
			fabs(at) < step / 2 ? "0" : lab_say_ms(text, at));
		lab_put(v->s, "</text>\n");
	}
}

static void draw_lanes(const struct view *v)
{
	double y = HEAD + 2;
	double bottom = y;

	for (size_t i = 0; i < v->t->n_participants; i++)
		bottom += lane_high(v, i);
	if (v->t->n_overlaps)
		bottom += BAR_AT + BAR + 8;
	lab_put(v->s,
		"<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %f %f\" "
		"aria-label=\"timeline; the table below tells the same\">\n",
		LAB_WIDE, bottom + FOOT);
	draw_fault(v, bottom);
	for (size_t i = 0; i < v->t->n_participants; i++) {
		draw_lane(v, i, y);
		y += lane_high(v, i);
	}
	draw_overlaps(v, HEAD + 2, y);
	draw_axis(v, bottom);
	lab_put(v->s, "</svg>\n");
}

static void event_row(struct lab_sheet *s, const char *who, const char *what,
		      double from, double to)
{
	char begun[LAB_SHORT], ended[LAB_SHORT];

	lab_put(s,
		"<tr><th scope=\"row\">%s</th><td>%s</td>"
		"<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
		who, what, lab_say_ms(begun, from),
		isnan(to) ? "" : lab_say_ms(ended, to));
}

static void event_table(struct lab_sheet *s, const struct lab_timeline *t)
{
	lab_put(s, "<details><summary>The same as a table</summary>\n"
		   "<table>\n<caption>Since the fault began</caption>\n"
		   "<thead><tr><th scope=\"col\">who</th><th scope=\"col\">"
		   "what</th><th scope=\"col\" class=\"n\">from</th>"
		   "<th scope=\"col\" class=\"n\">to</th></tr></thead>\n"
		   "<tbody>\n");
	lab_each_event(s, t, event_row);
	lab_put(s, "</tbody>\n</table>\n</details>\n");
}

static void draw_timeline(struct lab_sheet *s, const struct lab_findings *f,
			  size_t i)
{
	const struct lab_timeline *t = &f->timelines[i];
	struct view v = { .s = s, .t = t, .from = t->from, .to = t->to };
	char text[LAB_SHORT];

	/* An empty drawing still needs a range. */
	if (!isfinite(v.from) || !isfinite(v.to) || !(v.to > v.from)) {
		v.from = -1;
		v.to = 1;
	}
	lab_put(s, "<figure id=\"t-%zu\">\n<figcaption>%s, %s<small>%s; ", i,
		f->stores[t->store].name, f->scenarios[t->scenario].title,
		t->fault);
	if (t->n_overlaps)
		lab_put(s,
			"two believed to hold at once, %zu time%s, the "
			"longest %s",
			t->n_overlaps, t->n_overlaps == 1 ? "" : "s",
			lab_say_ms(text, longest(t)));
	else
		lab_put(s, "no two believed to hold at once");
	lab_put(s, "</small></figcaption>\n");
	draw_lanes(&v);
	event_table(s, t);
	lab_put(s, "</figure>\n");
}

void lab_html_timelines(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put_raw(
		s,
		f->n_timelines ?
			"<p>Who believed to hold when, as recorded. Grey is "
			"the fault, which begins at 0; a full bar is a hold, "
			"a hollow one a shared hold; a cross marks LOST; "
			"what is hatched, in red, is an overlap, when two "
			"believed to hold what only one can.</p>\n"
			"<div class=\"plots\">\n" :
			"<p>No fault was made.</p>\n<div>\n");
	for (size_t i = 0; i < f->n_timelines; i++)
		draw_timeline(s, f, i);
	lab_put(s, "</div>\n");
}
