/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/rehearsal.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

#include "backends/mem/queue.h"

#define SLICE_NS (20 * DLK_MS) /* a cancel brings the deadline forward */

/* Read "N", "N-M" or "N-".  Digits only, so that strtoull() takes no sign. */
static int read_range(struct mem_rehearsal *r, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	r->fail_from = r->fail_to = strtoull(text, &end, 10);
	if (end[0] == '-' && end[1] == '\0') {
		r->fail_to = UINT64_MAX;
		end++;
	} else if (end[0] == '-' && end[1] >= '0' && end[1] <= '9') {
		r->fail_to = strtoull(end + 1, &end, 10);
	}
	return *end == '\0' && r->fail_from > 0 && r->fail_to >= r->fail_from;
}

int dlki_mem_rehearsal_begin(struct mem_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;
	struct mem_rehearsal *r = &s->rehearsal;

	r->delay_ms = dlk_param_int(uri, "delay");
	r->refuse_percent = (uint32_t)dlk_param_int(uri, "refuse");
	/* Neighbouring seeds begin far apart, and no state is 0. */
	r->dice = ((uint64_t)dlk_param_int(uri, "seed") + 1) *
			  UINT64_C(0x9e3779b97f4a7c15) |
		  1;
	if (dlk_param_given(uri, "fail") &&
	    !read_range(r, dlk_param_text(uri, "fail")))
		return dlk_fail(err, DLOCK_EINVAL,
				"parameter fail: '%s' is not a number of a "
				"request from 1, such as 3, 3-5 or 3-",
				dlk_param_text(uri, "fail"));
	return 0;
}

static int delay_call(const struct mem_rehearsal *r, dlk_time deadline,
		      struct dlk_error *err)
{
	dlk_time now = dlk_now(), answer = now + r->delay_ms * DLK_MS;

	for (; now < answer; now = dlk_now()) {
		dlk_time end = dlk_deadline(deadline);
		dlk_time next = answer < end ? answer : end;

		if (now >= end)
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"mem: no answer in time (rehearsed)");
		if (next > now + SLICE_NS)
			next = now + SLICE_NS;
		poll(NULL, 0, (int)((next - now + DLK_MS - 1) / DLK_MS));
	}
	return 0;
}

/* Return the number of this request, and whether the dice refuse it. */
static uint64_t count_request(struct mem_rehearsal *r, int *refused)
{
	uint64_t number;

	pthread_mutex_lock(&dlki_mem_mu);
	number = ++r->asked;
	r->dice ^= r->dice << 13;
	r->dice ^= r->dice >> 7;
	r->dice ^= r->dice << 17;
	*refused = r->dice % 100 < r->refuse_percent;
	pthread_mutex_unlock(&dlki_mem_mu);
	return number;
}

int dlki_mem_rehearse(struct mem_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	struct mem_rehearsal *r = &s->rehearsal;
	int rc = r->delay_ms > 0 ? delay_call(r, deadline, err) : 0;
	uint64_t number;
	int refused;

	if (rc != 0 || (r->refuse_percent == 0 && r->fail_from == 0))
		return rc;
	number = count_request(r, &refused);
	if (r->fail_from > 0 && number >= r->fail_from && number <= r->fail_to)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"mem: no answer to request %" PRIu64
				" (rehearsed)",
				number);
	if (refused)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"mem: no answer (rehearsed)");
	return 0;
}
