/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/reply.h"
#include "backends/zk/call.h"
#include "core/base/error.h"

/* Errors of the API come from the server, except these: they may come from the
 * client library, or mean that the server has not taken the request. */
int dlki_zk_answered(int rc)
{
	switch (rc) {
	case ZOK:
		return 1;
	case ZSESSIONEXPIRED:
	case ZAUTHFAILED:
	case ZCLOSING:
	case ZSESSIONMOVED:
	case ZNOTREADONLY:
	case ZEPHEMERALONLOCALSESSION:
	case ZSESSIONCLOSEDREQUIRESASLAUTH:
	case ZTHROTTLEDOP:
		return 0;
	default:
		return rc < ZAPIERROR;
	}
}

/*
 * A server agrees on a write with the others before it answers.  But with the
 * option enableEagerACLCheck a server may check access lists alone, even when
 * cut off; but never for a transaction, such as our proof.
 */
int dlki_zk_agreed(const struct zk_call *call, int rc)
{
	if (!call->write || !dlki_zk_answered(rc))
		return 0;
	return (rc != ZNOAUTH && rc != ZINVALIDACL) || call->op.type != 0;
}

/* A refusal, or a missing node, proves as much: the servers agreed on the
 * answer. */
int dlki_zk_proven(const struct zk_call *proof, struct dlk_error *err)
{
	if (proof && proof->done && dlki_zk_agreed(proof, proof->rc))
		return 0;
	return dlki_zk_reason(proof, "proving the session", err);
}

int dlki_zk_reason_of(const struct zk_call *call, const char *what,
		      struct dlk_error *err)
{
	if (call->nomem)
		return dlki_nomem(err);
	switch (call->rc) {
	case ZOK:
		return 0;
	case ZNOAUTH:
	case ZINVALIDACL:
	case ZAUTHFAILED:
		return dlk_fail(err, DLOCK_EDENIED,
				"%s %.100s: the node's access list does not "
				"allow it: let the URI's user do all there "
				"(setAcl ... cdrwa), or give another user",
				what, call->path);
	case ZOPERATIONTIMEOUT:
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: no answer in time", what);
	case ZCONNECTIONLOSS:
	case ZSESSIONEXPIRED:
	case ZSESSIONMOVED:
	case ZINVALIDSTATE:
	case ZSYSTEMERROR:
	case ZRUNTIMEINCONSISTENCY: /* a lost answer: the session reconnects */
	case ZMARSHALLINGERROR:
	case ZNOTREADONLY:
	case ZTHROTTLEDOP:
		return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", what,
				zerror(call->rc));
	case ZCLOSING: /* the client left the connection */
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the connection was lost", what);
	case ZNODEEXISTS:
		return dlk_fail(err, DLOCK_EEXHAUSTED,
				"%s %s: sequence numbers are used up; it must "
				"be free for a minute",
				what, call->path);
	default:
		return dlk_fail(err, DLOCK_EPROTO, "%s %s: %s (%d)", what,
				call->path, zerror(call->rc), call->rc);
	}
}
