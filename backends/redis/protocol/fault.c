/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/fault.h"

#include <string.h>

/* QUOTE: keep, and quote the server, which names the command or key. */
enum { CLOSE, KEEP, QUOTE };

/* The first match counts: special codes stand before "ERR". */
static const struct fault {
	const char *code; /* the beginning of the text, or a part */
	int rc;
	int keep;
	const char *advice;
} faults[] = {
	{ "NOSCRIPT", DLOCK_EUNREACHABLE, KEEP,
	  "forgot our script while we asked" },
	{ "LOADING", DLOCK_EUNREACHABLE, KEEP,
	  "is loading its data and answers when it has" },
	{ "BUSY ", DLOCK_EUNREACHABLE, KEEP,
	  "is blocked by a long script; SCRIPT KILL ends it" },
	{ "Script killed by user", DLOCK_EUNREACHABLE, KEEP,
	  "was told by SCRIPT KILL to end our script" },
	{ "READONLY", DLOCK_EUNREACHABLE, CLOSE,
	  "is a replica and takes no locks; give the master in the URI" },
	{ "MASTERDOWN", DLOCK_EUNREACHABLE, CLOSE,
	  "is a replica without its master" },
	{ "CLUSTERDOWN", DLOCK_EUNREACHABLE, CLOSE,
	  "is part of a cluster that is down" },
	{ "TRYAGAIN", DLOCK_EUNREACHABLE, KEEP,
	  "is moving the lock's slot to another node" },
	{ "MOVED ", DLOCK_ENOTSUP, KEEP,
	  "is a cluster node that does not have this lock; clusters are not "
	  "supported" },
	{ "ASK ", DLOCK_ENOTSUP, KEEP,
	  "is a cluster node that is giving this lock away; clusters are not "
	  "supported" },
	{ "CROSSSLOT", DLOCK_ENOTSUP, KEEP,
	  "is a cluster node; clusters are not supported" },
	{ "OOM ", DLOCK_EUNREACHABLE, KEEP,
	  "has no memory left; raise maxmemory or free some" },
	{ "MISCONF", DLOCK_EUNREACHABLE, KEEP,
	  "refuses writes because it cannot save them; see its log" },
	{ "NOREPLICAS", DLOCK_EUNREACHABLE, KEEP,
	  "has fewer replicas than min-replicas-to-write" },
	{ "NOPERM", DLOCK_EDENIED, QUOTE,
	  "does not permit this user what locks need, for keys of this "
	  "prefix; see docs/redis.md for the ACL rule" },
	{ "user executing the script", DLOCK_EDENIED, QUOTE,
	  "does not permit this user what a script does, for keys of this "
	  "prefix; see docs/redis.md for the ACL rule" },
	{ "NOAUTH", DLOCK_EDENIED, CLOSE,
	  "wants a password; give one in the URI or in password_file" },
	{ "WRONGPASS", DLOCK_EDENIED, CLOSE,
	  "refused our user name and password" },
	{ "invalid password", DLOCK_EDENIED, CLOSE, "refused our password" },
	{ "without any password configured", DLOCK_EDENIED, CLOSE,
	  "has no password, but the URI gives one" },
	{ "no password is set", DLOCK_EDENIED, CLOSE,
	  "has no password, but the URI gives one" },
	{ "DENIED ", DLOCK_EDENIED, CLOSE,
	  "is in protected mode and refuses other hosts" },
	{ "max number of clients", DLOCK_EUNREACHABLE, CLOSE,
	  "has no connection left; raise maxclients" },
	{ "DB index is out of range", DLOCK_EINVAL, CLOSE,
	  "does not have that many databases" },
	{ "SELECT is not allowed in cluster mode", DLOCK_EINVAL, CLOSE,
	  "is a cluster node and has database 0 only" },
	{ "WRONGTYPE", DLOCK_EPROTO, KEEP,
	  "has a key of another type where the lock's key should be; remove "
	  "it, or use another prefix" },
	{ "DLOCKCLOCK", DLOCK_EPROTO, KEEP,
	  "has in the key \"clock\" of the prefix what dlock did not write; "
	  "find out what writes there, then delete that key: tokens go on from "
	  "the server's time" },
	{ "DLOCKEXHAUSTED", DLOCK_EEXHAUSTED, KEEP,
	  "has a lock whose tokens have reached 2^53" },
	{ "syntax error", DLOCK_ENOTSUP, KEEP,
	  "is older than Redis 6.2, which locks need" },
	{ "unknown command", DLOCK_ENOTSUP, KEEP,
	  "lacks a command that locks need: is it Redis 6.2 or newer, and not "
	  "a proxy?" },
	{ "Unknown Redis command", DLOCK_ENOTSUP, KEEP,
	  "lacks a command that a script needs: is one renamed, or is it older "
	  "than Redis 6.2?" },
	{ "EXECABORT", DLOCK_EPROTO, CLOSE, "aborted a transaction" },
	{ "UNKILLABLE", DLOCK_EUNREACHABLE, KEEP,
	  "is blocked by a script that cannot be stopped" },
};

int dlki_redis_fault_is(const char *text, const char *code)
{
	/* Older servers wrap the error of a command in a script. */
	if (strncmp(text, "ERR", 3) == 0)
		return strstr(text, code) != NULL;
	return strncmp(text, code, strlen(code)) == 0;
}

int dlki_redis_fault(const char *text, size_t len, const char *who, int *keep,
		     struct dlk_error *err)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct fault *f = &faults[i];

		if (!dlki_redis_fault_is(text, f->code))
			continue;
		*keep = f->keep != CLOSE;
		if (f->keep != QUOTE)
			return dlk_fail(err, f->rc, "%s %s", who, f->advice);
		return dlk_fail(err, f->rc, "%s %s: %.*s", who, f->advice,
				(int)(len < 120 ? len : 120), text);
	}
	*keep = 0;
	return dlk_fail(err, DLOCK_EPROTO, "%s: %.*s", who,
			(int)(len < 120 ? len : 120), text);
}
