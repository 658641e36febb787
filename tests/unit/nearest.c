/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/nearest.h"

#include <criterion/criterion.h>

Test(nearest, distances)
{
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} cases[] = {
		{ "ttl", "ttl", 0 },
		{ "ttl", "tll", 1 },  /* changed */
		{ "ttl", "tt", 1 },   /* left out */
		{ "ttl", "ttll", 1 }, /* added */
		{ "ttl", "tlt", 1 },  /* swapped */
		{ "redis", "redsi", 1 },
		{ "retry_min", "rtery_mim", 2 },
		{ "max_hold", "maxhold", 1 },
		{ "prefix", "perfx", 2 },
		{ "zk", "zookeeper", DLKI_FAR },
		{ "ttl", "abc", DLKI_FAR },
		{ "ttl", "", DLKI_FAR },
		{ "", "", 0 },
		{ "abcdefghijklmnopqrstuvwxyzabcde",
		  "abcdefghijklmnopqrstuvwxyzabcdf", 1 },
		{ "abcdefghijklmnopqrstuvwxyzabcdef",
		  "abcdefghijklmnopqrstuvwxyzabcdef", DLKI_FAR },
		{ "a", "abcdefghijklmnopqrstuvwxyzabcdef", DLKI_FAR },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(dlki_distance(cases[i].a, cases[i].b),
			     cases[i].distance, "%s %s", cases[i].a,
			     cases[i].b);
		cr_expect_eq(dlki_distance(cases[i].b, cases[i].a),
			     cases[i].distance, "%s %s", cases[i].b,
			     cases[i].a);
	}
}
