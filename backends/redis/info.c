/* SPDX-License-Identifier: Apache-2.0 */
/* What the server says of itself when a session opens. */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

/* Only such bytes of what a server says get into our log. */
#define POLICY_BYTES "abcdefghijklmnopqrstuvwxyz-"

static int begins_with(const char *value, const char *start)
{
	return value && strncmp(value, start, strlen(start)) == 0;
}

static int is_too_old(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	return major < 6 || (major == 6 && minor < 2);
}

static int judge_info(struct redis_session *s, const char *who,
		      const char *info, struct dlk_error *err)
{
	const char *version = dlki_redis_info_field(info, "redis_version");
	const char *policy = dlki_redis_info_field(info, "maxmemory_policy");

	if (version && is_too_old(version))
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s is Redis %.*s; locks need 6.2 or newer",
				who, (int)strcspn(version, "\r\n"), version);
	if (begins_with(dlki_redis_info_field(info, "role"), "slave"))
		dlk_log(&s->base, 1,
			"%s is a replica and takes no locks; give the master",
			who);
	if (begins_with(policy, "volatile-") || begins_with(policy, "allkeys-"))
		dlk_log(&s->base, 1,
			"%s drops keys when its memory is full "
			"(maxmemory-policy %.*s), and locks with them; "
			"noeviction is right for locks",
			who, (int)strspn(policy, POLICY_BYTES), policy);
	if (begins_with(dlki_redis_info_field(info, "aof_enabled"), "0"))
		dlk_log(&s->base, 1,
			"%s keeps no log of writes (appendonly no): when it "
			"restarts, every holder loses its lock",
			who);
	return 0;
}

static int judge_reply(struct redis_session *s, struct redis_conn *c,
		       const struct redis_reply *reply, int *good,
		       struct dlk_error *err)
{
	*good = 1;
	if (reply->type == RD_STRING)
		return judge_info(s, c->net.peer, reply->text, err);
	if (reply->type == RD_ERROR) {
		/* That is an answer, too: the server has rules. */
		if (dlki_redis_fault_is(reply->text, "NOPERM") ||
		    dlki_redis_fault_is(reply->text, "unknown command")) {
			dlk_log(&s->base, 1,
				"%s keeps INFO from us: a restart is not "
				"noticed until a renewal finds holds gone; "
				"permit INFO",
				c->net.peer);
			return 0;
		}
		return dlki_redis_fault(reply->text, reply->len, c->net.peer,
					good, err);
	}
	*good = 0;
	return dlki_redis_conn_nonsense(c, err);
}

int dlki_redis_check_server(struct redis_session *s, dlk_time deadline,
			    struct dlk_error *err)
{
	struct redis_conn *c = (struct redis_conn *)dlk_pool_take(
		s->pool, deadline, NULL, err);
	static const char *const info[] = { "INFO" };
	const struct redis_reply *reply;
	int good = 0;
	int rc;

	if (!c)
		return err->code;
	rc = dlki_redis_conn_send_argv(c, 1, info, deadline, err);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
	if (rc == 0)
		rc = judge_reply(s, c, reply, &good, err);
	dlki_redis_conn_put(s, c, good);
	return rc;
}
