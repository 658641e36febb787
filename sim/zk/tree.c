/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/zk/jute.h"

/* ---- Paths --------------------------------------------------------------- */

static void parent_of(const char *path, char parent[ZK_PATH])
{
	size_t len = (size_t)(strrchr(path, '/') - path);

	snprintf(parent, ZK_PATH, "%.*s", len == 0 ? 1 : (int)len, path);
}

int zk_tree_is_child(const char *path, const char *parent)
{
	char of[ZK_PATH];

	if (strcmp(path, "/") == 0)
		return 0;
	parent_of(path, of);
	return strcmp(of, parent) == 0;
}

static int is_path(const char *path)
{
	size_t len = strlen(path);

	return *path == '/' && !strstr(path, "//") &&
	       (len == 1 || path[len - 1] != '/');
}

struct zk_node *zk_tree_find(const struct zk_tree *t, const char *path)
{
	struct zk_node *n = t->nodes;

	while (n && strcmp(n->path, path) != 0)
		n = n->next;
	return n;
}

static struct zk_node *find_parent(const struct zk_tree *t, const char *path)
{
	char parent[ZK_PATH];

	parent_of(path, parent);
	return zk_tree_find(t, parent);
}

/* ---- The tree ------------------------------------------------------------ */

static void set_data(struct zk_node *n, const char *data, int32_t len)
{
	free(n->data);
	n->data = len < 0 ? NULL : sim_copy(data, (size_t)len);
	n->len = len;
}

static struct zk_node *append(struct zk_tree *t, const char *path,
			      const char *data, int32_t len)
{
	struct zk_node *n = sim_alloc(sizeof(*n)), **at = &t->nodes;

	while (*at)
		at = &(*at)->next;
	*at = n;
	n->path = sim_copy(path, strlen(path));
	set_data(n, data, len);
	return n;
}

void zk_tree_begin(struct zk_tree *t, const char *config)
{
	static const char *const paths[] = { "/", "/zookeeper",
					     "/zookeeper/quota",
					     "/zookeeper/config" };

	*t = (struct zk_tree){ 0 };
	for (size_t i = 0; i < 4; i++)
		append(t, paths[i], i == 3 ? config : "",
		       i == 3 ? (int32_t)strlen(config) : 0);
	zk_tree_find(t, "/")->children = 1;
	zk_tree_find(t, "/zookeeper")->children = 2;
}

static void node_free(struct zk_node *n)
{
	free(n->path);
	free(n->data);
	free(n);
}

void zk_tree_copy(struct zk_tree *to, const struct zk_tree *from)
{
	struct zk_node **last = &to->nodes;

	for (const struct zk_node *i = from->nodes; i; i = i->next) {
		struct zk_node *n = sim_alloc(sizeof(*n));

		*n = *i;
		n->path = sim_copy(i->path, strlen(i->path));
		n->data = i->data ? sim_copy(i->data, (size_t)i->len) : NULL;
		*last = n;
		last = &n->next;
	}
	*last = NULL;
	to->zxid = from->zxid;
}

void zk_tree_free(struct zk_tree *t)
{
	while (t->nodes) {
		struct zk_node *n = t->nodes;

		t->nodes = n->next;
		node_free(n);
	}
}

/* ---- Transactions: preparing --------------------------------------------- */

static int is_create(enum zk_type type)
{
	return type == ZK_CREATE || type == ZK_CREATE2 ||
	       type == ZK_CREATE_CONTAINER;
}

static int32_t prepare_create(const struct zk_tree *t, struct zk_op *op)
{
	struct zk_node *parent;
	size_t len = strlen(op->path);

	if (!strchr(op->path, '/'))
		return ZK_E_ARGUMENTS;
	parent = find_parent(t, op->path);
	if (!parent)
		return ZK_E_NO_NODE;
	if (op->flags & ZK_SEQUENTIAL)
		snprintf(op->path + len, ZK_PATH - len, "%010d",
			 parent->creates);
	if (!is_path(op->path))
		return ZK_E_ARGUMENTS;
	if (zk_tree_find(t, op->path))
		return ZK_E_EXISTS;
	if (parent->owner != 0 && parent->owner != ZK_CONTAINER_OWNER)
		return ZK_E_EPHEMERAL_PARENT;
	return 0;
}

static int32_t prepare_delete(const struct zk_tree *t, const struct zk_op *op)
{
	const struct zk_node *n = zk_tree_find(t, op->path);

	if (!n)
		return ZK_E_NO_NODE;
	if (op->version != -1 && op->version != n->version)
		return ZK_E_VERSION;
	return n->children > 0 ? ZK_E_NOT_EMPTY : 0;
}

static int32_t prepare_new_part(const struct zk_tree *t,
				const struct zk_part *p, int is_there)
{
	const struct zk_node *parent = find_parent(t, p->path);

	if (!parent)
		return ZK_E_NO_NODE;
	if (is_there)
		return ZK_E_EXISTS;
	return parent->owner != 0 && parent->owner != ZK_CONTAINER_OWNER ?
		       ZK_E_EPHEMERAL_PARENT :
		       0;
}

/* The parts before have been carried out. */
static int32_t prepare_part(const struct zk_tree *t, const struct zk_op *op,
			    size_t i)
{
	const struct zk_part *p = &op->parts[i];
	const struct zk_node *n = zk_tree_find(t, p->path);
	int32_t children = n ? n->children : 0, version = n ? n->version : 0;
	int is_there = n != NULL;

	for (size_t before = 0; before < i; before++) {
		const struct zk_part *q = &op->parts[before];
		int made = (q->type == ZK_CREATE) - (q->type == ZK_DELETE);

		if (strcmp(q->path, p->path) == 0)
			is_there += made;
		if (zk_tree_is_child(q->path, p->path))
			children += made;
	}
	if (p->type == ZK_CREATE)
		return prepare_new_part(t, p, is_there);
	if (!is_there)
		return ZK_E_NO_NODE;
	if (p->version != -1 && p->version != version)
		return ZK_E_VERSION;
	return p->type == ZK_DELETE && children > 0 ? ZK_E_NOT_EMPTY : 0;
}

static int32_t prepare_multi(const struct zk_tree *t, struct zk_op *op)
{
	for (size_t i = 0; i < op->n_parts; i++) {
		int32_t err = prepare_part(t, op, i);

		op->failed = i;
		if (err != 0)
			return err;
	}
	return 0;
}

static int32_t prepare_set(const struct zk_tree *t, const struct zk_op *op)
{
	const struct zk_node *n = zk_tree_find(t, op->path);

	if (!n)
		return ZK_E_NO_NODE;
	return op->version != -1 && op->version != n->version ? ZK_E_VERSION :
								0;
}

void zk_tree_prepare(const struct zk_tree *t, struct zk_op *op)
{
	if (is_create(op->type))
		op->err = prepare_create(t, op);
	else if (op->type == ZK_DELETE || op->type == ZK_DELETE_CONTAINER)
		op->err = prepare_delete(t, op);
	else if (op->type == ZK_SET)
		op->err = prepare_set(t, op);
	else if (op->type == ZK_MULTI)
		op->err = prepare_multi(t, op);
}

/* ---- Transactions: carrying out ------------------------------------------ */

static void create(struct zk_tree *t, const char *path, const struct zk_op *op,
		   zk_on_event *on_event, void *arg)
{
	struct zk_node *parent = find_parent(t, path);
	struct zk_node *n = append(t, path, op->data, op->len);

	n->czxid = n->mzxid = n->pzxid = op->zxid;
	n->ctime = n->mtime = op->wall_ms;
	n->owner = op->flags & ZK_EPHEMERAL ? op->session :
		   op->flags & ZK_CONTAINER ? ZK_CONTAINER_OWNER :
					      0;
	parent->creates++;
	parent->children++;
	parent->pzxid = op->zxid;
	on_event(arg, ZK_CREATED, n->path);
	on_event(arg, ZK_CHILD, parent->path);
}

static void delete (struct zk_tree *t, struct zk_node *n, int64_t zxid,
		    zk_on_event *on_event, void *arg)
{
	struct zk_node *parent = find_parent(t, n->path), **at = &t->nodes;

	while (*at && *at != n)
		at = &(*at)->next;
	*at = n->next;
	parent->children--;
	parent->pzxid = zxid;
	on_event(arg, ZK_DELETED, n->path);
	on_event(arg, ZK_CHILD, parent->path);
	node_free(n);
}

static void end_session(struct zk_tree *t, const struct zk_op *op,
			zk_on_event *on_event, void *arg)
{
	struct zk_node *next;

	for (struct zk_node *n = t->nodes; n; n = next) {
		next = n->next;
		if (n->owner == op->session)
			delete (t, n, op->zxid, on_event, arg);
	}
}

static void set(struct zk_node *n, const struct zk_op *op,
		zk_on_event *on_event, void *arg)
{
	set_data(n, op->data, op->len);
	n->version++;
	n->mzxid = op->zxid;
	n->mtime = op->wall_ms;
	on_event(arg, ZK_CHANGED, n->path);
}

static void carry_out_multi(struct zk_tree *t, const struct zk_op *op,
			    zk_on_event *on_event, void *arg)
{
	for (size_t i = 0; i < op->n_parts; i++) {
		const struct zk_part *p = &op->parts[i];
		struct zk_node *n = zk_tree_find(t, p->path);

		if (p->type == ZK_DELETE)
			delete (t, n, op->zxid, on_event, arg);
		else if (p->type == ZK_SET)
			set(n, op, on_event, arg);
		else if (p->type == ZK_CREATE)
			create(t, p->path, op, on_event, arg);
	}
}

void zk_tree_apply(struct zk_tree *t, const struct zk_op *op,
		   zk_on_event *on_event, void *arg)
{
	struct zk_node *n = zk_tree_find(t, op->path);

	t->zxid = op->zxid;
	if (op->err != 0)
		return;
	if (is_create(op->type)) {
		create(t, op->path, op, on_event, arg);
	} else if (op->type == ZK_END_SESSION) {
		end_session(t, op, on_event, arg);
	} else if (op->type == ZK_DELETE || op->type == ZK_DELETE_CONTAINER) {
		delete (t, n, op->zxid, on_event, arg);
	} else if (op->type == ZK_MULTI) {
		carry_out_multi(t, op, on_event, arg);
	} else if (op->type == ZK_SET) {
		set(n, op, on_event, arg);
	}
}

/* ---- Reading ------------------------------------------------------------- */

/* The tree counts creations of children; clients see all changes. */
void zk_put_stat(struct sim_bytes *out, const struct zk_node *n)
{
	zk_put_long(out, n->czxid);
	zk_put_long(out, n->mzxid);
	zk_put_long(out, n->ctime);
	zk_put_long(out, n->mtime);
	zk_put_int(out, n->version);
	zk_put_int(out, 2 * n->creates - n->children);
	zk_put_int(out, 0);
	zk_put_long(out, n->owner == ZK_CONTAINER_OWNER ? 0 : n->owner);
	zk_put_int(out, n->len < 0 ? 0 : n->len);
	zk_put_int(out, n->children);
	zk_put_long(out, n->pzxid);
}

const struct zk_node *zk_tree_unused(const struct zk_tree *t, size_t n)
{
	for (const struct zk_node *i = t->nodes; i; i = i->next) {
		if (i->owner == ZK_CONTAINER_OWNER && i->creates > 0 &&
		    i->children == 0 && n-- == 0)
			return i;
	}
	return NULL;
}
