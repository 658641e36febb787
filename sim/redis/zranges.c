/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a sorted set, by rank or by score. */
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

struct range {
	int by_score, reversed, with_scores;
	int64_t first, last;      /* ranks */
	double min, max;          /* scores */
	int above_min, below_max; /* the scores themselves are left out */
	int limited;
	int64_t skip, count; /* of LIMIT */
};

/* ---- Arguments ----------------------------------------------------------- */

static int read_score(struct rm_text t, double *score, int *without)
{
	*without = t.len > 0 && *t.s == '(';
	if (*without)
		t = (struct rm_text){ t.s + 1, t.len - 1 };
	return rm_double(t, score);
}

static int read_scores(const struct rm_call *call, size_t min, size_t max,
		       struct range *r)
{
	if (read_score(call->argv[min], &r->min, &r->above_min) &&
	    read_score(call->argv[max], &r->max, &r->below_max))
		return 1;
	rm_reply_error(call->out, "ERR min or max is not a float");
	return 0;
}

/* Read argv[4] and later.  1, or the reply with the error. */
static int read_options(const struct rm_call *call, int is_zrange,
			struct range *r)
{
	for (size_t i = 4; i < call->argc; i++) {
		struct rm_text word = call->argv[i];

		if (rm_is(word, "WITHSCORES")) {
			r->with_scores = 1;
		} else if (rm_is(word, "LIMIT") && i + 2 < call->argc) {
			if (!rm_integer_arg(call, i + 1, &r->skip) ||
			    !rm_integer_arg(call, i + 2, &r->count))
				return 0;
			r->limited = 1;
			i += 2;
		} else if (is_zrange && rm_is(word, "BYSCORE")) {
			r->by_score = 1;
		} else if (is_zrange && rm_is(word, "REV")) {
			r->reversed = 1;
		} else {
			rm_reply_syntax(call);
			return 0;
		}
	}
	if (r->limited && !r->by_score) {
		rm_reply_error(call->out,
			       "ERR syntax error, LIMIT is only supported in "
			       "combination with either BYSCORE or BYLEX");
		return 0;
	}
	return 1;
}

/* ---- Members ------------------------------------------------------------- */

static int is_within(const struct range *r, const struct rm_member *m)
{
	int low = r->above_min ? m->score > r->min : m->score >= r->min;
	int high = r->below_max ? m->score < r->max : m->score <= r->max;

	return low && high;
}

/* Return the n-th member in the requested order. */
static const struct rm_member *nth(const struct rm_zset *z,
				   const struct range *r, size_t n)
{
	return z->ordered[r->reversed ? rm_zset_n(z) - 1 - n : n];
}

static void reply_member(const struct rm_call *call, const struct range *r,
			 const struct rm_member *m)
{
	rm_reply_text(call->out, m->text);
	if (r->with_scores)
		rm_reply_double(call->out, m->score);
}

/* Ranks may count from the end.  Returns how many members are in the range. */
static size_t cut_ranks(struct range *r, size_t n)
{
	int64_t all = (int64_t)n;

	r->first = r->first < 0 ? r->first + all : r->first;
	r->last = r->last < 0 ? r->last + all : r->last;
	r->first = r->first < 0 ? 0 : r->first;
	r->last = r->last >= all ? all - 1 : r->last;
	return r->last >= r->first ? (size_t)(r->last - r->first + 1) : 0;
}

/* The same of scores. */
static size_t cut_scores(struct range *r, const struct rm_zset *z)
{
	size_t n = rm_zset_n(z), found = 0, skipped = 0;

	r->first = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_within(r, nth(z, r, i)))
			continue;
		if (r->limited && (int64_t)skipped < r->skip) {
			skipped++;
			continue;
		}
		if (r->limited && r->count >= 0 && (int64_t)found >= r->count)
			break;
		if (found++ == 0)
			r->first = (int64_t)i;
	}
	return r->limited && r->skip < 0 ? 0 : found;
}

static void reply_range(const struct rm_call *call, struct range *r)
{
	static const struct rm_zset none;
	const struct rm_zset *z = &none;
	struct rm_value *v;
	size_t n;

	if (!rm_find_typed(call, call->argv[1], RM_ZSET, &v))
		return;
	if (v)
		z = &v->zset;
	n = r->by_score ? cut_scores(r, z) : cut_ranks(r, rm_zset_n(z));
	rm_reply_array(call->out, r->with_scores ? 2 * n : n);
	for (size_t i = 0; i < n; i++)
		reply_member(call, r, nth(z, r, (size_t)r->first + i));
}

/* ---- Commands ------------------------------------------------------------ */

void rm_zrange(const struct rm_call *call)
{
	struct range r = { 0 };

	if (!read_options(call, 1, &r))
		return;
	if (r.by_score) {
		if (read_scores(call, r.reversed ? 3 : 2, r.reversed ? 2 : 3,
				&r))
			reply_range(call, &r);
	} else if (rm_integer_arg(call, 2, &r.first) &&
		   rm_integer_arg(call, 3, &r.last)) {
		reply_range(call, &r);
	}
}

void rm_zrangebyscore(const struct rm_call *call)
{
	struct range r = { .by_score = 1 };

	if (read_options(call, 0, &r) && read_scores(call, 2, 3, &r))
		reply_range(call, &r);
}
