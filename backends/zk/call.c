/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client library's synchronous calls can hang, so that only asynchronous
 * ones are used, each with a deadline of ours.
 */
#include "backends/zk/zk.h"

#include <stdlib.h>
#include <string.h>

static void unref(struct zk_call *call)
{
	if (--call->refs > 0)
		return;
	for (size_t i = 0; i < call->n; i++)
		free(call->names[i]);
	free(call->names);
	free(call->data);
	free(call);
}

static struct zk_call *begin(struct zk_hub *h, const char *path, int write)
{
	struct zk_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	memcpy(call->path, path, strnlen(path, sizeof(call->path) - 1));
	call->refs = 1;
	call->rc = ZOPERATIONTIMEOUT;
	call->write = write;
	call->sent = dlk_now();
	call->link = h->link;
	return call;
}

/* Send it, unless the session went while we waited for something else. */
#define SEND(call, request)                                                    \
	((call) ? sent(call, (call)->link ? (request) : ZCONNECTIONLOSS) : NULL)

/* It is on its way, or never will be. */
static struct zk_call *sent(struct zk_call *call, int rc)
{
	struct zk_link *l = call->link;

	if (rc != ZOK) {
		call->rc = rc;
		call->done = 1;
		return call;
	}
	call->refs++;
	call->next = l->calls;
	call->prev = &l->calls;
	if (call->next)
		call->next->prev = &call->next;
	l->calls = call;
	return call;
}

/*
 * Errors of the API are the server's, which has agreed on a write with the
 * others before it answers.  But for these: what it says by itself, also when
 * it is cut off.  It may look at access lists by itself, too (its option
 * enableEagerACLCheck), though never at those of a transaction, our proof.
 */
static int agreed(const struct zk_call *call, int rc)
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
	case ZNOAUTH:
	case ZINVALIDACL:
		return call->op.type != 0;
	default:
		return rc < ZAPIERROR;
	}
}

/* Returns what its flight, if it was the last of it, waits for; or NULL. */
static pthread_cond_t *finish(struct zk_hub *h, struct zk_call *call, int rc)
{
	pthread_cond_t *landed = NULL;
	int current = call->link == h->link; /* not of a session that is over */

	call->rc = rc;
	call->done = 1;
	if (call->write && current && agreed(call, rc) &&
	    call->sent > h->proved)
		h->proved = call->sent;
	*call->prev = call->next;
	if (call->next)
		call->next->prev = call->prev;
	call->link = NULL;
	if (call->flight && --call->flight->left == 0)
		landed = &call->flight->landed;
	call->flight = NULL;
	if (call->then && current)
		call->then(h, call);
	unref(call);
	return landed;
}

void dlki_zk_abandon(struct zk_hub *h, struct zk_call *call)
{
	pthread_cond_t *landed = finish(h, call, ZCONNECTIONLOSS);

	if (landed)
		pthread_cond_signal(landed);
}

/* A completion: `data` is the call, whose link lives as long as its handle. */
static void complete(int rc, const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;
	struct zk_hub *h = call->link->hub;
	pthread_cond_t *landed;

	pthread_mutex_lock(&h->mu);
	landed = finish(h, call, rc);
	pthread_mutex_unlock(&h->mu);
	if (landed)
		pthread_cond_signal(landed);
}

static void on_void(int rc, const void *data)
{
	complete(rc, data);
}

static void on_string(int rc, const char *value, const void *data)
{
	(void)value;
	complete(rc, data);
}

static void on_created(int rc, const char *path, const struct Stat *stat,
		       const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;
	const char *node = path ? strrchr(path, '/') : NULL;

	if (rc == ZOK &&
	    (!node || !stat || strlen(node + 1) >= sizeof(call->node)))
		rc = ZMARSHALLINGERROR;
	if (rc == ZOK) {
		memcpy(call->node, node + 1, strlen(node + 1) + 1);
		call->stat = *stat;
	}
	complete(rc, data);
}

/* An answer came that there is no memory for. */
static int no_memory(struct zk_call *call)
{
	call->nomem = 1;
	return ZSYSTEMERROR;
}

static void on_children(int rc, const struct String_vector *names,
			const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;

	if (rc == ZOK && names && names->count > 0) {
		call->names = calloc((size_t)names->count,
				     sizeof(*call->names));
		for (int i = 0; call->names && i < names->count; i++) {
			call->names[i] = strdup(names->data[i]);
			if (!call->names[i])
				break;
			call->n++;
		}
		if (call->n != (size_t)names->count)
			rc = no_memory(call);
	}
	complete(rc, data);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
		    const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;

	if (rc == ZOK && stat)
		call->stat = *stat;
	if (rc == ZOK && value && len > 0) {
		call->data = strndup(value, (size_t)len);
		if (!call->data)
			rc = no_memory(call);
	}
	complete(rc, data);
}

struct zk_call *dlki_zk_create(struct zk_hub *h, const char *path,
			       const char *data, int flags)
{
	struct zk_call *call = begin(h, path, 1);
	const struct ACL_vector *acl = h->auth ? &ZOO_CREATOR_ALL_ACL :
						 &ZOO_OPEN_ACL_UNSAFE;

	if (!call)
		return NULL;
	if (flags == ZOO_CONTAINER) /* its reply lacks what create2 wants */
		return SEND(call, zoo_acreate(call->link->zh, path, data,
					      (int)strlen(data), acl, flags,
					      on_string, call));
	return sent(call,
		    zoo_acreate2(call->link->zh, path, data, (int)strlen(data),
				 acl, flags, on_created, call));
}

struct zk_call *dlki_zk_delete(struct zk_hub *h, const char *path)
{
	struct zk_call *call = begin(h, path, 1);

	return SEND(call, zoo_adelete(call->link->zh, path, -1, on_void, call));
}

struct zk_call *dlki_zk_get(struct zk_hub *h, const char *path)
{
	struct zk_call *call = begin(h, path, 0);

	return SEND(call, zoo_aget(call->link->zh, path, 0, on_data, call));
}

struct zk_call *dlki_zk_children(struct zk_hub *h, const char *path)
{
	struct zk_call *call = begin(h, path, 0);

	return SEND(call, zoo_aget_children(call->link->zh, path, 0,
					    on_children, call));
}

struct zk_call *dlki_zk_sync(struct zk_hub *h, const char *path)
{
	struct zk_call *call = begin(h, path, 0);

	return SEND(call, zoo_async(call->link->zh, path, on_string, call));
}

/* A check within a transaction: unlike a write that fails, it leaves no line in
 * the server's log. */
struct zk_call *dlki_zk_proof(struct zk_hub *h)
{
	struct zk_call *call = begin(h, h->base, 1);

	if (!call)
		return NULL;
	zoo_check_op_init(&call->op, call->path, -1);
	return SEND(call, zoo_amulti(call->link->zh, 1, &call->op,
				     &call->result, on_void, call));
}

/* It need not have been allowed, or found what it looked for: it was agreed
 * on. */
int dlki_zk_proven(const struct zk_call *proof, struct dlk_error *err)
{
	if (proof && proof->done && agreed(proof, proof->rc))
		return 0;
	return dlki_zk_reason(proof, "proving the session", err);
}

int dlki_zk_watch_path(struct zk_hub *h, const char *path,
		       void (*then)(struct zk_hub *h, struct zk_call *call))
{
	struct zk_call *call = begin(h, path, 0);
	int rc;

	if (!call)
		return DLOCK_ENOMEM;
	call->then = then;
	SEND(call, zoo_awget(call->link->zh, path, dlki_zk_on_watch, h, on_data,
			     call));
	rc = call->done ? DLOCK_EUNREACHABLE : 0;
	unref(call);
	return rc;
}

/* With `local` it does not wait, and the server is not told. */
void dlki_zk_forget_path(struct zk_hub *h, const char *path)
{
	if (h->link)
		zoo_remove_all_watches(h->link->zh, path, ZWATCHTYPE_DATA, 1);
}

/* The connection may go before the server has heard of it. */
static void removed(struct zk_hub *h, struct zk_call *call)
{
	if (call->rc != ZOK && !dlki_zk_watched(h, call->path))
		dlki_zk_forget_path(h, call->path);
}

void dlki_zk_unwatch_path(struct zk_hub *h, const char *path)
{
	void_completion_t *on_void_ptr;
	struct zk_call *call;

	if (!h->link || h->link->state != ZK_UP)
		return;
	call = begin(h, path, 0);
	if (!call)
		return;
	/* Declared as a pointer to a function pointer, taken as the latter. */
	on_void_ptr = (void_completion_t *)(uintptr_t)on_void;
	call->then = removed;
	sent(call,
	     zoo_aremove_all_watches(call->link->zh, call->path,
				     ZWATCHTYPE_DATA, 0, on_void_ptr, call));
	unref(call);
}

void dlki_zk_drop(struct zk_call *const calls[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (calls[i])
			unref(calls[i]);
	}
}

int dlki_zk_reason_of(const struct zk_call *call, const char *what,
		      struct dlk_error *err)
{
	if (call->nomem)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	switch (call->rc) {
	case ZOK:
		return 0;
	case ZNOAUTH:
	case ZINVALIDACL:
	case ZAUTHFAILED:
		return dlk_fail(err, DLOCK_EDENIED,
				"%s %s: the server's access list does not "
				"allow it",
				what, call->path);
	case ZOPERATIONTIMEOUT:
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: no answer in time", what);
	case ZCONNECTIONLOSS:
	case ZSESSIONEXPIRED:
	case ZSESSIONMOVED:
	case ZINVALIDSTATE:
	case ZCLOSING:
	case ZSYSTEMERROR:
	case ZRUNTIMEINCONSISTENCY: /* an answer was lost: it connects again */
	case ZMARSHALLINGERROR:
	case ZNOTREADONLY:
	case ZTHROTTLEDOP:
		return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", what,
				zerror(call->rc));
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
