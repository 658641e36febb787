/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/zk_judge.h"

#include <string.h>

#include "sim/process/sched.h"

enum { OWNER = 32 };

/* ---- Nodes --------------------------------------------------------------- */

/* Return what a participant's name says of the side; NULL: another node. */
static const char *side_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (strspn(name, "0123456789abcdef") != OWNER || name[OWNER] != '-')
		return NULL;
	return name + OWNER + 1;
}

static int is_upgrade(const char *path)
{
	return strncmp(side_of(path), "x0*", 3) == 0;
}

static const struct zk_node *directory_of(const struct zk_tree *t,
					  const char *path)
{
	const struct zk_node *n = t->nodes;

	while (n && !zk_tree_is_child(path, n->path))
		n = n->next;
	return n;
}

static int is_participant(const struct zk_node *n, const struct zk_node *dir)
{
	return zk_tree_is_child(n->path, dir->path) && side_of(n->path);
}

/* The text behind the first. */
static const char *second_text(const char *data, int32_t len)
{
	size_t first = len > 0 ? strnlen(data, (size_t)len) : 0;

	return len > 0 && first < (size_t)len ? data + first + 1 : "";
}

/* ---- The set number of permits ------------------------------------------- */

static int is_marked(const char *data, int32_t len)
{
	return strstr(second_text(data, len), " set") != NULL;
}

/* Return a node that carries the number, other than `but`; or NULL. */
static const struct zk_node *carrier(const struct zk_tree *t,
				     const struct zk_node *dir,
				     const struct zk_node *but)
{
	const struct zk_node *n = t->nodes;

	for (; n; n = n->next) {
		if (n != but && is_participant(n, dir) &&
		    (n->czxid < dir->mzxid || is_marked(n->data, n->len)))
			break;
	}
	return n;
}

static int has_number(const struct zk_node *n)
{
	return *second_text(n->data, n->len) != '\0';
}

static void judge_set(const struct zk_tree *t, const char *path,
		      const struct zk_op *op)
{
	const struct zk_node *n = zk_tree_find(t, path), *dir;

	if (side_of(path)) {
		dir = directory_of(t, path);
		if (is_marked(op->data, op->len) &&
		    !is_marked(n->data, n->len) &&
		    !(has_number(dir) && carrier(t, dir, n)))
			sim_sched_fail("%s carries what no node carries", path);
	} else if (has_number(n) && !*second_text(op->data, op->len)) {
		n = carrier(t, n, NULL);
		if (n)
			sim_sched_fail("a number is forgotten that %s carries",
				       n->path);
	}
}

/* ---- Upgrades ------------------------------------------------------------ */

/* The nodes are in the order of the queue. */
static void judge_eviction(const struct zk_tree *t, const char *path,
			   int64_t session)
{
	const struct zk_node *dir = directory_of(t, path), *n = t->nodes;
	int ahead = 0, writers = 0, upgrades = 0;

	for (; strcmp(n->path, path) != 0; n = n->next) {
		if (!is_participant(n, dir))
			continue;
		ahead++;
		writers += *side_of(n->path) == 'x';
	}
	for (n = n->next; n; n = n->next)
		upgrades += is_participant(n, dir) && is_upgrade(n->path) &&
			    n->owner == session;
	if (is_upgrade(path) || (*side_of(path) == 'x' ? ahead : writers) == 0)
		sim_sched_fail("%s is deleted, and does not wait", path);
	if (upgrades == 0)
		sim_sched_fail("%s is deleted for no upgrade", path);
}

/* ---- All ----------------------------------------------------------------- */

void sim_zk_judge(const struct zk_tree *t, const struct zk_op *op)
{
	if (op->type == ZK_SET)
		judge_set(t, op->path, op);
	for (size_t i = 0; op->type == ZK_MULTI && i < op->n_parts; i++) {
		const struct zk_part *p = &op->parts[i];

		if (p->type == ZK_SET)
			judge_set(t, p->path, op);
		else if (p->type == ZK_DELETE && side_of(p->path))
			judge_eviction(t, p->path, op->session);
	}
}
