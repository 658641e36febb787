/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/roundtrip.h"

/* Clip the time: a pause of the machine is no distance. */
static int64_t within_bounds(int64_t ns)
{
	if (ns < 1)
		return 1;
	return ns < DLKI_ROUNDTRIP_MOST_NS ? ns : DLKI_ROUNDTRIP_MOST_NS;
}

void dlki_roundtrip_heard(struct dlki_roundtrip *r, int64_t ns)
{
	int64_t off;

	ns = within_bounds(ns);
	if (r->smoothed_ns == 0) {
		r->smoothed_ns = ns;
		r->variation_ns = ns / 2;
		return;
	}
	off = ns - r->smoothed_ns;
	r->smoothed_ns = within_bounds(r->smoothed_ns + off / 8);
	off = off < 0 ? -off : off;
	r->variation_ns += (off - r->variation_ns) / 4;
}

int64_t dlki_roundtrip_wait_ns(const struct dlki_roundtrip *r)
{
	int64_t one = r->smoothed_ns + 4 * r->variation_ns;
	int64_t ns = one + 4 * r->smoothed_ns;

	if (ns < DLKI_ROUNDTRIP_LEAST_NS)
		return DLKI_ROUNDTRIP_LEAST_NS;
	return ns < DLKI_ROUNDTRIP_MOST_NS ? ns : DLKI_ROUNDTRIP_MOST_NS;
}
