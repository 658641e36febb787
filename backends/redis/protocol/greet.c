/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection begins: log in, and see whether the server will do. */
#include <dlock/backend.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/fault.h"
#include "backends/redis/protocol/store.h"
#include "core/base/digits.h"

/* Only such bytes of INFO get into the log and the identity. */
#define POLICY_BYTES "abcdefghijklmnopqrstuvwxyz-"
#define RUN_ID_BYTES                                                           \
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static void send_command(struct redis_line *line, enum redis_greeting kind,
			 size_t argc, const char *const argv[])
{
	struct redis_commands out;

	dlki_redis_commands_init(&out);
	dlki_redis_commands_argv(&out, argc, argv);
	/* Without memory no answer comes, and the connection ends. */
	if (!out.failed)
		dlki_send(line->link, DLKI_GREET, NULL, out.bytes, out.len);
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

		dlki_digits(db, s->db);
		send_command(line, RD_GREET_LOGIN, 2, choose);
	}
}

/* Ask for the identity.  The first time, all of INFO is judged. */
static void ask_who(const struct redis_store *s, struct redis_line *line)
{
	static const char *const info[] = { "INFO", "server" };
	size_t argc = line == &s->main && !s->is_judged ? 1 : 2;

	send_command(line, RD_GREET_INFO, argc, info);
}

void dlki_redis_store_greet(struct redis_store *s, struct redis_line *line)
{
	const char *name = dlk_param_text(s->base.uri, "client_name");
	const char *const set_name[] = { "CLIENT", "SETNAME", name };
	const char *const subscribe[] = { "SUBSCRIBE", s->channel };

	line->greetings = line->greeted = 0;
	log_in(s, line);
	if (name)
		send_command(line, RD_GREET_NAME, 3, set_name);
	ask_who(s, line);
	if (line == &s->ear)
		send_command(line, RD_GREET_SUBSCRIBE, 2, subscribe);
}

void dlki_redis_store_ping(struct redis_line *line)
{
	static const char *const ping[] = { "PING" };

	line->greetings = line->greeted = 0;
	send_command(line, RD_GREET_PING, 1, ping);
}

/* ---- The server ---------------------------------------------------------- */

static int is_too_old(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major < 6 || (major == 6 && minor < 2);
}

/* Take the identity.  A server that keeps INFO from us is known by the
 * address. */
static int take_who(const struct redis_line *line,
		    const struct redis_reply *reply, struct dlk_error *err)
{
	const char *id, *version;
	char identity[128], peer[DLKI_PEER];

	if (reply->type != RD_STRING)
		return 0;
	id = dlki_redis_info_field(reply->text, "run_id");
	version = dlki_redis_info_field(reply->text, "redis_version");
	if (version && is_too_old(version)) {
		dlki_peer(line->link, peer);
		dlk_fail(err, DLOCK_ENOTSUP,
			 "%s is Redis %.*s; locks need 6.2 or newer", peer,
			 (int)strcspn(version, "\r\n"), version);
		return 0;
	}
	if (id) {
		snprintf(identity, sizeof(identity), "%.*s",
			 (int)strspn(id, RUN_ID_BYTES), id);
		dlki_identity(line->link, identity);
	}
	return 1;
}

static int begins_with(const char *value, const char *start)
{
	return value && strncmp(value, start, strlen(start)) == 0;
}

static void warn(struct redis_store *s, const char *fmt, ...)
	DLOCK_PRINTF(2, 3);

static void warn(struct redis_store *s, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dlki_warn(&s->base, text);
}

/* Warn of settings that lose locks. */
static void judge(struct redis_store *s, const struct redis_reply *reply)
{
	const char *policy;
	char who[DLKI_PEER];

	dlki_peer(s->main.link, who);
	s->is_judged = 1;
	if (reply->type == RD_ERROR) {
		warn(s,
		     "%s keeps INFO from us: a restart is not noticed until a "
		     "renewal finds holds gone; permit INFO",
		     who);
		return;
	}
	policy = dlki_redis_info_field(reply->text, "maxmemory_policy");
	if (begins_with(dlki_redis_info_field(reply->text, "role"), "slave"))
		warn(s, "%s is a replica and takes no locks; give the master",
		     who);
	if (begins_with(policy, "volatile-") || begins_with(policy, "allkeys-"))
		warn(s,
		     "%s drops keys when its memory is full (maxmemory-policy "
		     "%.*s), and locks with them; noeviction is right for "
		     "locks",
		     who, (int)strspn(policy, POLICY_BYTES), policy);
	if (begins_with(dlki_redis_info_field(reply->text, "aof_enabled"), "0"))
		warn(s,
		     "%s keeps no log of writes (appendonly no): when it "
		     "restarts, every holder loses its lock",
		     who);
}

void dlki_redis_store_leave(struct redis_store *s,
			    const struct redis_reply *reply)
{
	if (dlki_redis_fault_is(reply->text, "READONLY") ||
	    dlki_redis_fault_is(reply->text, "MASTERDOWN"))
		dlki_demoted(s->main.link);
}

/* ---- The answers --------------------------------------------------------- */

static int fits(const struct redis_line *line, enum redis_greeting kind,
		const struct redis_reply *reply, struct dlk_error *err)
{
	switch (kind) {
	case RD_GREET_INFO:
		return take_who(line, reply, err);
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

/* May the server deny this?  Our name is only for people, a denied PING is an
 * answer, too, and a server may keep the identity secret. */
static int may_be_denied(enum redis_greeting kind,
			 const struct redis_reply *reply)
{
	if (reply->type != RD_ERROR || kind == RD_GREET_LOGIN ||
	    kind == RD_GREET_SUBSCRIBE)
		return 0;
	return dlki_redis_fault_is(reply->text, "NOPERM") ||
	       dlki_redis_fault_is(reply->text, "unknown command");
}

/* Refuse the connection: 0, or the reason to end it.  The main link can do
 * without the ear. */
static int refuse(struct redis_store *s, struct redis_line *line,
		  const struct dlk_error *err)
{
	if (line == &s->ear && !s->told) {
		warn(s, "waiters poll more often: %s", err->text);
		s->told = 1;
	}
	if (err->code == DLOCK_EUNREACHABLE)
		return err->code;
	dlki_refused(line->link, err);
	return 0;
}

static int take_misfit(struct redis_store *s, struct redis_line *line,
		       const struct redis_reply *reply, struct dlk_error *err)
{
	char peer[DLKI_PEER];
	int keep;

	dlki_peer(line->link, peer);
	if (reply->type == RD_ERROR)
		dlki_redis_fault(reply->text, reply->len, peer, &keep, err);
	else if (err->code == 0)
		dlki_peer_fail(line->link, err, DLOCK_EPROTO,
			       RD_IS_NOT_UNDERSTOOD);
	return refuse(s, line, err);
}

static void go_up(struct redis_store *s, struct redis_line *line,
		  const struct redis_reply *reply)
{
	if (line == &s->main)
		dlki_agree(&s->base, &s->agreed);
	dlki_up(line->link);
	if (!dlki_is_up(line->link))
		return;
	if (line == &s->main && !s->is_judged)
		judge(s, reply);
	if (line == &s->ear) {
		s->told = 0;
		/* Grants may have been published before. */
		dlki_look_again(&s->base);
	}
}

int dlki_redis_store_greeted(struct redis_store *s, struct redis_line *line,
			     const struct redis_reply *reply,
			     struct dlk_error *err)
{
	enum redis_greeting kind;

	if (line->greeted == line->greetings)
		return dlk_fail(err, DLOCK_EPROTO,
				"an answer that nobody asked for");
	kind = line->greeting[line->greeted++];
	err->code = 0;
	if (!fits(line, kind, reply, err) && !may_be_denied(kind, reply))
		return take_misfit(s, line, reply, err);
	dlki_pop(line->link);
	if (line->greeted == line->greetings && kind != RD_GREET_PING)
		go_up(s, line, reply);
	return 0;
}

int dlki_redis_store_noise(const struct redis_line *line, struct dlk_error *err)
{
	char peer[DLKI_PEER];

	if (line->greeted == line->greetings || err->code != DLOCK_EPROTO)
		return err->code;
	dlki_peer(line->link, peer);
	if (strcmp(line->reader.began, "ERROR\r\n") == 0)
		dlk_fail(err, DLOCK_EINVAL,
			 "%s answers as memcached does, not as Redis: use "
			 "memcached:// for it",
			 peer);
	else
		dlk_fail(err, DLOCK_EPROTO, "%s: %s", peer, err->text);
	dlki_refused(line->link, err);
	return 0;
}
