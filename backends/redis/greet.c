/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

/* What a server writes into our log is a word. */
#define POLICY_BYTES "abcdefghijklmnopqrstuvwxyz-"

/* The value of a field of INFO, which ends with a line's end; NULL: none. */
static const char *field(const char *info, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = strstr(info, name); p; p = strstr(p + n, name)) {
		if ((p == info || p[-1] == '\n') && p[n] == ':')
			return p + n + 1;
	}
	return NULL;
}

static int begins(const char *value, const char *with)
{
	return value && strncmp(value, with, strlen(with)) == 0;
}

static int old(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major < 6 || (major == 6 && minor < 2);
}

static int judge(struct redis_session *s, const char *who, const char *info,
		 struct dlk_error *err)
{
	const char *version = field(info, "redis_version");
	const char *policy = field(info, "maxmemory_policy");

	if (version && old(version))
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s is Redis %.*s; locks need 6.2 or newer",
				who, (int)strcspn(version, "\r\n"), version);
	if (begins(field(info, "role"), "slave"))
		dlk_log(&s->base, 1,
			"%s is a replica and takes no locks; give the master",
			who);
	if (begins(policy, "volatile-") || begins(policy, "allkeys-"))
		dlk_log(&s->base, 1,
			"%s drops keys when its memory is full "
			"(maxmemory-policy %.*s), and locks with them; "
			"noeviction is right for locks",
			who, (int)strspn(policy, POLICY_BYTES), policy);
	if (begins(field(info, "aof_enabled"), "0"))
		dlk_log(&s->base, 2,
			"%s keeps no log of writes: a restart frees every lock",
			who);
	return 0;
}

static int heard(struct redis_session *s, struct redis_conn *c,
		 const struct redis_reply *reply, int *good,
		 struct dlk_error *err)
{
	*good = 1;
	if (reply->type == REDIS_STRING)
		return judge(s, c->net.who, reply->text, err);
	if (reply->type == REDIS_ERROR) {
		/* An answer all the same, of a server that has rules. */
		if (dlki_redis_fault_is(reply->text, "NOPERM"))
			return 0;
		return dlki_redis_fault(reply->text, reply->len, c->net.who,
					good, err);
	}
	*good = 0;
	return dlk_fail(err, DLOCK_EPROTO,
			"%s answered what we do not understand", c->net.who);
}

int dlki_redis_greet(struct redis_session *s, dlk_time deadline,
		     struct dlk_error *err)
{
	struct redis_conn *c = (struct redis_conn *)dlki_pool_take(
		s->pool, deadline, NULL, err);
	const struct redis_reply *reply;
	struct redis_out o;
	int good = 0;
	int rc;

	if (!c)
		return err->code;
	dlki_redis_out_init(&o);
	dlki_redis_out_words(&o, 1);
	dlki_redis_out_text(&o, "INFO");
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	if (rc == 0)
		rc = dlki_redis_hear(c, &reply, deadline, err);
	if (rc == 0)
		rc = heard(s, c, reply, &good, err);
	dlki_redis_done(s, c, good);
	return rc;
}
