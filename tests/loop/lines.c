/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/link.h"

static struct lines *lines_at(struct dlki_store *s, dlk_time now)
{
	struct lines *p = (struct lines *)s;

	if (now < p->last_now)
		p->went_back = 1;
	p->last_now = now;
	return p;
}

static int lines_open(struct dlki_store *s, struct dlk_error *err)
{
	struct lines *p = (struct lines *)s;

	p->main = dlki_link_open(s, DLKI_ANSWERS);
	if (p->main && strcmp(s->label, "ear") == 0) {
		p->ear = dlki_link_open(s, DLKI_NEWS);
		if (!p->ear)
			return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	}
	return p->main ? 0 : dlk_fail(err, DLOCK_ENOMEM, "out of memory");
}

static void lines_greet(struct dlki_store *s, struct dlki_link *l, dlk_time now)
{
	struct lines *p = lines_at(s, now);

	dlki_send(l, DLKI_GREET, NULL, l == p->ear ? "EAR\n" : "HI\n",
		  l == p->ear ? 4 : 3);
}

static void submit_one(struct lines *p, enum dlki_verb verb, struct dlki_op *op)
{
	static const char letters[DLKI_VERBS] = {
		[DLKI_ATTEMPT] = 'A',
		[DLKI_BREAK] = 'K',
		[DLKI_WATCH] = 'J',
		[DLKI_INSPECT] = 'I',
	};
	char text[64];
	int n;

	if (verb == DLKI_WATCH && !dlki_is_up(p->ear)) {
		dlki_want(p->ear);
		dlki_hold(op);
		return;
	}
	n = snprintf(text, sizeof(text), "%c %" PRIu64 "\n",
		     letters[verb] ? letters[verb] : 'R',
		     verb == DLKI_ATTEMPT ? op->id : op->token);
	dlki_send(p->main, verb, op, text, (size_t)n);
}

static void lines_submit(struct dlki_store *s, enum dlki_verb verb,
			 struct dlki_op *const ops[], size_t n, dlk_time now)
{
	struct lines *p = lines_at(s, now);

	for (size_t i = 0; i < n; i++)
		submit_one(p, verb, ops[i]);
}

static int take_news(struct lines *p, const char *line)
{
	uint64_t id = 0, token = 0, clock = 0;

	if (sscanf(line, "P %" SCNu64 " %" SCNu64 " %" SCNu64, &id, &token,
		   &clock) == 3)
		dlki_pushed(&p->base, id, token, clock, 500);
	else if (sscanf(line, "W %" SCNu64, &id) == 1)
		dlki_wake(&p->base, id);
	else if (strcmp(line, "L") == 0)
		dlki_look_again(&p->base);
	else if (strcmp(line, "U") == 0)
		dlki_resume(&p->base);
	else if (strncmp(line, "O ", 2) == 0)
		dlki_wanted(&p->base, line + 2);
	else if (strncmp(line, "! ", 2) == 0)
		dlki_warn(&p->base, line + 2);
	else
		return 0;
	return 1;
}

/* The first half of a BREAK is answered. */
static void send_second(struct lines *p, struct dlki_op *op)
{
	char text[64];
	int n;

	if (!op)
		return;
	n = snprintf(text, sizeof(text), "K2 %" PRIu64 "\n", op->token);
	dlki_send(p->main, DLKI_BREAK, op, text, (size_t)n);
}

static void take_rows(struct dlki_op *op, const char *labels)
{
	char label[64];
	int n;

	while (sscanf(labels, " %63s%n", label, &n) == 1) {
		const struct dlock_participant row = {
			.size = sizeof(row),
			.label = label,
		};

		dlki_row_participant(op, &row);
		labels += n;
	}
	dlki_answered(op, 1);
}

static void take_in_the_way(struct dlki_op *op, const char *text)
{
	struct dlk_error err;

	dlk_fail(&err, DLOCK_EBUSY, "%s", text);
	dlki_in_the_way(op, &err);
	dlki_busy(op, 0, 0);
}

static void welcome(struct lines *p, struct dlki_link *l, const char *line)
{
	const struct dlki_agreed agreed = { .lease_ms = 1000 };
	const char *name = strchr(line, ' ');

	if (name)
		dlki_identity(l, name + 1);
	dlki_agree(&p->base, &agreed);
	dlki_up(l);
	if (l == p->ear && dlki_is_up(l)) {
		dlki_look_again(&p->base);
		dlki_resume(&p->base);
	}
}
static int take_answer(struct lines *p, struct dlki_link *l, const char *line,
		       struct dlk_error *err)
{
	char peer[DLKI_PEER];
	struct dlk_error refused = { DLOCK_EDENIED, "refused" };
	struct dlki_front front;
	struct dlki_op *op;

	if (!dlki_front(l, &front))
		return dlk_fail(err, DLOCK_EPROTO, "nobody asked");
	dlki_peer(l, peer);
	if (strcmp(line, "Z") == 0)
		return dlk_fail(err, DLOCK_EPROTO, "%s sends a Z", peer);
	if (strcmp(line, "V") == 0) {
		dlki_demoted(l);
		return dlk_fail(err, DLOCK_EUNREACHABLE, "a replica");
	}
	op = dlki_front_op(l);
	if (front.verb == DLKI_GREET && strcmp(line, "NO") == 0) {
		dlki_refused(l, &refused);
		return 0;
	}
	if (front.verb == DLKI_GREET) {
		welcome(p, l, line);
	} else if (line[0] == 'G') {
		dlki_granted(op, strtoull(line + 2, NULL, 10));
	} else if (line[0] == 'B') {
		char *rest;
		long ms = strtol(line + 2, &rest, 10);

		dlki_busy(op, ms, strtoull(rest, NULL, 10));
		if (p->ear)
			dlki_want(p->ear);
	} else if (line[0] == 'K') {
		send_second(p, op);
	} else if (line[0] == 'J') {
		dlki_watched(op, 1, strtoull(line + 2, NULL, 10));
	} else if (line[0] == 'I') {
		take_rows(op, line + 1);
	} else if (line[0] == 'M') {
		dlki_again(op);
	} else if (line[0] == 'H') {
		dlki_hold(op);
	} else if (line[0] == 'X') {
		take_in_the_way(op, line + 2);
	} else if (line[0] == 'F') {
		dlki_failed(op, &refused, DLKI_RESIDUE_NONE);
	} else if (line[0] == 'Y') {
		dlki_answered(op, line[1] == '1');
	} else {
		return dlk_fail(err, DLOCK_EPROTO, "nonsense: %s", line);
	}
	dlki_pop(l);
	return 0;
}

static int lines_input(struct dlki_store *s, struct dlki_link *l,
		       const char *bytes, size_t n, dlk_time now,
		       struct dlk_error *err)
{
	struct lines *p = lines_at(s, now);
	size_t at = l == p->ear;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		char *line = p->part[at];

		if (bytes[i] != '\n') {
			if (p->len[at] < sizeof(p->part[at]) - 1)
				line[p->len[at]++] = bytes[i];
			continue;
		}
		line[p->len[at]] = '\0';
		p->len[at] = 0;
		if (!take_news(p, line))
			rc = take_answer(p, l, line, err);
	}
	return rc;
}

static void lines_lost(struct dlki_store *s, struct dlki_link *l, dlk_time now)
{
	struct lines *p = lines_at(s, now);

	p->len[l == p->ear] = 0;
	p->lost++;
}

static void lines_close(struct dlki_store *s)
{
	((struct lines *)s)->closed++;
}

const struct dlki_protocol lines_protocol = {
	.name = "lines",
	.told_by = "HI",
	.size = sizeof(struct lines),
	.open = lines_open,
	.greet = lines_greet,
	.submit = lines_submit,
	.input = lines_input,
	.lost = lines_lost,
	.close = lines_close,
};

/* ---- At once ------------------------------------------------------------- */

static int at_once_open(struct dlki_store *s, struct dlk_error *err)
{
	(void)s;
	(void)err;
	return 0;
}

static void at_once_submit(struct dlki_store *s, enum dlki_verb verb,
			   struct dlki_op *const ops[], size_t n, dlk_time now)
{
	struct lines *p = lines_at(s, now);

	for (size_t i = 0; i < n; i++) {
		if (verb == DLKI_ATTEMPT)
			dlki_granted(ops[i], (uint64_t)++p->grants);
		else
			dlki_answered(ops[i], 1);
	}
}

const struct dlki_protocol at_once_protocol = {
	.name = "at-once",
	.size = sizeof(struct lines),
	.open = at_once_open,
	.submit = at_once_submit,
	.close = lines_close,
};
