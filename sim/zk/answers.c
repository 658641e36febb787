/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/answers.h"

#include <string.h>

#include "sim/zk/frames.h"
#include "sim/zk/watches.h"

/* ---- Requests ------------------------------------------------------------ */

/* Access lists are read and forgotten. */
static void skip_acl(struct zk_in *in)
{
	char text[ZK_PATH];
	int32_t n = zk_read_int(in);

	while (n-- > 0 && !in->is_bad) {
		(void)zk_read_int(in);
		(void)zk_read_text(in, text, sizeof(text));
		(void)zk_read_text(in, text, sizeof(text));
	}
}

static int is_known(enum zk_type type)
{
	return zk_is_write(type) || type == ZK_EXISTS || type == ZK_GET ||
	       type == ZK_CHILDREN || type == ZK_CHILDREN2 || type == ZK_SYNC ||
	       type == ZK_REMOVE_WATCHES || type == ZK_PING || type == ZK_AUTH;
}

static enum zk_type read_part_head(struct zk_in *in, int *is_end)
{
	enum zk_type type = (enum zk_type)zk_read_int(in);

	*is_end = zk_read_bool(in);
	(void)zk_read_int(in);
	return type;
}

static void read_part(struct zk_in *in, struct zk_op *op, struct zk_part *p)
{
	(void)zk_read_text(in, p->path, ZK_PATH);
	if (p->type == ZK_SET || p->type == ZK_CREATE)
		op->len = zk_read_text(in, op->data, ZK_DATA);
	if (p->type == ZK_CREATE) {
		skip_acl(in);
		op->flags = zk_read_int(in);
	} else {
		p->version = zk_read_int(in);
	}
}

/* Checks, deletes, and a set or the creation of a node without a number; of
 * other transactions the type becomes 0. */
static void read_multi(struct zk_in *in, struct zk_op *op)
{
	int is_end, data = 0;
	enum zk_type type = read_part_head(in, &is_end);

	while (!is_end && !in->is_bad) {
		struct zk_part *p = &op->parts[op->n_parts];

		data += type == ZK_SET || type == ZK_CREATE;
		if (op->n_parts == ZK_PARTS || data > 1 ||
		    (type != ZK_CHECK && type != ZK_DELETE && type != ZK_SET &&
		     type != ZK_CREATE)) {
			op->type = (enum zk_type)0;
			return;
		}
		op->n_parts++;
		p->type = type;
		read_part(in, op, p);
		type = read_part_head(in, &is_end);
	}
	if (op->flags & ~ZK_EPHEMERAL)
		op->type = (enum zk_type)0;
}

static void read_body(struct zk_in *in, struct zk_op *op)
{
	switch (op->type) {
	case ZK_CREATE:
	case ZK_CREATE2:
	case ZK_CREATE_CONTAINER:
		(void)zk_read_text(in, op->path, ZK_PATH);
		op->len = zk_read_text(in, op->data, ZK_DATA);
		skip_acl(in);
		op->flags = zk_read_int(in);
		break;
	case ZK_DELETE:
		(void)zk_read_text(in, op->path, ZK_PATH);
		op->version = zk_read_int(in);
		break;
	case ZK_SET:
		(void)zk_read_text(in, op->path, ZK_PATH);
		op->len = zk_read_text(in, op->data, ZK_DATA);
		op->version = zk_read_int(in);
		break;
	case ZK_EXISTS:
	case ZK_GET:
	case ZK_CHILDREN:
	case ZK_CHILDREN2:
		(void)zk_read_text(in, op->path, ZK_PATH);
		op->watch = zk_read_bool(in);
		break;
	case ZK_SYNC:
		(void)zk_read_text(in, op->path, ZK_PATH);
		break;
	case ZK_MULTI:
		read_multi(in, op);
		break;
	case ZK_REMOVE_WATCHES:
		(void)zk_read_text(in, op->path, ZK_PATH);
		op->watch = zk_read_int(in);
		break;
	default: /* no body, or it is ignored */
		break;
	}
}

int zk_request_read(struct zk_in *in, struct zk_op *op)
{
	memset(op, 0, sizeof(*op));
	op->xid = zk_read_int(in);
	op->type = (enum zk_type)zk_read_int(in);
	read_body(in, op);
	/* ZooKeeper's "create" makes containers, too. */
	if (op->type == ZK_CREATE_CONTAINER)
		op->flags = ZK_CONTAINER;
	return !in->is_bad && is_known(op->type);
}

int zk_is_write(enum zk_type type)
{
	return type == ZK_CREATE || type == ZK_CREATE2 ||
	       type == ZK_CREATE_CONTAINER || type == ZK_DELETE ||
	       type == ZK_SET || type == ZK_MULTI || type == ZK_END_SESSION;
}

/* ---- Answers ------------------------------------------------------------- */

static void reply_error(struct sim_zk_conn *c, const struct zk_op *op,
			int32_t err)
{
	size_t frame = zk_frame_begin(&c->out, op->xid, c->server->tree.zxid,
				      err);

	zk_frame_end(&c->out, frame);
}

static void put_children(struct sim_zk_conn *c, const struct zk_node *of)
{
	zk_put_int(&c->out, of->children);
	for (const struct zk_node *n = c->server->tree.nodes; n; n = n->next) {
		const char *name = strrchr(n->path, '/') + 1;

		if (zk_tree_is_child(n->path, of->path))
			zk_put_text(&c->out, name, (int32_t)strlen(name));
	}
}

/* A watch of a missing node stays only if it was asked whether it exists. */
static void answer_read(struct sim_zk_conn *c, const struct zk_op *op)
{
	const struct zk_node *n = zk_tree_find(&c->server->tree, op->path);
	int of_children = op->type == ZK_CHILDREN || op->type == ZK_CHILDREN2;
	size_t frame;

	if (op->watch && (n || op->type == ZK_EXISTS))
		zk_watches_add(c, op->path, of_children);
	if (!n) {
		reply_error(c, op, ZK_E_NO_NODE);
		return;
	}
	frame = zk_frame_begin(&c->out, op->xid, c->server->tree.zxid, 0);
	if (of_children)
		put_children(c, n);
	else if (op->type == ZK_GET)
		zk_put_text(&c->out, n->data ? n->data : "", n->len);
	if (op->type != ZK_CHILDREN)
		zk_put_stat(&c->out, n);
	zk_frame_end(&c->out, frame);
}

static void put_result(struct sim_bytes *out, int32_t type, int32_t err)
{
	zk_put_int(out, type);
	zk_put_bool(out, 0);
	zk_put_int(out, err);
}

static void answer_multi(struct sim_zk_conn *c, const struct zk_op *op)
{
	size_t frame = zk_frame_begin(&c->out, op->xid, op->zxid, 0);

	for (size_t i = 0; i < op->n_parts; i++) {
		int32_t err = i < op->failed  ? 0 :
			      i == op->failed ? op->err :
						ZK_E_OTHER_PART;

		if (op->err == 0) {
			put_result(&c->out, (int32_t)op->parts[i].type, 0);
			if (op->parts[i].type == ZK_SET)
				zk_put_stat(&c->out,
					    zk_tree_find(&c->server->tree,
							 op->parts[i].path));
			if (op->parts[i].type == ZK_CREATE)
				zk_put_text(&c->out, op->parts[i].path,
					    (int32_t)strlen(op->parts[i].path));
		} else {
			put_result(&c->out, -1, err);
			zk_put_int(&c->out, err);
		}
	}
	zk_put_int(&c->out, -1);
	zk_put_bool(&c->out, 1);
	zk_put_int(&c->out, -1);
	zk_frame_end(&c->out, frame);
}

static void answer_write(struct sim_zk_conn *c, const struct zk_op *op)
{
	const struct zk_node *n = zk_tree_find(&c->server->tree, op->path);
	size_t frame;

	if (op->type == ZK_MULTI) {
		answer_multi(c, op);
		return;
	}
	frame = zk_frame_begin(&c->out, op->xid, op->zxid, op->err);
	if (op->err == 0 && (op->type == ZK_CREATE || op->type == ZK_CREATE2 ||
			     op->type == ZK_CREATE_CONTAINER))
		zk_put_text(&c->out, op->path, (int32_t)strlen(op->path));
	if (op->err == 0 && n && op->type != ZK_CREATE)
		zk_put_stat(&c->out, n);
	zk_frame_end(&c->out, frame);
}

void zk_answer(struct sim_zk_conn *c, const struct zk_op *op)
{
	size_t frame;

	switch (op->type) {
	case ZK_EXISTS:
	case ZK_GET:
	case ZK_CHILDREN:
	case ZK_CHILDREN2:
		answer_read(c, op);
		break;
	case ZK_SYNC:
		frame = zk_frame_begin(&c->out, op->xid, c->server->tree.zxid,
				       0);
		zk_put_text(&c->out, op->path, (int32_t)strlen(op->path));
		zk_frame_end(&c->out, frame);
		break;
	case ZK_REMOVE_WATCHES:
		reply_error(c, op, zk_watches_remove(c, op->path, op->watch));
		break;
	case ZK_PING:
		reply_error(c, op, 0);
		break;
	case ZK_AUTH:
		frame = zk_frame_begin(&c->out, op->xid, 0, 0);
		zk_frame_end(&c->out, frame);
		break;
	default:
		answer_write(c, op);
	}
}
