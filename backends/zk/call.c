/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/session.h"

#include <stdlib.h>
#include <string.h>

static void call_unref(struct zk_call *call)
{
	if (--call->refs > 0)
		return;
	for (size_t i = 0; i < call->n; i++)
		free(call->names[i]);
	free(call->names);
	free(call->data);
	free(call->results);
	free(call->room);
	free(call);
}

static struct zk_call *call_begin(struct zk_session *s, const char *path,
				  int write)
{
	struct zk_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	memcpy(call->path, path, strnlen(path, sizeof(call->path) - 1));
	call->refs = 1;
	call->rc = ZOPERATIONTIMEOUT;
	call->write = write;
	call->sent = dlk_now();
	call->conn = s->conn;
	return call;
}

/* Send a request, unless the connection was lost during another wait: the
 * library would keep the request, and send it over the next connection. */
#define SEND(call, request)                                                    \
	((call) ? call_sent(call,                                              \
			    can_send(call) ? (request) : ZCONNECTIONLOSS) :    \
		  NULL)

static int can_send(const struct zk_call *call)
{
	return call->conn && call->conn->state == ZK_UP;
}

/* The library has taken the request, or refused it with `rc`. */
static struct zk_call *call_sent(struct zk_call *call, int rc)
{
	struct zk_conn *c = call->conn;

	if (rc != ZOK) {
		call->rc = rc;
		call->done = 1;
		return call;
	}
	if (LIST_EMPTY(&c->calls))
		c->silent_since = call->sent;
	call->refs++;
	LIST_INSERT_HEAD(&c->calls, call, in_calls);
	call->sending = 1;
	dlki_zk_drive_refresh(c->session);
	call->sending = 0;
	return call;
}

/* An attempt is a write, which takes longer than a read: the servers agree on a
 * write and log it.  The first write is the proof at opening. */
static void tell_core(struct zk_session *s, const struct zk_call *call)
{
	if (s->core && call->write)
		dlk_answered(s->core, call->sent, call->conn->silent_since);
}

static void call_finish(struct zk_session *s, struct zk_call *call, int rc)
{
	int current = call->conn == s->conn; /* no server left before */
	int deliver = current || (call->conn->id.generation == s->generation &&
				  !dlki_zk_answered(rc));

	call->rc = rc;
	call->done = 1;
	call->conn->silent_since = dlk_now();
	if (current && dlki_zk_answered(rc)) {
		int agreed = dlki_zk_agreed(call, rc);
		int passed = agreed || (call->sync && rc == ZOK);

		dlki_zk_lease_answered(s, call, passed, agreed);
		tell_core(s, call);
	}
	LIST_REMOVE(call, in_calls);
	call->conn = NULL;
	if (call->wait && --call->wait->left == 0)
		dlki_zk_drive_done(s, call->wait);
	call->wait = NULL;
	if (call->then && deliver && !call->sending)
		call->then(s, call);
	call_unref(call);
}

void dlki_zk_abandon(struct zk_session *s, struct zk_call *call)
{
	call_finish(s, call, ZCONNECTIONLOSS);
}

/* A completion.  `data` is the call; the call's connection lives as long as the
 * handle.  The session is locked, unless the handle is being closed. */
static void call_complete(int rc, const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;
	struct zk_session *s = call->conn->session;
	int closing = call->conn->closing;

	if (closing)
		pthread_mutex_lock(&s->mu);
	call_finish(s, call, rc);
	if (closing)
		pthread_mutex_unlock(&s->mu);
}

static void on_void(int rc, const void *data)
{
	call_complete(rc, data);
}

static void on_string(int rc, const char *value, const void *data)
{
	(void)value;
	call_complete(rc, data);
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
	call_complete(rc, data);
}

/* There is no memory for the answer. */
static int out_of_memory(struct zk_call *call)
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
			rc = out_of_memory(call);
	}
	call_complete(rc, data);
}

static void on_children_stat(int rc, const struct String_vector *names,
			     const struct Stat *stat, const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;

	if (rc == ZOK && stat)
		call->stat = *stat;
	on_children(rc, names, data);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
		    const void *data)
{
	struct zk_call *call = (void *)(uintptr_t)data;

	if (rc == ZOK && stat)
		call->stat = *stat;
	if (rc == ZOK && value && len > 0) {
		call->data = malloc((size_t)len + 1);
		if (call->data) {
			memcpy(call->data, value, (size_t)len);
			call->data[len] = '\0';
			call->data_len = (size_t)len;
		} else {
			rc = out_of_memory(call);
		}
	}
	call_complete(rc, data);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
	(void)stat;
	call_complete(rc, data);
}

struct zk_call *dlki_zk_create(struct zk_session *s, const char *path,
			       const char *data, size_t len, int flags)
{
	struct zk_call *call = call_begin(s, path, 1);
	int queued = flags == ZOO_EPHEMERAL_SEQUENTIAL;
	struct ACL acls[] = {
		{ queued ? ZOO_PERM_ALL & ~ZOO_PERM_ADMIN : ZOO_PERM_ALL,
		  s->config.auth ? ZOO_AUTH_IDS : ZOO_ANYONE_ID_UNSAFE },
		{ ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE },
	};
	/* Others may read a node left in place. */
	const struct ACL_vector acl = { s->config.auth && flags == 0 ? 2 : 1,
					acls };

	if (!call)
		return NULL;
	if (queued)
		return SEND(call,
			    zoo_acreate2(call->conn->zh, path, data, (int)len,
					 &acl, flags, on_created, call));
	/* create2 does not parse its reply about a container */
	return SEND(call, zoo_acreate(call->conn->zh, path, data, (int)len,
				      &acl, flags, on_string, call));
}

struct zk_call *dlki_zk_set(struct zk_session *s, const char *path,
			    const char *data, size_t len, int32_t version)
{
	struct zk_call *call = call_begin(s, path, 1);

	return SEND(call, zoo_aset(call->conn->zh, path, data, (int)len,
				   version, on_stat, call));
}

struct zk_call *dlki_zk_delete(struct zk_session *s, const char *path)
{
	struct zk_call *call = call_begin(s, path, 1);

	return SEND(call, zoo_adelete(call->conn->zh, path, -1, on_void, call));
}

struct zk_call *dlki_zk_get(struct zk_session *s, const char *path)
{
	return dlki_zk_get_watched(s, path, NULL, NULL);
}

struct zk_call *dlki_zk_children(struct zk_session *s, const char *path)
{
	return dlki_zk_children_watched(s, path, NULL, NULL);
}

struct zk_call *dlki_zk_children_watched(struct zk_session *s, const char *path,
					 watcher_fn on_event, zk_then *then)
{
	struct zk_call *call = call_begin(s, path, 0);

	if (call)
		call->then = then;
	return SEND(call, zoo_awget_children2(call->conn->zh, path, on_event, s,
					      on_children_stat, call));
}

struct zk_call *dlki_zk_sync(struct zk_session *s, const char *path)
{
	struct zk_call *call = call_begin(s, path, 0);

	if (call)
		call->sync = 1;
	return SEND(call, zoo_async(call->conn->zh, path, on_string, call));
}

/* A check within a transaction: unlike a failing write, a check leaves no line
 * in the server's log. */
struct zk_call *dlki_zk_proof(struct zk_session *s)
{
	struct zk_call *call = call_begin(s, s->config.base, 1);

	if (!call)
		return NULL;
	zoo_check_op_init(&call->op, call->path, -1);
	return SEND(call, zoo_amulti(call->conn->zh, 1, &call->op,
				     &call->result, on_void, call));
}

struct zk_call *dlki_zk_multi(struct zk_session *s, const char *path,
			      const zoo_op_t ops[], size_t n)
{
	struct zk_call *call = call_begin(s, path, 1);

	if (!call)
		return NULL;
	call->op = ops[0];
	call->results = calloc(n, sizeof(*call->results));
	if (!call->results) {
		call_unref(call);
		return NULL;
	}
	return SEND(call, zoo_amulti(call->conn->zh, (int)n, ops, call->results,
				     on_void, call));
}

struct zk_call *dlki_zk_get_watched(struct zk_session *s, const char *path,
				    watcher_fn on_event, zk_then *then)
{
	struct zk_call *call = call_begin(s, path, 0);

	if (call)
		call->then = then;
	return SEND(call, zoo_awget(call->conn->zh, path, on_event, s, on_data,
				    call));
}

struct zk_call *dlki_zk_exists_watched(struct zk_session *s, const char *path,
				       watcher_fn on_event, zk_then *then)
{
	struct zk_call *call = call_begin(s, path, 0);

	if (call)
		call->then = then;
	return SEND(call, zoo_awexists(call->conn->zh, path, on_event, s,
				       on_stat, call));
}

int dlki_zk_watch_path(struct zk_session *s, const char *path,
		       watcher_fn on_event, zk_then *then)
{
	struct zk_call *call = dlki_zk_get_watched(s, path, on_event, then);
	int rc;

	if (!call)
		return DLOCK_ENOMEM;
	rc = call->done ? DLOCK_EUNREACHABLE : 0;
	call_unref(call);
	return rc;
}

void dlki_zk_unwatch_path(struct zk_session *s, const char *path)
{
	void_completion_t *on_void_ptr;
	struct zk_call *call;

	if (!dlki_zk_is_up(s))
		return;
	call = call_begin(s, path, 0);
	if (!call)
		return;
	/* The library declares a pointer to a function pointer, but uses a
	 * function pointer. */
	on_void_ptr = (void_completion_t *)(uintptr_t)on_void;
	call_sent(call, zoo_aremove_all_watches(call->conn->zh, call->path,
						ZWATCHTYPE_DATA, 0, on_void_ptr,
						call));
	call_unref(call);
}

void dlki_zk_drop(struct zk_call *const calls[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (calls[i])
			call_unref(calls[i]);
	}
}
