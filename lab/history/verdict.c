/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/check.h"
#include "lab/history/ops.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *lab_rule_name(enum lab_rule rule)
{
	static const char *const names[] = {
#define X(name) #name,
		LAB_RULES(X)
#undef X
	};

	return (unsigned)rule < LAB_NRULES ? names[rule] : "?";
}

void lab_violation(struct lab_verdict *v, enum lab_rule rule,
		   const char *format, ...)
{
	va_list ap;
	size_t len;
	char *words;

	v->violations++;
	v->broken[rule]++;
	if (v->nwords == LAB_WORDS)
		return;
	words = v->words[v->nwords++];
	len = (size_t)snprintf(words, sizeof(v->words[0]),
			       "%s: ", lab_rule_name(rule));
	va_start(ap, format);
	vsnprintf(words + len, sizeof(v->words[0]) - len, format, ap);
	va_end(ap);
}

void lab_verdict_print(const struct lab_verdict *v, char *out, size_t size)
{
	size_t len;

	len = (size_t)snprintf(
		out, size,
		"%" PRIu64 " acquires of %" PRIu64 " locks: %" PRIu64
		" granted, %" PRIu64 " busy, %" PRIu64 " unreachable, %" PRIu64
		" unanswered; %" PRIu64 " released, %" PRIu64
		" lost (latest %.3f ms), %" PRIu64
		" wiped (found after %.3f ms)"
		", %" PRIu64 " empty; writes: %" PRIu64 " accepted, %" PRIu64
		" refused\n%" PRIu64 " violations\n",
		v->acquires, v->locks, v->granted, v->busy, v->unreachable,
		v->unanswered, v->released, v->lost, (double)v->late_ns / 1e6,
		v->wiped,
		v->found_ns == LAB_UNTOLD ? 0.0 : (double)v->found_ns / 1e6,
		v->empty, v->accepted, v->refused, v->violations);
	for (size_t i = 0; i < v->nwords && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "  %s\n",
					v->words[i]);
}
