/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions; opening and closing. */
#include <dlock/backend.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "backends/redis/protocol/uri.h"
#include "core/base/digits.h"
#include "core/base/error.h"

static struct redis_line *line_of(struct redis_store *s,
				  const struct dlki_link *l)
{
	return l == s->main.link ? &s->main : &s->ear;
}

static void name_channel(struct redis_store *s)
{
	int n = snprintf(s->channel, sizeof(s->channel),
			 "%s:inbox:", s->prefix);

	for (size_t i = 0; i < 16; i++)
		n += snprintf(s->channel + n, 3, "%02x", s->base.chance[i]);
}

/* Open with key=plain.  A foreign client neither queues nor tells of a
 * release. */
static void open_plain(struct redis_store *s)
{
	s->plain = dlk_param_int(s->base.uri, "key") != 0;
	if (!s->plain)
		return;
	s->order = 'a';
	s->agreed.caps &= RD_CAPS_PLAIN;
}

static int redis_open(struct dlki_store *base, struct dlk_error *err)
{
	struct redis_store *s = (struct redis_store *)base;
	const struct dlk_uri *uri = base->uri;
	int64_t ttl_ms = dlk_param_int(uri, "ttl");
	int rc = dlki_redis_uri_check(uri, &s->db, err);

	if (rc != 0)
		return rc;
	s->agreed = (struct dlki_agreed){
		.lease_ms = ttl_ms,
		.margin_ms = 1,
		.caps = RD_CAPS,
	};
	s->prefix = dlk_param_text(uri, "prefix");
	s->order = dlk_param_int(uri, "order") == 0 ? 'f' : 'a';
	if (s->order == 'a')
		s->agreed.caps &= ~(uint32_t)DLOCK_CAP_FAIR;
	open_plain(s);
	s->ttl.text = s->ttl_text;
	s->ttl.len = dlki_digits(s->ttl_text, (uint64_t)ttl_ms);
	s->clock.text = s->clock_text;
	s->clock.len = (size_t)snprintf(s->clock_text, sizeof(s->clock_text),
					"%s:clock", s->prefix);
	name_channel(s);
	for (size_t i = 0; i < RD_SCRIPTS; i++)
		s->knows[i] = 1;
	STAILQ_INIT(&s->listings);
	s->main.link = dlki_link_open(base, DLKI_ANSWERS);
	s->ear.link = dlki_link_open(base, DLKI_NEWS);
	if (!s->main.link || !s->ear.link)
		return dlki_nomem(err);
	return 0;
}

static void redis_greet(struct dlki_store *base, struct dlki_link *l,
			dlk_time now)
{
	struct redis_store *s = (struct redis_store *)base;
	struct redis_line *line = line_of(s, l);
	struct dlk_error err;

	s->now = line->heard = now;
	/* Without a reader there is no greeting, and the connection ends. */
	if (dlki_redis_reader_init(&line->reader, &err) == 0)
		dlki_redis_store_greet(s, line);
}

static redis_submit_fn *const submit[DLKI_VERBS] = {
	[DLKI_ATTEMPT] = dlki_redis_store_attempt,
	[DLKI_RENEW] = dlki_redis_store_renew,
	[DLKI_RELEASE] = dlki_redis_store_release,
	[DLKI_DOWNGRADE] = dlki_redis_store_downgrade,
	[DLKI_WATCH] = dlki_redis_store_watch,
	[DLKI_REVOKE] = dlki_redis_store_revoke,
	[DLKI_BREAK] = dlki_redis_store_break,
	[DLKI_INSPECT] = dlki_redis_store_inspect,
	[DLKI_RESIZE] = dlki_redis_store_resize,
	[DLKI_LIST] = dlki_redis_store_list,
};

/* Bring the script's text with the first release of a flight, when the client
 * closes: a server without the script would refuse all releases. */
static void bring_text(struct redis_store *s, struct dlki_op *const ops[],
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i]->closing)
			s->knows[s->plain ? RD_RELEASE_PLAIN : RD_RELEASE] = 0;
	}
}

static void redis_submit(struct dlki_store *base, enum dlki_verb verb,
			 struct dlki_op *const ops[], size_t n, dlk_time now)
{
	struct redis_store *s = (struct redis_store *)base;

	s->now = now;
	if (verb == DLKI_RELEASE)
		bring_text(s, ops, n);
	for (size_t i = 0; i < n; i++)
		submit[verb](s, ops[i]);
}

static int redis_input(struct dlki_store *base, struct dlki_link *l,
		       const char *bytes, size_t n, dlk_time now,
		       struct dlk_error *err)
{
	struct redis_store *s = (struct redis_store *)base;
	struct redis_line *line = line_of(s, l);

	if (!line->reader.hiredis)
		return dlki_nomem(err);
	s->now = now;
	return dlki_redis_store_input(s, line, bytes, n, err);
}

static void redis_lost(struct dlki_store *base, struct dlki_link *l,
		       dlk_time now)
{
	struct redis_store *s = (struct redis_store *)base;

	(void)now;
	dlki_redis_reader_free(&line_of(s, l)->reader);
	if (l == s->main.link)
		dlki_redis_store_unlist(s);
}

/* Probe.  Answers are told apart by their order alone: if the answer to the op
 * never comes, the PONG takes its place, ahead of answers to later requests. */
static void redis_late(struct dlki_store *base, struct dlki_link *l,
		       dlk_time now)
{
	(void)base;
	(void)now;
	dlki_redis_store_probe(l);
}

static void redis_timer(struct dlki_store *base, dlk_time now)
{
	struct redis_store *s = (struct redis_store *)base;

	s->now = now;
	dlki_redis_store_listen(s);
}

static void redis_close(struct dlki_store *base)
{
	struct redis_store *s = (struct redis_store *)base;

	dlki_redis_reader_free(&s->main.reader);
	dlki_redis_reader_free(&s->ear.reader);
	dlki_redis_store_unlist(s);
}

const struct dlki_protocol dlki_redis_protocol = {
	.name = "redis",
	.told_by = "INFO",
	.size = sizeof(struct redis_store),
	.open = redis_open,
	.greet = redis_greet,
	.submit = redis_submit,
	.input = redis_input,
	.lost = redis_lost,
	.late = redis_late,
	.timer = redis_timer,
	.close = redis_close,
};
