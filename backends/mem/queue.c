/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/queue.h"
#include "backends/mem/token.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t dlki_mem_mu = PTHREAD_MUTEX_INITIALIZER;

/* Under dlki_mem_mu. */
static void *queues;           /* tsearch tree of struct mem_queue */
static struct mem_queue *idle; /* the last queue to become empty, or NULL */

static int compare_queues(const void *a, const void *b)
{
	const struct mem_queue *x = a, *y = b;
	int by_key = strcmp(x->key, y->key);

	return by_key != 0 ? by_key : strcmp(x->space, y->space);
}

/* Forget the queues.  No memory is freed: the fork may have come in the middle
 * of a change. */
void dlki_mem_queues_forget(void)
{
	queues = NULL;
	idle = NULL;
}

/* Keep one empty queue: often the same name is wanted next. */
static void keep_idle(struct mem_queue *queue)
{
	if (idle) {
		dlki_mem_token_end(idle);
		tdelete(idle, &queues, compare_queues);
		free(idle);
	}
	idle = queue;
}

/* Remove the ticket, without a wake.  0: the queue is empty now. */
static int unlink_ticket(struct mem_ticket *t)
{
	struct mem_queue *queue = t->queue;

	TAILQ_REMOVE(&queue->tickets, t, entry);
	t->queue = NULL;
	t->granted = t->watched = 0;
	if (!TAILQ_EMPTY(&queue->tickets))
		return 1;
	keep_idle(queue);
	return 0;
}

struct mem_queue *dlki_mem_find(const struct mem_session *s,
				const struct dlk_request *request)
{
	const struct mem_queue wanted = { .key = request->key,
					  .space = s->space };
	struct mem_queue **node = tfind(&wanted, &queues, compare_queues);

	return node ? *node : NULL;
}

static struct mem_queue *queue_new(const struct mem_session *s,
				   const struct dlk_request *request)
{
	size_t key = strlen(request->key) + 1;
	size_t name = strlen(request->name) + 1;
	size_t space = strlen(s->space) + 1;
	struct mem_queue *queue = calloc(1,
					 sizeof(*queue) + key + name + space);

	if (!queue)
		return NULL;
	TAILQ_INIT(&queue->tickets);
	queue->ends = DLK_FOREVER;
	queue->limit = request->limit;
	queue->kind = request->kind;
	queue->key = memcpy(queue->texts, request->key, key);
	queue->name = memcpy(queue->texts + key, request->name, name);
	queue->space = memcpy(queue->texts + key + name, s->space, space);
	if (tsearch(queue, &queues, compare_queues))
		return queue;
	free(queue);
	return NULL;
}

/* A waiter looks for itself when a lease ends: see first_expiry(). */
void dlki_mem_expire(struct mem_queue *queue, dlk_time now)
{
	struct mem_ticket *next;

	if (queue->ends > now)
		return;
	queue->ends = DLK_FOREVER;
	for (struct mem_ticket *t = TAILQ_FIRST(&queue->tickets); t; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (!(t->granted || t->orphan))
			continue;
		if (t->until > now)
			dlki_mem_note_end(queue, t->until);
		else if (!unlink_ticket(t))
			return;
	}
}

/* Find the claim that is not in the way of the upgrade `t`, or NULL. */
static const struct mem_ticket *find_beside(const struct mem_queue *queue,
					    const struct mem_ticket *t)
{
	const char *owner = t->base.request.beside;
	const struct mem_ticket *q = owner ? TAILQ_FIRST(&queue->tickets) :
					     NULL;

	while (q && !(q->granted && strcmp(q->base.request.owner, owner) == 0))
		q = TAILQ_NEXT(q, entry);
	return q;
}

/* An upgrade comes before all that wait. */
static void append(struct mem_queue *queue, struct mem_ticket *t)
{
	struct mem_ticket *q, *last = NULL;

	t->queue = queue;
	if (!find_beside(queue, t)) {
		TAILQ_INSERT_TAIL(&queue->tickets, t, entry);
		return;
	}
	TAILQ_FOREACH(q, &queue->tickets, entry)
		if (q->granted)
			last = q;
	TAILQ_INSERT_AFTER(&queue->tickets, last, t, entry);
}

static void note_ttl(struct mem_queue *queue, const struct mem_session *s)
{
	if (s->leased && (queue->ttl_ms == 0 || s->base.ttl_ms < queue->ttl_ms))
		queue->ttl_ms = s->base.ttl_ms;
}

int dlki_mem_enqueue(struct mem_ticket *t, struct dlk_error *err)
{
	const struct mem_session *s = mem_session(t->base.session);
	const struct dlk_request *request = &t->base.request;
	struct mem_queue *queue = dlki_mem_find(s, request);

	if (!queue)
		queue = queue_new(s, request);
	if (!queue)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (queue == idle)
		idle = NULL;
	append(queue, t);
	if (TAILQ_FIRST(&queue->tickets) != t)
		dlki_mem_expire(queue, dlk_now());
	if (TAILQ_FIRST(&queue->tickets) == t) {
		queue->limit = request->limit;
		queue->is_set = 0;
		queue->ttl_ms = 0;
	}
	note_ttl(queue, s);
	if (queue->is_set || queue->limit == request->limit)
		return 0;
	unlink_ticket(t);
	return dlk_fail(err, DLOCK_EINVAL,
			"semaphore '%s' has %u permits, "
			"not %u",
			request->name, (unsigned int)queue->limit,
			(unsigned int)request->limit);
}

static struct dlk_queue_entry entry_of(const struct mem_ticket *t)
{
	return (struct dlk_queue_entry){
		.mode = t->base.request.mode,
		.limit = t->queue->limit,
		.permits = t->base.request.permits,
	};
}

/* The participants ahead of a waiter, as a single participant: they stand in
 * the way together. */
struct ahead {
	size_t n; /* 0 or 1 */
	struct dlk_queue_entry all;
};

static void add(struct ahead *a, const struct mem_ticket *t)
{
	uint32_t permits = a->n > 0 ? a->all.permits : 0;
	uint32_t more = t->base.request.permits;

	if (more == 0)
		more = 1;
	if (t->base.request.mode == DLK_EXCLUSIVE || a->n == 0)
		a->all.mode = t->base.request.mode;
	a->all.permits = more > UINT32_MAX - permits ? UINT32_MAX :
						       permits + more;
	a->n = 1;
}

static int in_the_way(const struct ahead *a, const struct mem_ticket *t)
{
	return dlk_grant(&a->all, a->n, entry_of(t)) >= 0;
}

/* No thread waits for an orphan. */
static void wake(const struct mem_ticket *t)
{
	if (!t->orphan)
		dlk_wake(t->base.session, t->base.id);
}

/* Once some participants ahead are in the way, all of them are. */
int dlki_mem_is_turn(const struct mem_ticket *t)
{
	const struct mem_ticket *beside = find_beside(t->queue, t);
	const struct mem_ticket *q;
	struct ahead ahead = { 0 };

	TAILQ_FOREACH(q, &t->queue->tickets, entry) {
		if (q == t)
			break;
		if (q == beside || dlki_mem_wants_too_many(q))
			continue;
		add(&ahead, q);
		if (in_the_way(&ahead, t))
			return 0;
	}
	return 1;
}

/* A waiter that wants more permits than there are is to hear of that. */
void dlki_mem_wake(struct mem_queue *queue)
{
	struct ahead ahead = { 0 };
	struct mem_ticket *t;

	TAILQ_FOREACH(t, &queue->tickets, entry) {
		if (dlki_mem_wants_too_many(t)) {
			wake(t);
			continue;
		}
		if (!t->granted) {
			if (in_the_way(&ahead, t) && !dlki_mem_is_turn(t))
				return;
			wake(t);
		}
		add(&ahead, t);
	}
}

void dlki_mem_dequeue(struct mem_ticket *t)
{
	struct mem_queue *queue = t->queue;

	if (unlink_ticket(t))
		dlki_mem_wake(queue);
}

struct listing {
	const struct mem_session *s;
	void (*each)(const struct dlock_lock_info *e, void *arg);
	void *arg;
};

static void report_queue(const void *node, VISIT visit, void *closure)
{
	static const char *const kinds[] = { "lock", "semaphore" };
	const struct mem_queue *queue = *(struct mem_queue *const *)node;
	const struct listing *l = closure;
	struct dlock_lock_info e = {
		.size = sizeof(e),
		.name = queue->name,
		.kind = kinds[queue->kind],
		.permits = queue->limit,
	};

	if ((visit == postorder || visit == leaf) &&
	    !TAILQ_EMPTY(&queue->tickets) &&
	    strcmp(queue->space, l->s->space) == 0)
		l->each(&e, l->arg);
}

void dlki_mem_each(const struct mem_session *s,
		   void (*each)(const struct dlock_lock_info *e, void *arg),
		   void *arg)
{
	struct listing l = { s, each, arg };

	twalk_r(queues, report_queue, &l);
}
