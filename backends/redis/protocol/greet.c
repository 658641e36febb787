/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection begins: log in, and see whether the server will do. */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/fault.h"
#include "backends/redis/protocol/store.h"

static void send_command(struct redis_line *line, enum redis_greeting kind,
			 size_t argc, const char *const argv[])
{
	struct redis_commands out;

	dlki_redis_commands_init(&out);
	dlki_redis_commands_argv(&out, argc, argv);
	/* Without memory no answer comes, and the connection ends. */
	if (!out.failed)
		dlki_send(line->link, DLKI_GREET, NULL, 1, out.bytes, out.len);
	line->greeting[line->greetings++] = kind;
	/* The bytes may hold the password. */
	explicit_bzero(out.bytes, out.len);
	dlki_redis_commands_free(&out);
}

static void log_in(struct redis_store *s, struct redis_line *line)
{
	const struct dlk_uri *uri = s->base.uri;
	const char *user = uri->user && uri->user[0] ? uri->user : NULL;
	const char *password = uri->password ? uri->password : "";

	if (user) {
		const char *const auth[] = { "AUTH", user, password };

		send_command(line, RD_GREET_LOGIN, 3, auth);
	} else if (uri->password) {
		const char *const auth[] = { "AUTH", password };

		send_command(line, RD_GREET_LOGIN, 2, auth);
	}
	if (s->db) {
		char db[24];
		const char *const choose[] = { "SELECT", db };

		dlki_redis_digits(db, s->db);
		send_command(line, RD_GREET_LOGIN, 2, choose);
	}
}

void dlki_redis_store_greet(struct redis_store *s, struct redis_line *line)
{
	static const char *const info[] = { "INFO", "server" };
	const char *name = dlk_param_text(s->base.uri, "client_name");
	const char *const set_name[] = { "CLIENT", "SETNAME", name };
	const char *const subscribe[] = { "SUBSCRIBE", s->channel };

	line->greetings = line->greeted = 0;
	log_in(s, line);
	if (name)
		send_command(line, RD_GREET_NAME, 3, set_name);
	if (line == &s->main)
		send_command(line, RD_GREET_INFO, 2, info);
	else
		send_command(line, RD_GREET_SUBSCRIBE, 2, subscribe);
}

void dlki_redis_store_ping(struct redis_line *line)
{
	static const char *const ping[] = { "PING" };

	line->greetings = line->greeted = 0;
	send_command(line, RD_GREET_PING, 1, ping);
}

/* ---- The answers --------------------------------------------------------- */

static int is_too_old(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major < 6 || (major == 6 && minor < 2);
}

static int fits(const struct redis_line *line, enum redis_greeting kind,
		const struct redis_reply *reply, struct dlk_error *err)
{
	const char *version;
	char peer[DLKI_PEER];

	switch (kind) {
	case RD_GREET_INFO:
		if (reply->type != RD_STRING)
			return 0;
		version = dlki_redis_info_field(reply->text, "redis_version");
		if (!version || !is_too_old(version))
			return 1;
		dlki_peer(line->link, peer);
		dlk_fail(err, DLOCK_ENOTSUP,
			 "%s is Redis %.*s; locks need 6.2 or newer", peer,
			 (int)strcspn(version, "\r\n"), version);
		return 0;
	case RD_GREET_SUBSCRIBE:
		return reply->type == RD_ARRAY && reply->len == 3 &&
		       reply->parts[0]->type == RD_STRING &&
		       strcmp(reply->parts[0]->text, "subscribe") == 0;
	case RD_GREET_PING:
		return reply->type == RD_ARRAY;
	default:
		return reply->type == RD_STRING;
	}
}

/* Our name is only for people, and INFO only for a better message. */
static int may_be_denied(enum redis_greeting kind,
			 const struct redis_reply *reply)
{
	return (kind == RD_GREET_NAME || kind == RD_GREET_INFO) &&
	       reply->type == RD_ERROR &&
	       (dlki_redis_fault_is(reply->text, "NOPERM") ||
		dlki_redis_fault_is(reply->text, "unknown command"));
}

static void go_up(struct redis_store *s, struct redis_line *line)
{
	if (line == &s->main)
		dlki_agree(&s->base, &s->terms);
	dlki_up(line->link);
	/* Grants may have been published before. */
	if (line == &s->ear)
		dlki_look_again(&s->base);
}

int dlki_redis_store_greeted(struct redis_store *s, struct redis_line *line,
			     const struct redis_reply *reply,
			     struct dlk_error *err)
{
	enum redis_greeting kind;
	char peer[DLKI_PEER];
	int keep;

	if (line->greeted == line->greetings)
		return dlk_fail(err, DLOCK_EPROTO,
				"an answer that nobody asked for");
	kind = line->greeting[line->greeted++];
	err->code = 0;
	if (!fits(line, kind, reply, err) && !may_be_denied(kind, reply)) {
		dlki_peer(line->link, peer);
		if (reply->type == RD_ERROR)
			dlki_redis_fault(reply->text, reply->len, peer, &keep,
					 err);
		else if (err->code == 0)
			dlk_fail(err, DLOCK_EPROTO,
				 "%s: the answer makes no sense", peer);
		if (err->code == DLOCK_EUNREACHABLE)
			return err->code;
		dlki_refused(line->link, err);
		return 0;
	}
	dlki_pop(line->link);
	if (line->greeted == line->greetings && kind != RD_GREET_PING)
		go_up(s, line);
	return 0;
}
